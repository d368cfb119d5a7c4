"""Findings of comparisons and gates: codes with figures; reports put them into words."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from profkit.model.notes import Figure


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
