"""Sentences for the findings of comparisons and the reasons of gates, from their codes and figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from profkit.model.notes import Finding, FindingCode
from profkit.render.formatting import count
from profkit.render.views import sentences
from profkit.render.views.sentences import Figures, Sentence


def finding_text(finding: Finding) -> str:
    """Return a finding's sentence; names in it, which come from the compared programs, are raw."""
    return sentences.text(finding, FINDINGS)


def reasons_text(reasons: Iterable[Finding]) -> str:
    """Return a check's reasons as one sentence."""
    return "; ".join(map(finding_text, reasons))


_ASPECTS = {
    "sampler": "the sampler",
    "blocking": "blocking=",
    "frames": "the frames",
    "threads": "the threads",
}
_SIDES = "A {a:known}; B {b:known}"


def _sampled_differently(figures: Figures) -> str:
    aspect = _ASPECTS[str(figures["aspect"])]
    return figures.fill(f"the sides were sampled differently, which can change shares ({aspect}: {_SIDES})")


def _interpreters_differ(figures: Figures) -> str:
    a, b = (figures[side] or "profkit's own" for side in "ab")
    return f"interpreters differ: A has {a}; B has {b}"


def _numbers_differ(figures: Figures) -> str:
    a, b = figures.integer("a"), figures.integer("b")
    return (
        f"A was counted with {count(a, 'execution')} at a time and B with {b:,}, which changes a count; "
        f"measure both with --number {min(a, b)}"
    )


def _controls_differ(figures: Figures) -> str:
    others = f"; {figures['more']} more" if figures["more"] else ""
    return figures.fill(
        "C++ control statements, which do not depend on the environment, were counted differently "
        f"({{control}}: {{a:,.1f}} and {{b:,.1f}}{others}), so no counts are comparable"
    )


_LEFT_OUT = {
    "kind": "of another kind: sampled, measured or memory",
    "commit": "of another commit",
    "machine": "on another machine",
    "python": "with another Python",
    "torch": "with another torch",
    "options": "recorded with other options",
    "definition": "of other code",
    "failed": "without results",
    "older": "older than enough others",
    "separate": "measured separately, which is less precise",
}
"""Reasons to leave a run out, by the names of figures."""


def _runs_left_out(figures: Figures) -> str:
    numbers = {words: figures.integer(reason) for reason, words in _LEFT_OUT.items() if reason in figures}
    reasons = ", ".join(f"{number:,} {words}" for words, number in numbers.items())
    return f"{figures['side']}: {count(sum(numbers.values()), 'run')} left out ({reasons})"


FINDINGS: Mapping[FindingCode, Sentence] = {
    FindingCode.SAMPLED_DIFFERENTLY: _sampled_differently,
    FindingCode.BIASED_SAMPLES: (
        "some runs were sampled from inside ({runs}: {ways}), others otherwise. Such samples show waiting "
        "and other code without the GIL too often, which alone can change shares"
    ),
    FindingCode.UNEVEN_LOAD: (
        "A used {a:percent} of a core, B {b:percent}: one side waited longer, or the machine was busier, "
        "which changes shares and makes intervals wider"
    ),
    FindingCode.RATES_DIFFER: "sampling rates differ: {low_hz:.0f} to {high_hz:.0f} Hz",
    FindingCode.SAMPLES_UNORDERED: (
        "the order of samples is not known ({runs}), so intervals are twice as wide as for ordered samples"
    ),
    FindingCode.TORN_STACKS: (
        '{share:percent} of the stacks of run {run} were inconsistent ("torn"): its callers may be wrong'
    ),
    FindingCode.COMPREHENSIONS_INLINED: (
        "Python 3.12 and later run list, set and dict comprehensions as part of the function around them; "
        "those of earlier versions are counted as part of it, too"
    ),
    FindingCode.TRACKED_DIFFERENTLY: (
        f"Python objects were tracked differently, which changes all figures: {_SIDES}"
    ),
    FindingCode.VERSIONS_DIFFER: f"{{aspect}} differs: {_SIDES}",
    FindingCode.ENVIRONMENTS_DIFFER: f"environments differ: {_SIDES}",
    FindingCode.INTERPRETERS_DIFFER: _interpreters_differ,
    FindingCode.MACHINES_DIFFER: "measured on different machines ({machines}), which alone changes times",
    FindingCode.CONTROLS_AGREE: (
        "three fixed C++ statements have the same counts on both sides: instruction counts are comparable"
    ),
    FindingCode.CONTROLS_MISSING: (
        "it is not known whether instruction counts are comparable: measure both sides with --python or "
        "--source-cmd, which also counts three fixed C++ statements"
    ),
    FindingCode.SUBMODULES_EMPTY: (
        "submodules are empty in work trees, so their code was not measured at these commits"
    ),
    FindingCode.RUNS_LEFT_OUT: _runs_left_out,
    FindingCode.NOT_MEASURED: lambda figures: str(figures["detail"] or "it has no numbers"),
    FindingCode.MODES_DIFFER: "one side was timed, the other's instructions were counted",
    FindingCode.TIMES_NOT_COMPARABLE: "{detail}",
    FindingCode.NUMBERS_DIFFER: _numbers_differ,
    FindingCode.PRELOADS_DIFFER: (
        "A was counted in processes with {a} preloaded, B in ones with {b}; measure both with the same "
        "--imports"
    ),
    FindingCode.CONTROLS_DIFFER: _controls_differ,
    FindingCode.WITHIN_LIMIT: "within the limit of {limit:limit}",
    FindingCode.SLOWER_THAN_LIMIT: "at least {at_least:limit} slower; the limit is {limit:limit}",
    FindingCode.MORE_INSTRUCTIONS: "{change:limit} more instructions; the limit is {limit:limit}",
    FindingCode.FASTER_THAN_LIMIT: "faster by more than {limit:limit}: renew the baseline",
    FindingCode.FEWER_INSTRUCTIONS: "fewer instructions by more than {limit:limit}: renew the baseline",
    FindingCode.LIMIT_IN_INTERVAL: (
        "the interval, {low:change} to {high:change}, contains the limit of {limit:limit}"
    ),
    FindingCode.WITHIN_DRIFT: (
        "slower than the limit, but by less than the {drift:limit} that the machine can cause"
    ),
    FindingCode.BY_CHANCE: "slower than the limit, but unchanged code differs as much too often",
    FindingCode.COUNTS_AGREE: "no more than counts of unchanged code differ",
    FindingCode.BASELINE_EMPTY: "the baseline executes no instructions",
    FindingCode.MORE_MEMORY: "a peak {change:limit} higher; the limit is {limit:limit}",
    FindingCode.LESS_MEMORY: "a lower peak by more than {limit:limit}: renew the baseline",
    FindingCode.PEAKS_AGREE: "a difference of less than 1 %, or of {least_bytes:bytes}, can be chance",
    FindingCode.TOO_FEW_PROCESSES: "{processes:count process} measured; at least {needed} are needed",
    FindingCode.CALLS_UNKNOWN: "the durations of calls are not known on both sides",
    FindingCode.SINGLE_RUN: "single runs may differ by {noise:percent}",
    FindingCode.SHORT_DIFFERENCE: (
        "slower by {slower_s:duration} per call, and single calls differ by up to "
        "{least_s:duration} when the machine is busy"
    ),
    FindingCode.MEASURE_THE_CALL: "measure the call instead of sampling it",
    FindingCode.MEASURE_MORE_PROCESSES: "measure with more --processes",
    FindingCode.MEASURE_ALTERNATELY: (
        "measure both alternately with `profkit compare --git`, or in {runs} runs per side"
    ),
    FindingCode.RECORD_MORE_RUNS: "record more runs of both sides, and name them all: LABEL@REVISION",
    FindingCode.STEADY_THE_STATEMENT: "make the statement do the same in each execution",
    FindingCode.TRACK_OBJECTS: (
        "give all calls the same input, or track each Python object (python_allocators=True)"
    ),
    FindingCode.SEED_THE_INPUT: (
        "seed what it reads, because its count depends on its input ({least:amount} to {most:amount} in runs "
        "of one commit)"
    ),
}
