"""Recordings of the `cpython` sampler, read from journals, and where it can be used."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from profkit.errors import DamagedFile, SamplerMissing
from profkit.model.notes import Note, NoteCode
from profkit.model.profile import ThreadState
from profkit.model.session import SamplerPlan, Segment
from profkit.process.background import BackgroundThread
from profkit.samplers.base import Recording, output_path
from profkit.samplers.cpython import CPythonSampler
from profkit.samplers.helper.journal import ASKED, WAITING, Journal
from tests.support.spool_folders import open_folder

SAMPLER = CPythonSampler()
PLAN = SamplerPlan.unknown("cpython", scope="call", rate_hz=1000.0)
WITH_CHILDREN = SamplerPlan("cpython", 1000.0, False, True, False, True, "call", 600.0)
HERE = [("leaf", "a.py", 3), ("root", "a.py", 1)]
NAMES = {7: "MainThread", 8: "waiter"}


def journal(folder: Path) -> Journal:
    return Journal(str(output_path(folder, 0, "cpython")), 7, 0.001, lambda pid, tid: NAMES.get(tid, "other"))


def read(folder: Path, plan: SamplerPlan = PLAN) -> Recording:
    with open_folder(folder) as opened:
        return SAMPLER.read(opened, Segment(0, 0), plan)


def test_the_sampled_process_has_pid_0(tmp_path: Path) -> None:
    written = journal(tmp_path)
    for tid in (7, 7, 8):
        written.add(7, tid, written.stack(HERE))
    written.write(2, 0, 0, ASKED)
    recording = read(tmp_path)
    assert [(thread.pid, thread.tid, thread.name) for thread in recording.profile.threads] == [
        (0, 7, "MainThread"), (0, 8, "waiter")
    ]  # fmt: skip
    assert sorted(sample.weight for sample in recording.profile.samples) == [1, 2]
    assert [recording.profile.frames[frame].name for frame in recording.profile.stacks[0]] == ["root", "leaf"]
    assert (recording.rounds, recording.errors, recording.notes) == (2, 0, ())
    assert recording.profile.period_ns == 1e6


def test_profkits_own_thread_is_left_out(tmp_path: Path) -> None:
    code = BackgroundThread._run.__code__
    written = journal(tmp_path)
    written.add(7, 7, written.stack(HERE))
    written.add(7, 9, written.stack([("wait", "b.py", 1), ("_run", code.co_filename, 1)]))
    written.write(1, 0, 0, ASKED)
    assert [thread.tid for thread in read(tmp_path).profile.threads] == [7]


def test_children_have_a_frame_of_their_own_without_secrets(tmp_path: Path) -> None:
    written = journal(tmp_path)
    written.add_child(8, "python work.py --token=abcd1234efgh")
    written.add(7, 7, written.stack(HERE))
    written.add(8, 8, written.stack(HERE), state=WAITING)
    written.write(1, 0, 0, ASKED)
    profile = read(tmp_path, WITH_CHILDREN).profile
    states = {profile.threads[one.thread].pid: profile.state_of(one.stack) for one in profile.samples}
    assert states == {7: ThreadState.UNKNOWN, 8: ThreadState.WAITING}
    stacks = {
        profile.threads[sample.thread].pid: [
            profile.frames[number] for number in profile.stacks[sample.stack]
        ]
        for sample in profile.samples
    }
    assert [frame.name for frame in stacks[7]] == ["root", "leaf"]
    assert [frame.name for frame in stacks[8]][1:] == ["root", "leaf"]
    assert stacks[8][0].name.endswith("[pid 8]")
    assert "abcd1234efgh" not in "".join(frame.name + frame.file for frame in profile.frames)


def test_losses_are_noted(tmp_path: Path) -> None:
    written = journal(tmp_path)
    written.add(7, 7, written.stack(HERE))
    for name, rounds in (("slow", 5), ("fast", 9), ("", 2), ("rare", 1), ("odd", 1)):
        for _ in range(rounds):
            written.drop(written.function(name, "a.py") if name else -1)
    for _ in range(2):
        written.count_partial()
    written.leave_out(9, "no Python")
    written.leave_out(10, "denied")
    written.write(100, 6, 0, "unreadable")
    recording = read(tmp_path)
    assert recording.errors == 18
    assert recording.notes == (
        Note.of(NoteCode.SAMPLER_INTERRUPTED, detail="unreadable"),
        Note.of(NoteCode.ROUNDS_REPEATED, repeated=6, rounds=100),
        Note.of(NoteCode.ROUNDS_PARTIAL, partial=2, rounds=100),
        Note.of(NoteCode.ROUNDS_DROPPED, dropped=18, rounds=118, functions="fast (9), slow (5), odd (1)"),
        Note.of(NoteCode.CHILDREN_LEFT_OUT, processes=2, detail="no Python"),
    )


def test_a_few_repeated_rounds_and_a_kill_need_no_note(tmp_path: Path) -> None:
    written = journal(tmp_path)
    written.count_partial()
    written.add(7, 7, written.stack(HERE))
    written.write(100, 5, 0)
    assert read(tmp_path).notes == ()


def test_damage_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(DamagedFile, match=r"segment-000\.stacks"):
        read(tmp_path)
    output_path(tmp_path, 0, "cpython").write_bytes(b"\0" * 100)
    with pytest.raises(DamagedFile, match=r"segment-000\.stacks .*not a journal"):
        read(tmp_path)


def set_python(monkeypatch: pytest.MonkeyPatch, version: tuple[int, int], *, reader: bool = True) -> None:
    """Let this be another Python."""
    monkeypatch.setattr(sys, "version_info", (*version, 0))
    found = SimpleNamespace() if reader else None
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: found)


def test_it_is_found_since_3_14(monkeypatch: pytest.MonkeyPatch) -> None:
    set_python(monkeypatch, (3, 13))
    with pytest.raises(SamplerMissing, match=r"3\.14 or later.*sampler='pyspy'"):
        SAMPLER.find()
    set_python(monkeypatch, (3, 14), reader=False)
    with pytest.raises(SamplerMissing, match="built without it"):
        SAMPLER.find()
    set_python(monkeypatch, (3, 14))
    monkeypatch.setattr(sys, "_base_executable", "/usr/bin/python3.14")
    assert SAMPLER.find() == "/usr/bin/python3.14"


def test_an_embedded_python_is_no_program(monkeypatch: pytest.MonkeyPatch) -> None:
    set_python(monkeypatch, (3, 15))
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    with pytest.raises(SamplerMissing, match="embedded"):
        SAMPLER.find()
    monkeypatch.delattr(sys, "frozen")
    monkeypatch.setattr(sys, "_base_executable", "/usr/bin/uwsgi")
    with pytest.raises(SamplerMissing, match="embedded"):
        SAMPLER.find()
    monkeypatch.setattr(sys, "_base_executable", "")
    monkeypatch.setattr(sys, "executable", "")
    with pytest.raises(SamplerMissing, match="embedded"):
        SAMPLER.find()
