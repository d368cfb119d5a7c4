"""Timeouts of the kernel's on sockets (SO_RCVTIMEO) in programs that are sampled."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from profkit.model.notes import Note, NoteCode
from profkit.store.spool import read_session, session_folders
from tests.integration.harness import await_samplers_end, listed, run_program

pytestmark = [pytest.mark.sampler, pytest.mark.timeout(120)]

HEAD = """
import json, socket, struct, sys, threading, time
from profkit import profile

ours, theirs = socket.socketpair()

def set_timeout():
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 0, 300_000))

def receive():
    "Wait for what never comes; whether the kernel's timeout of 0.3 s fired, rather than that of a thread."
    too_late = threading.Timer(10.0, theirs.send, (b"x",))
    too_late.start()
    try:
        ours.recv(1)
    except BlockingIOError:
        too_late.cancel()
        return True
    return False
"""
AT_THE_START = """
set_timeout()
print(json.dumps(profile({options})(receive)()), flush=True)
"""
LATER = """
@profile({options})
def work():
    time.sleep(0.2)
    set_timeout()
    return receive()
print(json.dumps(work()), flush=True)
"""


def timed_out(folder: Path, program: str) -> tuple[bool, str]:
    """Whether the timeout fired, and what the program wrote to standard error."""
    (folder / "program.py").write_text(HEAD + program)
    done = run_program(folder, ["program.py"], code=0)
    await_samplers_end(folder)
    return json.loads(done.stdout), done.stderr


@pytest.mark.gil
def test_a_timeout_that_is_there_at_the_start_is_kept(tmp_path: Path) -> None:
    fired, told = timed_out(tmp_path, AT_THE_START.format(options='sampler="pyspy"'))
    assert fired
    assert told == ""
    (folder,) = session_folders(tmp_path / ".profkit" / "spool")
    manifest = read_session(folder).manifest
    assert not manifest.plan.blocking
    assert Note(NoteCode.NONBLOCKING_SOCKETS) in manifest.plan.notes


@pytest.mark.gil  # free-threaded programs are sampled from inside, which a line says here
@pytest.mark.parametrize("program", [AT_THE_START, LATER])
def test_a_timeout_is_kept_by_default(tmp_path: Path, program: str) -> None:
    fired, told = timed_out(tmp_path, program.format(options=""))
    assert fired
    assert told == ""


@pytest.mark.gil
@pytest.mark.slow
def test_a_timeout_that_comes_later_fires_after_the_next_look(tmp_path: Path) -> None:
    fired, told = timed_out(tmp_path, LATER.format(options='sampler="pyspy"'))
    assert fired
    assert told == ""
    (folder,) = session_folders(tmp_path / ".profkit" / "spool")
    manifest = read_session(folder).manifest
    assert not manifest.plan.blocking
    (run,) = listed(tmp_path)
    codes = {note["code"] for note in run["notes"]}
    if "nonblocking-busy" in codes:  # on a busy machine, the program is not stopped from the start
        assert len(manifest.segments) == 1
    else:
        assert "nonblocking-sockets" in codes
        assert len(manifest.segments) == 2


@pytest.mark.gil
@pytest.mark.slow
def test_a_timeout_fires_though_blocking_was_requested(tmp_path: Path) -> None:
    fired, told = timed_out(tmp_path, LATER.format(options="blocking=True"))
    assert fired
    (line,) = told.splitlines()
    assert "despite blocking=True" in line
    assert "SO_RCVTIMEO" in line


@pytest.mark.gil
@pytest.mark.slow
def test_native_stacks_restart_timeouts_and_that_is_warned_about(tmp_path: Path) -> None:
    _, told = timed_out(tmp_path, LATER.format(options="native=True"))
    assert "leave out native=True" in told
