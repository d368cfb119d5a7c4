"""Notes on runs: codes with figures; reports put them into words."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TypeAlias

Figure: TypeAlias = int | float | str
"""Figure of a note or warning: a number, a name from the program, or a message from elsewhere."""


class NoteCode(enum.Enum):
    """Subject of a note; the value is the word in files and JSON.

    A comment after a code names its figures.
    """

    # Settings of the sampler.
    NONBLOCKING_COST = "nonblocking-cost"  # rate_hz, frames, threads, share
    NONBLOCKING_BUSY = "nonblocking-busy"  # rate_hz, wait_s
    NONBLOCKING_IDLE = "nonblocking-idle"
    NONBLOCKING_SOCKETS = "nonblocking-sockets"
    BLOCKING_NOT_KEPT = "blocking-not-kept"
    BLOCKING_COST = "blocking-cost"  # share
    THREADS_WOKEN = "threads-woken"
    TIMEOUTS_RESTART = "timeouts-restart"
    SHARED_HOST = "shared-host"  # rate_hz, samplers, share
    CROWDED_HOST = "crowded-host"  # rate_hz, processes; only of runs that an earlier version kept
    LONG_ROUNDS = "long-rounds"  # rate_hz, usual_hz, frames, threads
    CPU_TIME_ONLY = "cpu-time-only"

    # Course of a session.
    STARTED_TWICE = "started-twice"  # sampler, segment, detail
    SAMPLER_INTERRUPTED = "sampler-interrupted"  # detail
    SAMPLER_LATE = "sampler-late"  # behind_s
    SAMPLER_REPLACED = "sampler-replaced"  # sampler, by, detail
    SAMPLED_INSIDE = "sampled-inside"  # kind, gil, detail: better ways that failed
    SAMPLED_RARELY = "sampled-rarely"  # rate_hz, requested_hz
    NOT_SAMPLED = "not-sampled"  # detail
    STACKS_CUT = "stacks-cut"
    ROUNDS_REPEATED = "rounds-repeated"  # repeated, rounds: including repeated ones
    ROUNDS_DROPPED = "rounds-dropped"  # dropped, rounds: including dropped ones, functions
    ROUNDS_PARTIAL = "rounds-partial"  # partial, rounds: including partial ones
    CHILDREN_LEFT_OUT = "children-left-out"  # processes, detail
    CHILDREN_UNSAMPLED = "children-unsampled"  # processes: 0 if unknown, cpu_s
    SEGMENT_FAILED = "segment-failed"  # segment, detail
    OTHER_OPTIONS = "other-options"  # label
    SAME_LINES = "same-lines"  # label, other, function
    DURATION_REACHED = "duration-reached"  # max_duration_s
    MINUTES_KEPT = "minutes-kept"
    PROCESS_ENDED = "process-ended"

    # Losses and their recovery.
    FILE_UNREADABLE = "file-unreadable"  # file
    MANIFEST_UNREADABLE = "manifest-unreadable"
    REGION_FROM_SAMPLES = "region-from-samples"
    REGION_FROM_CALLS = "region-from-calls"
    REGIONS_LOST = "regions-lost"

    # Calls and samples of a region.
    TORN = "torn"  # torn, samples: including torn ones
    CALLS_COMPILED = "calls-compiled"  # label
    NO_CALL_FINISHED = "no-call-finished"
    NO_PYTHON_FRAMES = "no-python-frames"  # function, native
    IN_PROCESS = "in-process"  # detail

    # Executions of a measured program.
    EXIT_CODES_IGNORED = "exit-codes-ignored"  # failed, executions, exit_code: of the last failed one

    # Content of an imported file.
    CALL_GRAPH = "call-graph"
    CALL_GRAPH_RECURSION = "call-graph-recursion"
    TREE_APPROXIMATED = "tree-approximated"  # unit
    STACKS_SHORTENED = "stacks-shortened"  # frames
    STACKS_APPROXIMATED = "stacks-approximated"
    EVENT_COUNTED = "event-counted"  # event
    SHORT_CALLS_LEFT_OUT = "short-calls-left-out"
    SHARES_ONLY = "shares-only"
    FREED_MEMORY_LEFT_OUT = "freed-memory-left-out"
    TIME_ONLY = "time-only"
    VALUES_LEFT_OUT = "values-left-out"  # kept, left_out
    LABELS_LEFT_OUT = "labels-left-out"  # labels
    TIMELINE_LEFT_OUT = "timeline-left-out"

    # Other runs: those of the label, and those of a merged run. These are made for reports, and not kept.
    OTHER_VERSION = "other-version"  # run, started_ns, more
    OTHER_PYTHON = "other-python"  # run, started_ns, more, python
    OTHER_PLACE = "other-place"  # run, started_ns, more, file, line
    OTHER_CODE = "other-code"  # run, started_ns, more
    MORE_SAMPLES = "more-samples"  # label, samples, all_samples, runs; or runs_at_least instead of runs
    COMPREHENSIONS_INLINED = "comprehensions-inlined"
    RUN_FAILED = "run-failed"  # detail
    MORE_NOTES = "more-notes"  # notes


_WARNINGS = frozenset({
    NoteCode.SAMPLER_INTERRUPTED, NoteCode.SAMPLER_LATE, NoteCode.SAMPLED_INSIDE, NoteCode.SAMPLED_RARELY,
    NoteCode.NOT_SAMPLED, NoteCode.STACKS_CUT, NoteCode.ROUNDS_DROPPED, NoteCode.ROUNDS_PARTIAL,
    NoteCode.CHILDREN_LEFT_OUT, NoteCode.CHILDREN_UNSAMPLED, NoteCode.SEGMENT_FAILED, NoteCode.SAME_LINES,
    NoteCode.PROCESS_ENDED, NoteCode.DURATION_REACHED,
    NoteCode.FILE_UNREADABLE, NoteCode.MANIFEST_UNREADABLE, NoteCode.REGION_FROM_SAMPLES,
    NoteCode.REGION_FROM_CALLS, NoteCode.REGIONS_LOST, NoteCode.TORN, NoteCode.CALLS_COMPILED,
    NoteCode.RUN_FAILED, NoteCode.EXIT_CODES_IGNORED,
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Note:
    """Remark on a run for the reader of a report, as a code and its figures.

    The figures `in_runs` and `of_runs` are added if it holds for some runs of a merged run.
    """

    code: NoteCode
    figures: tuple[tuple[str, Figure], ...] = ()

    @classmethod
    def of(cls, code: NoteCode, **figures: Figure) -> Note:
        """Return a note with figures by name."""
        return cls(code, tuple(figures.items()))


def is_warning(note: Note) -> bool:
    """Return whether samples or calls are missing, or some code has too many samples."""
    # A subinterpreter reads all threads as a sampler outside would.
    return note.code in _WARNINGS and ("kind", "interpreter") not in note.figures
