"""Sentences for the findings of comparisons and the reasons of gates, from their codes and figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from profkit.model.notes import Finding, FindingCode
from profkit.render.formatting import change, count, count_text
from profkit.render.views import sentences
from profkit.render.views.sentences import Figures, Sentence
from profkit.units import format_bytes, format_duration


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


def _sampled_differently(figures: Figures) -> str:
    aspect = _ASPECTS[str(figures["aspect"])]
    return f"the sides were sampled differently, which can change shares ({aspect}: {_sides(figures)})"


def _biased_samples(figures: Figures) -> str:
    return (
        f"some runs were sampled from inside ({figures['runs']}: {figures['ways']}), others otherwise. Such "
        "samples show waiting and other code without the GIL too often, which alone can change shares"
    )


def _uneven_load(figures: Figures) -> str:
    return (
        f"A used {figures.percent('a')} of a core, B {figures.percent('b')}: one side waited longer, or the "
        "machine was busier, which changes shares and makes intervals wider"
    )


def _rates_differ(figures: Figures) -> str:
    low, high = figures.number("low_hz"), figures.number("high_hz")
    return f"sampling rates differ: {low:.0f} to {high:.0f} Hz"


def _samples_unordered(figures: Figures) -> str:
    return (
        f"the order of samples is not known ({figures['runs']}), so intervals are twice as wide as for "
        "ordered samples"
    )


def _torn_stacks(figures: Figures) -> str:
    return (
        f'{figures.percent()} of the stacks of run {figures["run"]} were inconsistent ("torn"): its '
        "callers may be wrong"
    )


def _sides(figures: Figures) -> str:
    return f"A {figures['a'] or 'not known'}; B {figures['b'] or 'not known'}"


def _interpreters_differ(figures: Figures) -> str:
    a, b = (figures[side] or "profkit's own" for side in "ab")
    return f"interpreters differ: A has {a}; B has {b}"


def _numbers_differ(figures: Figures) -> str:
    a, b = figures.integer("a"), figures.integer("b")
    return (
        f"A was counted with {count(a, 'execution')} at a time and B with {b:,}, which changes a count; "
        f"measure both with --number {min(a, b)}"
    )


def _preloads_differ(figures: Figures) -> str:
    return (
        f"A was counted in processes with {figures['a']} preloaded, B in ones with {figures['b']}; "
        "measure both with the same --imports"
    )


def _controls_differ(figures: Figures) -> str:
    a, b = (f"{figures.number(side):,.1f}" for side in "ab")
    others = f"; {figures['more']} more" if figures["more"] else ""
    return (
        "C++ control statements, which do not depend on the environment, were counted differently "
        f"({figures['control']}: {a} and {b}{others}), so no counts are comparable"
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


def _limit_in_interval(figures: Figures) -> str:
    low, high = change(figures.number("low")), change(figures.number("high"))
    return f"the interval, {low} to {high}, contains the limit of {_limit(figures)}"


def _seed_the_input(figures: Figures) -> str:
    least, most = count_text(figures.number("least")), count_text(figures.number("most"))
    return (
        f"seed what it reads, because its count depends on its input ({least} to {most} in runs of one "
        "commit)"
    )


def _limit(figures: Figures, name: str = "limit") -> str:
    return f"{100 * figures.number(name):.3g} %"


FINDINGS: Mapping[FindingCode, Sentence] = {
    FindingCode.SAMPLED_DIFFERENTLY: _sampled_differently,
    FindingCode.BIASED_SAMPLES: _biased_samples,
    FindingCode.UNEVEN_LOAD: _uneven_load,
    FindingCode.RATES_DIFFER: _rates_differ,
    FindingCode.SAMPLES_UNORDERED: _samples_unordered,
    FindingCode.TORN_STACKS: _torn_stacks,
    FindingCode.COMPREHENSIONS_INLINED: (
        "Python 3.12 and later run list, set and dict comprehensions as part of the function around them; "
        "those of earlier versions are counted as part of it, too"
    ),
    FindingCode.TRACKED_DIFFERENTLY: lambda figures: (
        f"Python objects were tracked differently, which changes all figures: {_sides(figures)}"
    ),
    FindingCode.VERSIONS_DIFFER: lambda figures: f"{figures['aspect']} differs: {_sides(figures)}",
    FindingCode.ENVIRONMENTS_DIFFER: lambda figures: f"environments differ: {_sides(figures)}",
    FindingCode.INTERPRETERS_DIFFER: _interpreters_differ,
    FindingCode.MACHINES_DIFFER: lambda figures: (
        f"measured on different machines ({figures['machines']}), which alone changes times"
    ),
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
    FindingCode.TIMES_NOT_COMPARABLE: lambda figures: str(figures["detail"]),
    FindingCode.NUMBERS_DIFFER: _numbers_differ,
    FindingCode.PRELOADS_DIFFER: _preloads_differ,
    FindingCode.CONTROLS_DIFFER: _controls_differ,
    FindingCode.WITHIN_LIMIT: lambda figures: f"within the limit of {_limit(figures)}",
    FindingCode.SLOWER_THAN_LIMIT: lambda figures: (
        f"at least {_limit(figures, 'at_least')} slower; the limit is {_limit(figures)}"
    ),
    FindingCode.MORE_INSTRUCTIONS: lambda figures: (
        f"{_limit(figures, 'change')} more instructions; the limit is {_limit(figures)}"
    ),
    FindingCode.FASTER_THAN_LIMIT: lambda figures: (
        f"faster by more than {_limit(figures)}: renew the baseline"
    ),
    FindingCode.FEWER_INSTRUCTIONS: lambda figures: (
        f"fewer instructions by more than {_limit(figures)}: renew the baseline"
    ),
    FindingCode.LIMIT_IN_INTERVAL: _limit_in_interval,
    FindingCode.WITHIN_DRIFT: lambda figures: (
        f"slower than the limit, but by less than the {_limit(figures, 'drift')} that the machine can cause"
    ),
    FindingCode.BY_CHANCE: "slower than the limit, but unchanged code differs as much too often",
    FindingCode.COUNTS_AGREE: "no more than counts of unchanged code differ",
    FindingCode.BASELINE_EMPTY: "the baseline executes no instructions",
    FindingCode.MORE_MEMORY: lambda figures: (
        f"a peak {_limit(figures, 'change')} higher; the limit is {_limit(figures)}"
    ),
    FindingCode.LESS_MEMORY: lambda figures: (
        f"a lower peak by more than {_limit(figures)}: renew the baseline"
    ),
    FindingCode.PEAKS_AGREE: lambda figures: (
        f"a difference of less than 1 %, or of {format_bytes(figures.number('least_bytes'))}, can be chance"
    ),
    FindingCode.TOO_FEW_PROCESSES: lambda figures: (
        f"{count(figures.integer('processes'), 'process')} measured; at least {figures['needed']} are needed"
    ),
    FindingCode.CALLS_UNKNOWN: "the durations of calls are not known on both sides",
    FindingCode.SINGLE_RUN: lambda figures: f"single runs may differ by {figures.percent('noise')}",
    FindingCode.SHORT_DIFFERENCE: lambda figures: (
        f"slower by {format_duration(figures.number('slower_s'))} per call, and single calls differ by up to "
        f"{format_duration(figures.number('least_s'))} when the machine is busy"
    ),
    FindingCode.MEASURE_THE_CALL: "measure the call instead of sampling it",
    FindingCode.MEASURE_MORE_PROCESSES: "measure with more --processes",
    FindingCode.MEASURE_ALTERNATELY: lambda figures: (
        f"measure both alternately with `profkit compare --git`, or in {figures['runs']} runs per side"
    ),
    FindingCode.RECORD_MORE_RUNS: "record more runs of both sides, and name them all: LABEL@REVISION",
    FindingCode.STEADY_THE_STATEMENT: "make the statement do the same in each execution",
    FindingCode.TRACK_OBJECTS: (
        "give all calls the same input, or track each Python object (python_allocators=True)"
    ),
    FindingCode.SEED_THE_INPUT: _seed_the_input,
}
