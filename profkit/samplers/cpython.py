"""CPython's own reader of stacks as a sampler (3.14 and later): its rates, notes and helper process.

It does not stop the program, so `auto` needs no budget for that, only one for the processor. A round takes
about 0.07 ms and 1 µs for each frame (measured, CPython 3.15).
"""

from __future__ import annotations

import importlib.util
import math
import platform
import posix
import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from profkit.clock import Clock
from profkit.errors import InvalidOption, SamplerError, SamplerMissing
from profkit.model.notes import Note, NoteCode
from profkit.model.profile import Profile, ProfileBuilder
from profkit.model.session import SamplerPlan, Segment
from profkit.process.child import plain_python
from profkit.process.detached import Watched
from profkit.process.redaction import secret_rule
from profkit.samplers import helper
from profkit.samplers.base import (
    SLOWEST_HZ,
    Attachment,
    LiveStacks,
    Recording,
    SegmentFiles,
    default_rate,
    log_path,
    output_name,
    output_path,
    plain_plan,
)
from profkit.samplers.helper.program import DENIED, ENDED, PREFIX, UNEXPECTED, UNREADABLE
from profkit.samplers.helper.reader import ALL_THREADS, HOLDS_GIL, ON_CPU, TOO_DEEP
from profkit.samplers.options import (
    SamplerOptions,
    check_common,
    check_rate,
    requested_rate,
    usual_rate_hz,
)
from profkit.samplers.process_attachment import KILLED_BY_FILTER, START, ProcessAttachment, tail_of
from profkit.samplers.stack_journal import (
    FEWEST_ROUNDS,
    StackJournal,
    has_ended,
    of_one_process,
    partial_notes,
    read_segment,
    recording_of,
)
from profkit.transforms.simplify import build_like, child_frame, without_own_threads

NAME = "cpython"
BACKSTOP_S = 5
"""Time after the longest duration at which it ends by itself if the program cannot stop it."""
RETRIES = 10
"""Number of immediate retries of a read that met a stack while it changed."""
_STOP_TIMEOUT_S = 2.0
_TAIL = 4096
_PROGRAM = f"{helper.__path__[0]}/__main__.py"
_KILLED = re.compile(KILLED_BY_FILTER, re.MULTILINE)
_SAID = re.compile(f"^{PREFIX}([a-z ]+): (.*)$", re.MULTILINE)


def command(
    python: str, pid: int, plan: SamplerPlan, output: Path, retries: int = RETRIES
) -> tuple[str, ...]:  # fmt: skip
    """Return the command line for a plan."""
    options = {
        "pid": pid,
        "rate": f"{plan.rate_hz:.6g}",
        "duration": math.ceil(plan.max_duration_s) + BACKSTOP_S,
        "only": _only(plan),
        "retries": retries,
        "children": "yes" if plan.subprocesses else "no",
        "tasks": "yes" if plan.async_stacks else "no",
    }
    words = (f"--{name}={value}" for name, value in options.items())
    # The output is an argument of its own: `start_detached` finds the process by it.
    return (python, "-I", "-S", _PROGRAM, *words, str(output))


def _only(plan: SamplerPlan) -> str:
    if plan.gil:
        return HOLDS_GIL
    return ALL_THREADS if plan.idle else ON_CPU


class CPythonProcess(ProcessAttachment):
    """One start of the process. Its watchdog has no options: the process stops nothing, and knows states."""

    sampler = NAME

    def __init__(
        self, python: str, pid: int, plan: SamplerPlan, folder: Path, index: int, clock: Clock,
        retries: int = RETRIES,
    ) -> None:  # fmt: skip
        output = output_path(folder, index, NAME)
        output.unlink(missing_ok=True)  # of an earlier try: its existence says RUNNING
        words = command(python, pid, plan, output, retries)
        super().__init__(pid, words, output, log_path(folder, index), index, clock)

    def is_running(self, process: Watched) -> bool:
        """See `ProcessAttachment.is_running`: the first stack makes the output."""
        try:
            return posix.stat(self.output).st_size > 0
        except FileNotFoundError:
            return False

    def is_whole(self) -> bool:
        """See `ProcessAttachment.is_whole`: the journal ends because the sampling did."""
        return has_ended(tail_of(self.output, _TAIL))

    def failure(self, stage: str) -> SamplerError:
        text = self.text()
        found = _SAID.search(text)
        word, detail = found.groups() if found else ("", "")
        if word == DENIED or _KILLED.search(text):
            return self.denied()
        if "No space left" in text:
            return self.disk_full(stage)
        if word == UNEXPECTED:
            return self.failed(
                stage, f"this Python's reader of stacks did not answer as expected: {detail}",
                "use sampler='pyspy', and report this with the version of Python",
            )  # fmt: skip
        if word in (UNREADABLE, ENDED):
            why = f": {detail}" if detail else ""
            if TOO_DEEP in detail:
                problem = f"this Python's reader cannot read stacks as deep as the program's{why}"
                return self.failed(stage, problem, "use sampler='pyspy'")
            return self.failed(
                stage, f"process {self.pid} has ended, or its stacks cannot be read{why}",
                "make sure that it still runs the same Python (not another program after exec)",
                passing=stage == START,
            )  # fmt: skip
        return self.stopped_failure(stage) or self.unknown_failure(
            stage, detail or None, passing=stage == START
        )

    def stop_timeout_s(self) -> float:
        """See `Attachment.stop_timeout_s`: it ends with the current round."""
        return _STOP_TIMEOUT_S


SINCE = (3, 14)
"""First version of Python with a reader."""
_READER = "_remote_debugging"
DEFAULT_RATE_HZ = 1000
"""Default rate: the slow-down of the program is below 1.02."""
FASTEST_HZ = {(3, 14): 3000, (3, 15): 5000}
"""Maximum rate by version of Python; later ones are as fast as the last."""
SAMPLER_CPU = 0.25
"""Maximum share of a core for the sampler if the user set no rate."""
STATES_SINCE = WHOLE_SINCE = (3, 15)
"""First versions whose reader reports the states of threads, and follows a stack through calls from C code to
Python (checked with 3.14.10)."""
_ROUND_S, _FRAME_S = 7e-5, 1e-6
_TASKS_COST = 5
"""Cost of a round that reads tasks, in rounds that do not (measured)."""
_USE_PYSPY = "leave it out, or use sampler='pyspy'"
_NOTABLY_REPEATED = 0.05
_SHOWN = 3
"""Number of functions that a note on dropped rounds names."""


class CPythonSampler:
    """See `Sampler`; for another process, with its interpreter and the version of that."""

    name = NAME

    def __init__(self, python: str | None = None, version: str | None = None) -> None:
        self._python, self._version = python, version or platform.python_version()
        self._release = sys.version_info[:2]
        if version:
            major, minor = map(int, version.split(".")[:2])
            self._release = major, minor

    def find(self) -> str:
        """Return the interpreter, by default that of this process without its virtual environment."""
        if self._python is not None:
            return self._python
        if sys.implementation.name != "cpython" or sys.version_info < SINCE:
            raise SamplerMissing(self.name, "CPython 3.14 or later", "use sampler='pyspy'")
        if importlib.util.find_spec(_READER) is None:
            raise SamplerMissing(self.name, _READER, "use sampler='pyspy': this Python was built without it")
        python = plain_python(getattr(sys, "_base_executable", None))
        if python is None:
            raise SamplerMissing(self.name, "python", "use sampler='pyspy': Python is embedded in a program")
        return python

    def version(self) -> str:
        """Return the version of the interpreter, which is that of its reader."""
        return self._version

    def check(self, options: SamplerOptions) -> None:
        """See `Sampler.check`: what is supported depends on the version of Python."""
        check_common(options)
        if options.blocking is True:
            raise InvalidOption(
                "blocking", True, f"sampler='cpython' reads whole stacks without it: {_USE_PYSPY}"
            )
        if options.native:
            raise InvalidOption("native", True, f"sampler='cpython' sees Python frames only: {_USE_PYSPY}")
        if self._release < STATES_SINCE:
            _check_states(options)
        fastest_hz, name = fastest(self._release), ".".join(map(str, self._release))
        check_rate(options, fastest_hz, f"sampler='cpython' supports 1 to {fastest_hz} Hz with Python {name}")

    def plan(self, options: SamplerOptions, live: LiveStacks) -> SamplerPlan:
        requested_hz, notes = requested_rate(options), tuple[Note, ...]()
        if requested_hz is None:
            cost_s = round_cost_s(live) * (_TASKS_COST if options.async_stacks else 1)
            affordable_hz = max(SLOWEST_HZ, int(SAMPLER_CPU / cost_s))
            usual_hz = usual_rate_hz(options, DEFAULT_RATE_HZ)
            rate_hz, notes = default_rate(usual_hz, affordable_hz, live, cost_s)
            requested_hz = float(rate_hz)
        return replace(
            plain_plan(self.name, options, requested_hz),
            idle=options.idle and not options.gil,
            subprocesses=options.subprocesses,
            notes=(*notes, *([Note(NoteCode.STACKS_CUT)] if self._release < WHOLE_SINCE else [])),
            gil=options.gil,
            async_stacks=options.async_stacks,
        )

    def attach(self, pid: int, plan: SamplerPlan, folder: Path, index: int, clock: Clock) -> Attachment:
        return CPythonProcess(self.find(), pid, plan, folder, index, clock).start()

    def read(self, files: SegmentFiles, segment: Segment, plan: SamplerPlan) -> Recording:
        """See `Sampler.read`; a journal without an end is read, too: its sampler was killed."""
        return recorded(read_segment(files, output_name(segment.index, self.name)), plan)


def _check_states(options: SamplerOptions) -> None:
    """Raise `InvalidOption` for options that need the states of threads, or whole stacks with tasks."""
    if options.async_stacks:
        raise InvalidOption(
            "async_stacks",
            True,
            "Python 3.14 reads no stacks beyond a task: leave it out, or use Python 3.15",
        )
    for name, value, needed in (("gil", True, options.gil), ("idle", False, not options.idle)):
        if needed:
            raise InvalidOption(
                name, value, f"sampler='cpython' knows the states of threads since Python 3.15: {_USE_PYSPY}"
            )


def fastest(version: tuple[int, int]) -> int:
    """Return the maximum rate in Hz with a version of Python."""
    return FASTEST_HZ.get(version, FASTEST_HZ[max(FASTEST_HZ)])


def round_cost_s(live: LiveStacks) -> float:
    """Return the processor time of one round."""
    return _ROUND_S + _FRAME_S * live.frames


def recorded(journal: StackJournal, plan: SamplerPlan) -> Recording:
    """Return the content of a journal, or of a part of it, as a recording."""
    profile = without_own_threads(journal.profile)
    shown = _with_children(profile, journal) if plan.subprocesses else of_one_process(profile)
    return recording_of(journal, shown, _notes(journal))


def _with_children(profile: Profile, journal: StackJournal) -> Profile:
    """Return the profile with a frame for each child process beneath its stacks, its secrets hidden."""
    builder = ProfileBuilder()
    for frame in profile.frames:
        builder.frame(frame)
    roots = _roots(builder, journal.commands)
    threads = [builder.thread(thread) for thread in profile.threads]
    for (stack, thread, weight), start in zip(profile.samples, profile.known_starts(), strict=False):
        root = roots.get(profile.threads[thread].pid, ())
        frames = (*root, *profile.stacks[stack])
        builder.add_indexed(frames, threads[thread], weight, start, state=profile.state_of(stack))
    return build_like(profile, builder)


def _roots(builder: ProfileBuilder, commands: Mapping[int, str]) -> dict[int, tuple[int]]:
    rule = secret_rule()
    return {
        pid: (builder.frame(child_frame(pid, " ".join(rule.argv(command.split())))),)
        for pid, command in commands.items()
    }


def _notes(journal: StackJournal) -> list[Note]:
    notes = []
    if journal.end is not None and not journal.ended_normally:
        notes.append(Note.of(NoteCode.SAMPLER_INTERRUPTED, detail=journal.end))
    if journal.rounds >= FEWEST_ROUNDS and journal.repeated > _NOTABLY_REPEATED * journal.rounds:
        notes.append(Note.of(NoteCode.ROUNDS_REPEATED, repeated=journal.repeated, rounds=journal.rounds))
    notes += partial_notes(journal)
    if journal.dropped:
        notes.append(_dropped_note(journal))
    if journal.left_out:
        first = next(iter(journal.left_out.values()))
        notes.append(Note.of(NoteCode.CHILDREN_LEFT_OUT, processes=len(journal.left_out), detail=first))
    return notes


def _dropped_note(journal: StackJournal) -> Note:
    ordered = sorted(journal.dropped.items(), key=lambda item: (-item[1], item[0]))
    names = [f"{name} ({rounds})" for (name, _), rounds in ordered if name]
    return Note.of(
        NoteCode.ROUNDS_DROPPED,
        dropped=sum(journal.dropped.values()),
        rounds=journal.rounds + sum(journal.dropped.values()),
        functions=", ".join(names[:_SHOWN]),
    )
