"""Notes on runs, findings of comparisons and gates: codes with figures; which notes are warnings."""

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
    JOBS_MERGED = "jobs-merged"  # jobs
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


class FindingCode(enum.Enum):
    """Subject of a finding; the value is the word in JSON.

    A comment after a code names its figures.
    """

    # Differences between sampled sides, other than their code.
    SAMPLED_DIFFERENTLY = "sampled-differently"  # aspect, a, b
    BIASED_SAMPLES = (
        "biased-samples"  # runs, ways: of those sampled from inside; others were sampled otherwise
    )
    UNEVEN_LOAD = "uneven-load"  # a, b: used shares of a core
    RATES_DIFFER = "rates-differ"  # low_hz, high_hz
    SAMPLES_UNORDERED = "samples-unordered"  # runs
    TORN_STACKS = "torn-stacks"  # run, share
    COMPREHENSIONS_INLINED = "comprehensions-inlined"
    VERSIONS_DIFFER = "versions-differ"  # aspect, a, b

    TRACKED_DIFFERENTLY = "tracked-differently"  # a, b: which Python objects were tracked

    # Differences between measured sides, other than their code.
    ENVIRONMENTS_DIFFER = "environments-differ"  # a, b
    INTERPRETERS_DIFFER = "interpreters-differ"  # a, b; empty for profkit's own
    MACHINES_DIFFER = "machines-differ"  # machines
    CONTROLS_AGREE = "controls-agree"
    CONTROLS_MISSING = "controls-missing"
    SUBMODULES_EMPTY = "submodules-empty"

    # What of the requested runs is not compared.
    RUNS_LEFT_OUT = "runs-left-out"  # side, and numbers of runs by reason

    # Obstacles to a comparison.
    NOT_MEASURED = "not-measured"  # detail
    MODES_DIFFER = "modes-differ"
    TIMES_NOT_COMPARABLE = "times-not-comparable"  # detail
    NUMBERS_DIFFER = "numbers-differ"  # a, b: executions counted at a time
    PRELOADS_DIFFER = "preloads-differ"  # a, b
    CONTROLS_DIFFER = "controls-differ"  # control, a, b: instructions; more: other controls that differ

    # Reasons for the outcome of a gate.
    WITHIN_LIMIT = "within-limit"  # limit
    SLOWER_THAN_LIMIT = "slower-than-limit"  # at_least, limit
    MORE_INSTRUCTIONS = "more-instructions"  # change, limit
    FASTER_THAN_LIMIT = "faster-than-limit"  # limit
    FEWER_INSTRUCTIONS = "fewer-instructions"  # limit
    LIMIT_IN_INTERVAL = "limit-in-interval"  # limit, low, high: ratios
    WITHIN_DRIFT = "within-drift"  # drift
    BY_CHANCE = "by-chance"
    COUNTS_AGREE = "counts-agree"
    BASELINE_EMPTY = "baseline-empty"
    MORE_MEMORY = "more-memory"  # change, limit
    LESS_MEMORY = "less-memory"  # limit
    PEAKS_AGREE = "peaks-agree"  # least_bytes
    TOO_FEW_PROCESSES = "too-few-processes"  # processes, needed
    CALLS_UNKNOWN = "calls-unknown"
    SINGLE_RUN = "single-run"  # noise
    SHORT_DIFFERENCE = "short-difference"  # slower_s, least_s

    # What makes an inconclusive gate conclusive.
    MEASURE_MORE_PROCESSES = "measure-more-processes"
    MEASURE_ALTERNATELY = "measure-alternately"  # runs
    RECORD_MORE_RUNS = "record-more-runs"
    MEASURE_THE_CALL = "measure-the-call"
    STEADY_THE_STATEMENT = "steady-the-statement"
    TRACK_OBJECTS = "track-objects"
    SEED_THE_INPUT = "seed-the-input"  # least, most: instructions in runs of one commit


@dataclass(frozen=True, slots=True)
class Finding:
    """Remark on a comparison, obstacle to it, or reason for a gate's outcome."""

    code: FindingCode
    figures: tuple[tuple[str, Figure], ...] = ()

    @classmethod
    def of(cls, code: FindingCode, **figures: Figure) -> Finding:
        """Return a finding with figures by name."""
        return cls(code, tuple(figures.items()))
