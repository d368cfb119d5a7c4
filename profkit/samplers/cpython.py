"""CPython's own reader of stacks as a sampler (3.14 and later): a helper process of the same Python.

It does not stop the program, so `auto` needs no budget for that, only one for the processor. A round takes
about 0.07 ms and 1 µs for each frame (measured, CPython 3.15).
"""

from __future__ import annotations

import importlib.util
import platform
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from profkit.clock import Clock
from profkit.errors import InvalidOption, SamplerMissing
from profkit.model.notes import Note, NoteCode
from profkit.model.profile import Profile, ProfileBuilder
from profkit.model.session import SamplerPlan, Segment
from profkit.process.child import plain_python
from profkit.process.redaction import secret_rule
from profkit.samplers.base import (
    SLOWEST_HZ,
    Attachment,
    LiveStacks,
    Recording,
    SegmentFiles,
    default_rate,
    output_name,
    plain_plan,
)
from profkit.samplers.cpython_process import NAME, CPythonProcess
from profkit.samplers.options import SamplerOptions, check_common, check_rate, requested_rate
from profkit.samplers.stack_journal import (
    FEWEST_ROUNDS,
    StackJournal,
    of_one_process,
    partial_notes,
    read_segment,
    recording_of,
)
from profkit.transforms.simplify import build_like, child_frame, without_own_threads

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
            rate_hz, notes = default_rate(DEFAULT_RATE_HZ, affordable_hz, live, cost_s)
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
