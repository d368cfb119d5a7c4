"""The `cpython` sampler: its plan, recordings read from journals, and where it can be used."""

from __future__ import annotations

import importlib.util
import os
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from profkit.clock import SYSTEM_CLOCK
from profkit.errors import AttachDenied, DamagedFile, InvalidOption, SamplerFailed, SamplerMissing, UsageError
from profkit.model.notes import Note, NoteCode
from profkit.model.profile import ThreadState
from profkit.model.session import SamplerPlan, Segment, SessionState
from profkit.process.background import BackgroundThread
from profkit.process.detached import watch
from profkit.samplers import cpython, helper, options, pyspy_plan
from profkit.samplers.base import HOST_CPU, LiveStacks, Recording, output_path
from profkit.samplers.cpython import (
    DEFAULT_RATE_HZ,
    SAMPLER_CPU,
    CPythonProcess,
    CPythonSampler,
    round_cost_s,
)
from profkit.samplers.helper.journal import ASKED, WAITING, Journal
from profkit.samplers.helper.program import PREFIX
from profkit.samplers.options import SamplerOptions
from profkit.samplers.process_attachment import SAMPLING, START, STOP
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


FEW = LiveStacks(threads=1, frames=10)


def plan(options: SamplerOptions, live: LiveStacks, version: str = "3.15.0") -> SamplerPlan:
    """Plan with the same version for every Python that runs this."""
    return CPythonSampler(version=version).plan(options, live)


def check(options: SamplerOptions, version: tuple[int, int]) -> None:
    CPythonSampler(version=f"{version[0]}.{version[1]}.0").check(options)


def test_the_reader_of_3_14_cuts_stacks() -> None:
    made = plan(SamplerOptions(), FEW, "3.14.0")
    assert [note.code for note in made.notes] == [NoteCode.STACKS_CUT]


def refused(version: tuple[int, int], **given: Any) -> str:
    """The message about options."""
    with pytest.raises(UsageError) as caught:
        check(SamplerOptions(**given), version)
    return str(caught.value)


@pytest.mark.parametrize("version", [(3, 14), (3, 15), (3, 16)])
def test_what_it_does_not_support(version: tuple[int, int]) -> None:
    check(SamplerOptions(), version)
    check(SamplerOptions(blocking=False, subprocesses=True, scope="process"), version)
    for given in ({"blocking": True}, {"native": True}):
        assert "leave it out, or use sampler='pyspy'" in refused(version, **given)


@pytest.mark.gil
def test_the_states_of_threads_are_known_since_3_15() -> None:
    for given in ({"idle": False}, {"gil": True}):
        assert "since Python 3.15: leave it out, or use sampler='pyspy'" in refused((3, 14), **given)
        check(SamplerOptions(**given), (3, 15))
        check(SamplerOptions(**given), (3, 16))
    assert refused((3, 14), gil=True, idle=False).startswith("gil=True")


@pytest.mark.parametrize(("version", "fastest_hz"), [((3, 14), 3000), ((3, 15), 5000), ((3, 16), 5000)])
def test_rates(version: tuple[int, int], fastest_hz: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for rate_hz in (1, 2.5, fastest_hz):
        check(SamplerOptions(rate_hz=rate_hz), version)
    for rate_hz in (0.5, fastest_hz + 1):
        assert f"1 to {fastest_hz} Hz with Python 3.{version[1]}" in refused(version, rate_hz=rate_hz)
    monkeypatch.setattr(options, "cpu_frequency", lambda option, value: 2e9)
    check(SamplerOptions(sample_each=2e6), version)
    assert refused(version, sample_each=1e5).startswith("sample_each=")


def test_tasks_are_read_since_3_15() -> None:
    assert "leave it out, or use Python 3.15" in refused((3, 14), async_stacks=True)
    check(SamplerOptions(async_stacks=True, subprocesses=True), (3, 15))
    with pytest.raises(InvalidOption, match=r"only sampler='cpython' supports it, with Python 3\.15"):
        pyspy_plan.check(SamplerOptions(async_stacks=True))
    assert plan(SamplerOptions(async_stacks=True), FEW).async_stacks
    many = LiveStacks(threads=50, frames=480)
    assert plan(SamplerOptions(async_stacks=True), many).rate_hz == plan(SamplerOptions(), many).rate_hz // 5


def test_without_the_gil_it_cannot_be_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: False, raising=False)
    assert "runs without the GIL" in refused((3, 15), gil=True)
    check(SamplerOptions(), (3, 15))


@pytest.mark.parametrize(
    ("live", "rate_hz"),
    [
        (FEW, DEFAULT_RATE_HZ),
        (LiveStacks(threads=10, frames=180), DEFAULT_RATE_HZ),
        (LiveStacks(threads=50, frames=930), 250),
        (LiveStacks(threads=50, frames=10**6), 10),
    ],
)
def test_the_default_rate_keeps_within_a_quarter_of_a_core(live: LiveStacks, rate_hz: float) -> None:
    made = plan(SamplerOptions(), live)
    assert (made.rate_hz, made.blocking, made.native) == (rate_hz, False, False)
    codes = [] if rate_hz == DEFAULT_RATE_HZ else [NoteCode.LONG_ROUNDS]
    assert [note.code for note in made.notes] == codes
    assert made.rate_hz * round_cost_s(live) <= SAMPLER_CPU or made.rate_hz == 10


def test_a_requested_rate_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    crowd = LiveStacks(1, 10**6, other_samplers=9)
    made = plan(SamplerOptions(rate_hz=2500.0), crowd)
    assert (made.rate_hz, made.notes) == (2500.0, ())
    monkeypatch.setattr(options, "cpu_frequency", lambda option, value: 3e9)
    made = plan(SamplerOptions(sample_each=1e7), crowd)
    assert (made.rate_hz, made.sample_each, made.notes) == (300.0, 1e7, ())


@pytest.mark.parametrize(("others", "rate_hz"), [(0, 1000), (1, 1000), (7, 312), (999, 10)])
def test_samplers_of_a_host_share_a_part_of_it(others: int, rate_hz: float) -> None:
    made = plan(SamplerOptions(), replace(FEW, processors=2, other_samplers=others))
    assert made.rate_hz == rate_hz
    note = Note.of(NoteCode.SHARED_HOST, rate_hz=int(rate_hz), samplers=others, share=HOST_CPU)
    assert made.notes == (() if rate_hz == DEFAULT_RATE_HZ else (note,))


def test_the_rest_is_passed_on() -> None:
    given = SamplerOptions(idle=False, subprocesses=True, scope="process", max_duration_s=7.0, tags=("t",))
    made = plan(given, FEW)
    assert (made.sampler, made.idle, made.gil, made.subprocesses) == ("cpython", False, False, True)
    assert (made.scope, made.max_duration_s, made.tags, made.sample_each) == ("process", 7.0, ("t",), None)
    made = plan(SamplerOptions(gil=True), FEW)
    assert (made.idle, made.gil) == (False, True)


STARTED_PLAN = replace(SamplerPlan.unknown("cpython", scope="call", rate_hz=1000.0), max_duration_s=600.0)
OUTPUT = Path("/spool/session/segment-000.stacks")


def words(plan: SamplerPlan) -> tuple[str, ...]:
    return cpython.command("/usr/bin/python3", 4711, plan, OUTPUT)


def test_the_command_line() -> None:
    assert words(STARTED_PLAN) == (
        *("/usr/bin/python3", "-I", "-S", f"{helper.__path__[0]}/__main__.py"),
        *(
            "--pid=4711",
            "--rate=1000",
            "--duration=605",
            "--only=all",
            "--retries=10",
            "--children=no",
            "--tasks=no",
        ),
        str(OUTPUT),
    )


def test_the_command_line_of_other_plans() -> None:
    assert "--only=cpu" in words(replace(STARTED_PLAN, idle=False))
    assert "--only=gil" in words(replace(STARTED_PLAN, idle=False, gil=True))
    assert "--tasks=yes" in words(replace(STARTED_PLAN, async_stacks=True))
    assert "--children=yes" in words(replace(STARTED_PLAN, subprocesses=True))
    assert "--rate=0.333333" in words(replace(STARTED_PLAN, rate_hz=1 / 3))
    assert "--duration=6" in words(replace(STARTED_PLAN, max_duration_s=0.01))


def attempt(folder: Path, text: str, pid: int = 4711) -> CPythonProcess:
    """One that left this log."""
    (folder / "segment-000.log").write_text("")
    made = CPythonProcess("python", pid, STARTED_PLAN, folder, 0, SYSTEM_CLOCK)
    made.log.write_text(text)
    return made


def test_a_denied_read_is_denied_at_any_time(tmp_path: Path) -> None:
    for text in (f"{PREFIX}denied: Operation not permitted\n", "profkit-watchdog: ended by signal 31\n"):
        for stage in (START, SAMPLING):
            error = attempt(tmp_path, text, os.getpid()).failure(stage)
            assert isinstance(error, AttachDenied)
            assert (error.sampler, error.pid) == ("cpython", os.getpid())


@pytest.mark.parametrize(
    ("text", "said", "passes"),
    [
        (f"{PREFIX}unexpected: AttributeError: threads\n",
         "reader of stacks did not answer as expected: AttributeError: threads; use sampler='pyspy'", False),
        (f"{PREFIX}unreadable: no stack could be read for 2 s\n",
         "process 4711 has ended, or its stacks cannot be read: no stack could be read for 2 s; make sure",
         True),
        (f"{PREFIX}unreadable: no stack could be read for 2 s: Too many stack frames\n",
         "cannot read stacks as deep as the program's: no stack could be read for 2 s: Too many", False),
        (f"{PREFIX}ended: \n", "process 4711 has ended, or its stacks cannot be read; make sure", True),
        (f"{PREFIX}not written: [Errno 28] No space left on device: 'x'\n", "the disk is full", False),
        (f"{PREFIX}not written: [Errno 30] Read-only\nprofkit-watchdog: ended with exit status 1\n",
         "Read-only (with exit status 1); see its log", True),
        ("profkit-watchdog: interrupted, because it was stopped by signal 19\n",
         "cpython was stopped by signal 19 (SIGSTOP)", False),
        ("Fatal Python error\n", "it ended without its output, after printing 'Fatal Python error'", True),
    ],
    ids=["unexpected", "unreadable", "deep", "ended", "full", "read-only", "stopped", "crashed"],
)  # fmt: skip
def test_failures(text: str, said: str, passes: bool, tmp_path: Path) -> None:
    for stage in (START, STOP):
        error = attempt(tmp_path, text).failure(stage)
        assert isinstance(error, SamplerFailed)
        assert said in str(error)
        assert error.passing is (passes and stage == START)


def test_the_output_shows_that_it_runs_and_that_it_is_whole(tmp_path: Path) -> None:
    process = watch(os.getpid())
    assert process is not None
    tried = attempt(tmp_path, "")
    tried.process = process
    states = [tried.poll()]
    for content in ("", "profkit-stacks 1 4711 1000000\n"):
        tried.output.write_text(content)
        states.append(tried.poll())
    assert states == [SessionState.PREPARING, SessionState.PREPARING, SessionState.RUNNING]
    process.close()


def test_a_whole_output_has_an_end(tmp_path: Path) -> None:
    tried = attempt(tmp_path, "")
    assert not tried.is_whole()
    begin = "profkit-stacks 1 7 1000000\n" + "r 0 0 1\n" * 1000
    for end, whole in (("", False), ('e "asked"\n', True), ('e "asked"', False), ('e "denied"\n', False)):
        tried.output.write_text(begin + end)
        assert tried.is_whole() is whole


def test_an_earlier_output_is_removed_before_a_start(tmp_path: Path) -> None:
    earlier = tmp_path / "segment-003.stacks"
    earlier.write_text("profkit-stacks 1 7 1000000\n")
    (tmp_path / "segment-003.log").write_text("of an earlier try\n")
    made = CPythonProcess("python", 4711, STARTED_PLAN, tmp_path, 3, SYSTEM_CLOCK)
    assert not earlier.exists()
    assert made.output == earlier
    assert made.text() == ""
