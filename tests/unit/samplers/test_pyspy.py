"""What `read` makes of a segment's files, written here as py-spy writes them, and of its child processes."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from profkit.clock import SYSTEM_CLOCK
from profkit.errors import AttachDenied, DamagedFile, SamplerFailed
from profkit.model.notes import Note, NoteCode
from profkit.model.profile import Frame, Profile, ProfileBuilder, Thread
from profkit.model.session import SamplerPlan, Segment, SessionState
from profkit.process import background, procfs
from profkit.process.detached import watch
from profkit.render.formatting import place
from profkit.samplers.base import LiveStacks, Recording
from profkit.samplers.options import SamplerOptions
from profkit.samplers.process_attachment import read_log
from profkit.samplers.pyspy import PySpyProcess, PySpySampler, is_whole, log_facts, with_child_processes
from profkit.transforms.origin import package_of
from profkit.transforms.simplify import child_frame
from tests.support.spool_folders import open_folder

SAMPLER = PySpySampler()
OWN = 'Thread 8 ""'
"""A thread of profkit's own, which has no name."""
PLAN = SAMPLER.plan(SamplerOptions(), LiveStacks(1, 1))
DONE = "\npy-spy> Wrote speedscope file to 'a'. Samples: 12 Errors: {errors}\n"


OWN_FILE = background.__file__
ELSEWHERE = f"/env/lib/python3.12/site-packages/{OWN_FILE[OWN_FILE.rindex('profkit/') :]}"


def write(
    folder: Path, counts: dict[str, int], log: str = DONE.format(errors=0), own_file: str = OWN_FILE
) -> None:
    profiles = [
        {
            "type": "sampled", "name": name, "unit": "seconds", "weights": [0.01] * count,
            "samples": [[1] if name == OWN else [0]] * count,
        }
        for name, count in counts.items()
    ]  # fmt: skip
    frames = [
        {"name": "f", "file": "/a.py", "line": 1, "col": None},
        {"name": "_run", "file": own_file, "line": 1, "col": None},
    ]
    document = {"profiles": profiles, "shared": {"frames": frames}, "exporter": "py-spy@0.4.3"}
    (folder / "segment-002.speedscope.json").write_text(json.dumps(document))
    (folder / "segment-002.log").write_text(log)


def read(folder: Path, plan: SamplerPlan = PLAN) -> Recording:
    with open_folder(folder) as opened:
        return SAMPLER.read(opened, Segment(2, 0), plan)


@pytest.mark.parametrize("own_file", [OWN_FILE, ELSEWHERE])
def test_profkits_own_thread_is_left_out(tmp_path: Path, own_file: str):
    write(tmp_path, {'Thread 7 "MainThread"': 5, OWN: 7}, own_file=own_file)
    recording = read(tmp_path)
    assert [thread.name for thread in recording.profile.threads] == ["MainThread"]
    assert recording.profile.total_weight == 5
    assert recording.profile.period_ns == pytest.approx(1e7)


@pytest.mark.parametrize(
    ("counts", "idle", "rounds", "starts"),
    [
        ({}, True, 0, ()),
        ({'Thread 7 "MainThread"': 5, OWN: 7, 'Thread 9 "late"': 2}, True, 7, ()),
        ({'Thread 7 "MainThread"': 400, 'Thread 9 "pool"': 397}, True, 400, (0, 3)),
        ({'Thread 7 "MainThread"': 400, 'Thread 9 "late"': 390}, True, 400, ()),
        ({'Thread 7 "MainThread"': 400, 'Thread 9 "pool"': 397}, False, None, ()),
    ],
    ids=["nothing was seen", "profkit's own thread was seen most", "nearly all rounds", "late", "CPU time"],
)
def test_rounds_are_those_of_the_thread_that_was_seen_most(
    counts: dict[str, int], idle: bool, rounds: int | None, starts: tuple[int, ...], tmp_path: Path
) -> None:
    write(tmp_path, counts)
    recording = read(tmp_path, SAMPLER.plan(SamplerOptions(idle=idle), LiveStacks(1, 1)))
    assert (recording.rounds, recording.profile.starts, recording.notes) == (rounds, starts, ())
    assert len(recording.profile.samples) == len(counts.keys() - {OWN})


def test_errors_and_lateness(tmp_path: Path):
    late = "py-spy> 3.25s behind in sampling, results may be inaccurate.\n"
    write(tmp_path, {'Thread 7 "MainThread"': 1}, late + DONE.format(errors=4))
    recording = read(tmp_path)
    assert recording.errors == 4
    assert recording.notes == (Note.of(NoteCode.SAMPLER_LATE, behind_s=3.25),)


def test_samples_without_a_log(tmp_path: Path):
    write(tmp_path, {'Thread 7 "MainThread"': 1})
    (tmp_path / "segment-002.log").unlink()
    assert read(tmp_path).errors == 0


def test_no_samples_is_damage(tmp_path: Path):
    with pytest.raises(DamagedFile, match=r"segment-002\.speedscope\.json"):
        read(tmp_path)


WORK = Frame("work", "/home/ann/worker.py", 3)


def pyspy_frame(pid: int, command: str) -> Frame:
    return Frame(f'process {pid}:"{command}"', "")


def recorded(*stacks: tuple[Frame, ...]) -> Profile:
    builder = ProfileBuilder()
    for stack in stacks:
        builder.add(stack, Thread(1, 1, "MainThread"))
    return builder.build(period_ns=1e7)


def frames_of(profile: Profile) -> list[tuple[Frame, ...]]:
    return [tuple(profile.frames[n] for n in profile.stacks[sample.stack]) for sample in profile.samples]


def test_the_given_process_has_no_frame_and_children_have_short_ones() -> None:
    commands = ["python app.py", "/usr/bin/python3.11 /srv/worker.py 1 2", "python -m tool --deep"]
    one, two, three = (pyspy_frame(pid, command) for pid, command in enumerate(commands, 1))
    shown = with_child_processes(recorded((one, WORK), (one, two, WORK), (one, two, three, WORK)))
    child, grandchild = child_frame(2, commands[1]), child_frame(3, commands[2])
    assert frames_of(shown) == [(WORK,), (child, WORK), (child, grandchild, WORK)]
    assert (child.name, grandchild.name) == ("python3.11 worker.py [pid 2]", "python -m tool [pid 3]")
    assert shown.period_ns == 1e7


def test_functions_that_are_called_process_stay() -> None:
    profile = recorded((Frame("process 1", "app.py", 3), Frame("process", "", 0)))
    assert with_child_processes(profile) is profile


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("/venv/bin/python worker.py", "python worker.py"),
        (
            "python -B -c from multiprocessing.spawn import spawn_main; spawn_main(4)",
            "multiprocessing worker",
        ),
        ("python -c from multiprocessing.resource_tracker import main", "multiprocessing resource tracker"),
        ("python -c import time", "python -c …"),
        ("python -m http.server 80", "python -m http.server"),
        ("python -u", "python"),
        ("", "process"),
        ("python " + "x" * 500, "python " + "x" * 32 + "…"),
    ],
)
def test_names_of_processes_are_short(command: str, name: str) -> None:
    frame = child_frame(12, command)
    assert frame.name == f"{name} [pid 12]"
    assert len(frame.name) < 60
    assert command in frame.file


def test_commands_are_details() -> None:
    file = child_frame(12, "python worker.py --deep").file
    assert (place(file, 0, ""), package_of(file)) == ("", "process")


def test_secrets_in_commands_are_hidden() -> None:
    child = pyspy_frame(2, "python worker.py --password hunter2 --token=hunter3")
    ((frame, _),) = frames_of(with_child_processes(recorded((pyspy_frame(1, "p"), child, WORK))))
    assert "hunter" not in frame.file


CATCHES_INT = f"SigCgt:\t{1 << (signal.SIGINT - 1):016x}\n"
SHELL, PYSPY = "/bin/dash", "/usr/bin/py-spy"


DEFAULTS = SamplerOptions()


def attempt(
    folder: Path, text: str = "", pid: int = 4711, options: SamplerOptions = DEFAULTS, earlier: str = ""
) -> PySpyProcess:
    """One that left this log."""
    log, plan = folder / "segment-000.log", PySpySampler().plan(options, LiveStacks(1, 1))
    log.write_text(earlier)
    made = PySpyProcess("/bin/py-spy", pid, plan, folder, 0, SYSTEM_CLOCK)
    log.write_text(earlier + text)
    return made


@pytest.mark.parametrize(
    ("program", "arguments", "state"),
    [
        (PYSPY, b"py-spy\0record\0", SessionState.RUNNING),
        (SHELL, b"sh\0py-spy\0", SessionState.PREPARING),
        (None, b"py-spy\0record\0", SessionState.RUNNING),  # of another user
        (None, b"", SessionState.PREPARING),  # about to end
    ],
)
def test_it_runs_if_it_handles_interrupts(
    program: str | None, arguments: bytes, state: SessionState, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    process = watch(os.getpid())
    assert process is not None
    folder = tmp_path / str(os.getpid())
    folder.mkdir()
    (folder / "status").write_text(CATCHES_INT)
    (folder / "cmdline").write_bytes(arguments)
    if program is not None:
        (folder / "exe").symlink_to(program)
    attachment = attempt(tmp_path, pid=os.getpid())
    attachment.process = process
    monkeypatch.setattr(procfs, "PROC", str(tmp_path))
    assert attachment.poll() is state
    process.close()


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (SamplerOptions(blocking=False), ["--target", "--rounds", "--helper"]),
        (SamplerOptions(blocking=True), ["--target", "--rounds", "--helper", "--stops"]),
        (
            SamplerOptions(blocking=True, subprocesses=True),
            ["--target", "--rounds", "--helper", "--stops", "--children"],
        ),
        (SamplerOptions(idle=False), ["--target"]),
        (SamplerOptions(gil=True), ["--target"]),
    ],
)
def test_rounds_are_observed_if_all_threads_are_sampled(
    options: SamplerOptions, names: list[str], tmp_path: Path
) -> None:
    found = attempt(tmp_path, pid=7, options=options).watchdog_options()
    assert [option.partition("=")[0] for option in found] == names
    assert found[0] == "--target=7"


DENIED = (
    "Permission Denied: Try running again with elevated permissions by going 'sudo env \"PATH=$PATH\" !!'\n"
)
DENIED_SUSPEND = "Error: Failed to suspend process\n\nCaused by:\n    0: EPERM: Operation not permitted\n"
DENIED_NAME = (
    "Error: Failed to get process executable name.\n\nCaused by:\n    0: Permission denied (os error 13)\n"
)
DENIED_CHILDREN = "Error: No python processes found in process 12 or any of its subprocesses\n"
DENIED_CALL = "Error: Failed to suspend process\n\nCaused by:\n    0: ENOSYS: Function not implemented\n"
KILLED_BY_FILTER = "profkit-watchdog: started 5 under 4\nprofkit-watchdog: ended by signal 31\n"
GONE = "Error: Failed to get process executable name. Check that the process is running.\n"
NOT_PYTHON = "Error: Failed to find python version from target process\n"
FULL = "Error: No space left on device (os error 28)\n"
EXITED = "profkit-watchdog: ended with exit status"
WATCHED = "profkit-watchdog: ended by signal"
LOG = """py-spy> Sampling process 500 times a second for 605 seconds. Press Control-C to exit.

py-spy> 1.00s behind in sampling, results may be inaccurate. Try reducing the sampling rate
py-spy> 12.99s behind in sampling, results may be inaccurate. Try reducing the sampling rate
py-spy> Stopped sampling because Control-C pressed
py-spy> Wrote speedscope file to 'a.json'. Samples: 198 Errors: 7
"""


def test_counts_and_lateness():
    assert log_facts(LOG) == (7, 12.99)
    assert log_facts("") == (0, 0.0)


@pytest.mark.parametrize(
    "text",
    [DENIED, DENIED_SUSPEND, DENIED_NAME, DENIED_CHILDREN, DENIED_CALL, KILLED_BY_FILTER],
)
def test_six_ways_to_be_denied(text: str, tmp_path: Path):
    error = attempt(tmp_path, text, os.getpid()).failure("start")
    assert isinstance(error, AttachDenied)
    assert error.pid == os.getpid()
    assert "profkit-probe: ptrace=" in read_log(tmp_path / "segment-000.log")


def test_a_denial_while_it_writes_is_another_matter(tmp_path: Path):
    error = attempt(tmp_path, "Error: Permission denied (os error 13)\n").failure("stop")
    assert isinstance(error, SamplerFailed)
    assert "failed at stop: Permission denied" in str(error)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (GONE, "has ended, or is not a Python program that it supports"),
        (NOT_PYTHON, "has ended, or is not a Python program that it supports"),
        (FULL, "the disk is full"),
        ("error: invalid value '0.5' for '--rate <rate>': invalid digit\n\nFor more", "invalid value '0.5'"),
        ("thread 'main' panicked at src/main.rs", "it ended without its output"),
        ("", "it ended without its output"),
    ],
)
def test_failures(text: str, said: str, tmp_path: Path):
    error = attempt(tmp_path, text).failure("sampling")
    assert isinstance(error, SamplerFailed)
    assert said in str(error)
    assert "; " in str(error), "names a fix"
    assert not error.passing, "no start"


@pytest.mark.parametrize(
    ("text", "said", "passing"),
    [
        ("", "it ended without its output, and printed nothing", True),
        (f"{WATCHED} 9\n", "output, by signal 9 (SIGKILL), and printed nothing", True),
        (f"thread 'main' panicked\n{EXITED} 101\n",
         "output, with exit status 101, after printing \"thread 'main' panicked\"", True),
        (f"Error: Strange\n{EXITED} 1\n", "Strange (with exit status 1)", True),
        (f"error: wrong rate\n{EXITED} 2\n", "wrong rate (with exit status 2)", False),
        (FULL, "the disk is full", False),
        (NOT_PYTHON, "not a Python program", False),
    ],
)  # fmt: skip
def test_a_start_that_fails_is_explained(text: str, said: str, passing: bool, tmp_path: Path):
    error = attempt(tmp_path, text).failure("start")
    assert isinstance(error, SamplerFailed)
    assert said in str(error)
    assert error.passing is passing
    if passing:
        assert "the command was `/bin/py-spy record -p 4711 -f speedscope" in str(error)


def test_only_the_part_of_the_attempt_counts(tmp_path: Path):
    text = f"{FULL}{WATCHED} 9\n"
    error = attempt(tmp_path, f"{WATCHED} 15\n", earlier=text).failure("start")
    assert "by signal 15 (SIGTERM)" in str(error)


def test_a_sampler_that_somebody_stopped(tmp_path: Path):
    text = "profkit-watchdog: interrupted, because it was stopped by signal 19\n"
    tried = attempt(tmp_path, f"{text}{WATCHED} 9\n")
    assert "py-spy was stopped by signal 19 (SIGSTOP)" in str(tried.failure("sampling"))


WHOLE = (
    '{"profiles":[],"shared":{"frames":[{"name":"f"}]},"activeProfileIndex":null,'
    '"exporter":"py-spy@0.4.3","name":"py-spy profile"}'
)


@pytest.mark.parametrize("end", ["", "\n"])
def test_a_whole_file(tmp_path: Path, end: str):
    path = tmp_path / "a.json"
    path.write_text("x" * 5000 + WHOLE + end)
    assert is_whole(path)


def test_every_truncation_shows(tmp_path: Path):
    path = tmp_path / "a.json"
    for length in range(len(WHOLE)):
        path.write_text(WHOLE[:length])
        assert not is_whole(path), WHOLE[:length]
    assert not is_whole(tmp_path / "missing")
