"""py-spy as a sampler: find the program, attach it to a process, and read its recording.

RUNNING is read from its signal handlers, not from its output: it prints its line before it can be stopped.
"""

from __future__ import annotations

import math
import re
import shutil
import signal
import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

from profkit.clock import Clock
from profkit.errors import DamagedFile, SamplerError, SamplerMissing
from profkit.formats.speedscope import read_speedscope
from profkit.model.notes import Note, NoteCode
from profkit.model.profile import Frame, Profile, ProfileBuilder
from profkit.model.session import SamplerPlan, Segment
from profkit.process import procfs, watchdog
from profkit.process.detached import Watched
from profkit.process.guard import suppressed
from profkit.process.redaction import SecretRule, secret_rule
from profkit.samplers import helper, pyspy_plan
from profkit.samplers.base import (
    LARGEST_LOG_BYTES,
    LARGEST_OUTPUT_BYTES,
    Attachment,
    LiveStacks,
    Recording,
    SegmentFiles,
    log_name,
    log_path,
    output_name,
    output_path,
    rounds_name,
    rounds_path,
)
from profkit.samplers.options import SamplerOptions
from profkit.samplers.process_attachment import KILLED_BY_FILTER, START, ProcessAttachment, ended_how, tail_of
from profkit.samplers.pyspy_states import Measured, with_states
from profkit.samplers.thread_rounds import read_rounds
from profkit.transforms.simplify import (
    Reindexer,
    build_like,
    child_frame,
    fold_addresses,
    without_own_threads,
)

BACKSTOP_S = 5
"""Time after the longest duration at which a sampler ends by itself if the program cannot stop it."""
_TAIL = 512
_PROGRAM = "py-spy"
_HELPER = helper.__path__[0]
_COUNTS = re.compile(r"Samples: (\d+) Errors: (\d+)")
_BEHIND = re.compile(r"([\d.]+)s behind in sampling")
_ERROR = re.compile(r"^(?:Error|error): (.+)$", re.MULTILINE)
# With --subprocesses, py-spy reports a denial as "no python processes found". A seccomp filter may also
# answer ENOSYS, or kill the caller by SIGSYS.
_DENIED = re.compile(
    "permission denied|operation not permitted|function not implemented|no python processes found in process"
    f"|{KILLED_BY_FILTER}",
    re.IGNORECASE | re.MULTILINE,
)
_NOT_PYTHON = ("Failed to find python version", "Failed to get process executable name")
_WRONG_USE = "with exit status 2"


def command(program: str, pid: int, plan: SamplerPlan, output: Path) -> tuple[str, ...]:
    """Return the py-spy command line for a plan."""
    flags = {
        # A thread that waits inside a system call may hold the GIL.
        "--idle": plan.idle or plan.gil,
        "--gil": plan.gil,
        "--nonblocking": not plan.blocking,
        "--native": plan.native,
        "--subprocesses": plan.subprocesses,
    }
    limit_s = math.ceil(plan.max_duration_s) + BACKSTOP_S
    return (
        *(program, "record", "-p", str(pid), "-f", "speedscope", "--full-filenames", "-o", str(output)),
        *("-r", str(round(plan.rate_hz)), "-d", str(limit_s)),
        *(flag for flag, enabled in flags.items() if enabled),
    )


class PySpyProcess(ProcessAttachment):
    """One start of py-spy."""

    sampler, any_name = _PROGRAM, False

    def __init__(
        self, program: str, pid: int, plan: SamplerPlan, folder: Path, index: int, clock: Clock
    ) -> None:
        output = output_path(folder, index, "pyspy")
        words = command(program, pid, plan, output)
        super().__init__(pid, words, output, log_path(folder, index), index, clock)
        self.plan, self.rounds = plan, rounds_path(folder, index)
        """`rounds`: the journal of rounds."""
        self.rounds.unlink(missing_ok=True)  # of an earlier try

    def watchdog_options(self) -> tuple[str, ...]:
        """See `ProcessAttachment.watchdog_options`: states are known of all threads or of none."""
        target = f"{watchdog.TARGET}{self.pid}"
        if not self.plan.idle:
            return (target,)
        given = {watchdog.STOPS: self.plan.blocking, watchdog.CHILDREN: self.plan.subprocesses}
        flags = (flag for flag, is_given in given.items() if is_given)
        return target, f"{watchdog.ROUNDS}{self.rounds}", f"{watchdog.HELPER}{_HELPER}", *flags

    def is_running(self, process: Watched) -> bool:
        """See `ProcessAttachment.is_running`: it handles SIGINT, and is no shell, as of pyenv's script."""
        if not procfs.catches_signal(process.pid, signal.SIGINT):
            return False
        program = procfs.program(process.pid)
        if program is None:  # not permitted to read it, or it is ending and has no arguments either
            return bool(procfs.command_line(process.pid))
        return program.rpartition("/")[2].startswith(_PROGRAM) or "Sampling process" in self.text()

    def is_whole(self) -> bool:
        return is_whole(self.output)

    def failure(self, stage: str) -> SamplerError:
        text = self.text()
        if stage == START and _DENIED.search(text):
            return self.denied()
        if "No space left" in text:
            return self.disk_full(stage)
        if any(words in text for words in _NOT_PYTHON):
            return self.failed(
                stage, f"process {self.pid} has ended, or is not a Python program that it supports",
                "make sure that it still runs Python (not another program after exec), or update py-spy",
            )  # fmt: skip
        found = _ERROR.search(text)
        passing = stage == START and ended_how(text) != _WRONG_USE
        return self.stopped_failure(stage) or self.unknown_failure(
            stage, found.group(1) if found else None, passing=passing
        )

    def stop_timeout_s(self) -> float:
        """See `Attachment.stop_timeout_s`: py-spy ends with its next sample, at a random interval."""
        return 2 + 12 / self.plan.rate_hz


def is_whole(output: Path) -> bool:
    """Return whether py-spy's file is complete, by its last fields."""
    tail = tail_of(output, _TAIL).rstrip()
    return b'"exporter":"py-spy' in tail and tail.endswith(b"}")


def log_facts(text: str) -> tuple[int, float]:
    """Return in how many rounds a process could not be read, and the maximum delay in seconds."""
    counts = _COUNTS.search(text)
    behind_s = max((float(late) for late in _BEHIND.findall(text)), default=0.0)
    return int(counts.group(2)) if counts else 0, behind_s


_PROCESS = re.compile(r'process (\d+)(?::"(.*)")?', re.DOTALL)


def with_child_processes(profile: Profile) -> Profile:
    """Drop the frame of the sampled process, and shorten the frames of child processes.

    Hides values in commands that look like secrets.
    """
    rule = secret_rule()
    found = ((number, _child(frame, rule)) for number, frame in enumerate(profile.frames))
    processes = {number: child for number, child in found if child is not None}
    if not processes:
        return profile
    first = len(profile.frames)
    numbers = {number: first + offset for offset, number in enumerate(processes)}
    source = Profile(frames=(*profile.frames, *processes.values()), threads=profile.threads)
    builder = ProfileBuilder()
    reindexer = Reindexer(source, builder)
    stacks = [_named(stack, numbers) for stack in profile.stacks]
    for (stack, thread, weight), start in zip(profile.samples, profile.known_starts(), strict=False):
        reindexer.add(stacks[stack], thread, weight, start, state=profile.state_of(stack))
    return build_like(profile, builder)


def _child(frame: Frame, rule: SecretRule) -> Frame | None:
    match = _PROCESS.fullmatch(frame.name) if not frame.file and frame.name.startswith("process ") else None
    if match is None:
        return None
    return child_frame(int(match[1]), " ".join(rule.argv((match[2] or "").split())))


def _named(stack: tuple[int, ...], numbers: Mapping[int, int]) -> tuple[int, ...]:
    given = 1 if stack and stack[0] in numbers else 0
    return tuple([numbers.get(frame, frame) for frame in stack[given:]])


_NOTABLY_LATE_S = 1.0


class PySpySampler:
    name = "pyspy"

    def find(self) -> str:
        """Return py-spy on PATH, else the one beside this Python, as in a venv that is not activated."""
        beside = str(Path(sys.executable).parent) if sys.executable else None
        program = shutil.which("py-spy") or (shutil.which("py-spy", path=beside) if beside else None)
        if program is None:
            raise SamplerMissing(self.name, "py-spy", "install it with `python -m pip install py-spy`")
        return str(Path(program).absolute())

    def version(self) -> str | None:
        """Return the version of the program found, None if it is not installed as a Python package."""
        try:
            return _version_of(self.find())
        except SamplerMissing:
            return None

    def check(self, options: SamplerOptions) -> None:
        pyspy_plan.check(options)

    def plan(self, options: SamplerOptions, live: LiveStacks) -> SamplerPlan:
        return pyspy_plan.plan(options, live)

    def attach(self, pid: int, plan: SamplerPlan, folder: Path, index: int, clock: Clock) -> Attachment:
        return PySpyProcess(self.find(), pid, plan, folder, index, clock).start()

    def read(self, files: SegmentFiles, segment: Segment, plan: SamplerPlan) -> Recording:
        """See `Sampler.read`; threads of the sampled process have pid 0 unless there are subprocesses."""
        profile = _read_profile(files, output_name(segment.index, self.name))
        errors, behind_s = log_facts(_read_log(files, log_name(segment.index)))
        measured = _measured(profile, files, segment, plan) if plan.idle else Measured(profile, None, 0)
        return Recording(
            profile=_shown(measured.profile, plan),
            rounds=measured.rounds,
            errors=errors,
            notes=(Note.of(NoteCode.SAMPLER_LATE, behind_s=behind_s),) if behind_s >= _NOTABLY_LATE_S else (),
            unseen_ns=measured.unseen_ns,
        )


def _measured(profile: Profile, files: SegmentFiles, segment: Segment, plan: SamplerPlan) -> Measured:
    """Return the profile with states, if there is a journal of rounds, and with starts."""
    with suppressed(DamagedFile):
        processes = read_rounds(files.read(rounds_name(segment.index), LARGEST_OUTPUT_BYTES))
        if processes:
            return with_states(profile, processes, stops=plan.blocking)
    rounds = _rounds(profile)
    return Measured(with_starts(profile, rounds), rounds, 0)


def _read_profile(files: SegmentFiles, name: str) -> Profile:
    data = files.read(name, LARGEST_OUTPUT_BYTES)
    path = files.path / name
    if data[:1] != b"{":  # zeros, as after a power failure: do not decode them
        raise DamagedFile(path, "it is not a JSON object")
    try:
        return read_speedscope(data)
    except DamagedFile as damage:
        raise DamagedFile(path, damage.detail) from damage


def _read_log(files: SegmentFiles, name: str) -> str:
    """Return the text of a log, empty if it cannot be read: samples are valid without it."""
    with suppressed(DamagedFile):
        return files.read(name, LARGEST_LOG_BYTES).decode("utf-8", "replace")
    return ""


@cache
def _version_of(program: str) -> str | None:
    """Return the version in the metadata of the package that installed the program.

    `importlib.metadata` takes longer to import than py-spy takes to start, and sees only packages of this
    environment.
    """
    installed = (Path(program).resolve().parents[1] / "lib").glob("python*/*-packages/py_spy-*.dist-info")
    found = (re.search(r"py_spy-([^/]+)\.dist-info$", str(path)) for path in installed)
    return next((match.group(1) for match in found if match), None)


def _rounds(profile: Profile) -> int:
    """Return the number of rounds: with idle threads included, some thread is in every round."""
    return max(_seen(profile), default=0)


def _seen(profile: Profile) -> list[int]:
    seen = [0] * len(profile.threads)
    for sample in profile.samples:
        seen[sample.thread] += sample.weight
    return seen


_MOST_ABSENT = 0.01
"""Largest part of the rounds that a thread may lack if its samples are still to be placed in time."""


def with_starts(profile: Profile, rounds: int) -> Profile:
    """Return the profile with the starts of its samples if each thread was in nearly all rounds.

    py-spy records no times, only how often each thread was seen. A thread that lacks a few rounds is taken to
    have begun later.
    """
    missing = [rounds - seen for seen in _seen(profile)]
    if any(rounds > lack > _MOST_ABSENT * rounds for lack in missing):
        return profile
    starts = []
    for sample in profile.samples:
        starts.append(missing[sample.thread])
        missing[sample.thread] += sample.weight
    return replace(profile, starts=tuple(starts))


def _shown(profile: Profile, plan: SamplerPlan) -> Profile:
    program = fold_addresses(without_own_threads(profile))
    return with_child_processes(program) if plan.subprocesses else program
