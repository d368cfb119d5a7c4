"""Comparison of sampled runs by function: which are tested, and how many more runs would decide.

A share counts as changed if its difference is significant after adjustment for all functions, and at least
two points. The noise is estimated from slices of each run and from the differences between runs of one side;
see `significance`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from profkit.comparing.comparability import (
    MIN_RUNS,
    check,
    count_executions,
    match_functions,
    notes,
    uneven_load,
    warnings,
)
from profkit.comparing.shares import (
    MINIMUM_EFFECT,
    SLICES,
    WORTH_A_TEST,
    Function,
    OfShares,
    RunsOfSides,
    Taken,
    mean_share,
    own_share,
    share_seen,
    shares_of_sides,
    total_share,
)
from profkit.comparing.significance import LEVEL, PRIOR_DF, QuantityCompared, Sides, compare_quantities
from profkit.comparing.time_per_call import call_compared, times_of
from profkit.model.comparison import (
    Change,
    Compared,
    Difference,
    Estimate,
    FunctionComparison,
    Grade,
    SampledComparison,
    Side,
    Undecided,
)
from profkit.model.notes import Finding, FindingCode
from profkit.model.profile import Profile
from profkit.model.run import Run, RunInfo
from profkit.stats.means import t_quantile
from profkit.transforms.combine import side_by_side
from profkit.transforms.tables import functions_seen

_HASH = 10
"""Number of shown digits of a commit."""


def compare_sampled(a: Sequence[Run], b: Sequence[Run]) -> SampledComparison:
    """Compare the runs of two sides; each side's runs should be alike.

    Raises UsageError for sides that cannot be compared: without samples, in different units, or one by the
    wall clock and the other by CPU time.
    """
    check(a, b)
    matched = match_functions([*a, *b])
    profiles_a, profiles_b = matched.profiles[: len(a)], matched.profiles[len(a) :]
    both = side_by_side(profiles_a, profiles_b)
    taken_a, taken_b = _taken(profiles_a, a), _taken(profiles_b, b)
    shares = shares_of_sides(taken_a, taken_b, uneven_load(a, b))
    questions = [_question(shares, function) for function in functions_seen(both)]
    functions = _functions(a, b, questions)
    warned, call_s = warnings(a, b), call_compared(a, b)
    fewest = min(count_executions(run.info for run in side) for side in (a, b))
    grade = Grade.UNCONFIRMED if fewest < MIN_RUNS or warned else Grade.CONFIRMED
    unseen = _unseen(functions)
    inlined = (Finding(FindingCode.COMPREHENSIONS_INLINED),) if matched.inlined else ()
    names = side_names(a, b)
    return SampledComparison(
        a=_side(names[0], a),
        b=_side(names[1], b),
        functions=functions,
        call_s=call_s,
        both=both,
        cwd=a[0].info.process.cwd,
        grade=grade,
        level=LEVEL,
        minimum_effect=MINIMUM_EFFECT,
        unseen=unseen,
        undecided=largest_undecided(functions, (len(a), len(b)), sum(one.tested for one in questions)),
        notes=(*warned, *notes(a, b), *inlined),
    )


def _taken(profiles: Sequence[Profile], runs: Sequence[Run]) -> list[Taken]:
    """Return the samples of each run; it is phased if it has fewer calls than slices, or none known."""
    return [Taken(one, run.info.outermost_calls < SLICES) for one, run in zip(profiles, runs, strict=True)]


def _side(name: str, runs: Sequence[Run]) -> Side:
    weight = sum(run.profile.total_weight for run in runs if run.profile is not None)
    return Side(name, tuple(run.info for run in runs), weight)


def side_names(a: Sequence[Run], b: Sequence[Run]) -> tuple[str, str]:
    """Return names that distinguish the sides: labels, else commits, else ids."""
    namings: tuple[Callable[[RunInfo], str], ...] = (
        lambda info: info.label,
        lambda info: f"{info.label}@{(info.process.git_commit or '')[:_HASH]}",
    )
    for naming in namings:
        of_a, of_b = ({naming(run.info) for run in side} for side in (a, b))
        if len(of_a) == len(of_b) == 1 and of_a != of_b:
            return of_a.pop(), of_b.pop()
    return _by_id(a), _by_id(b)


def _by_id(runs: Sequence[Run]) -> str:
    first = runs[0].info.id
    return first if len(runs) == 1 else f"{first} and {len(runs) - 1} more"


@dataclass(frozen=True, slots=True)
class _Question:
    """A function's own and total shares in each run, and which of them are tested."""

    function: Function
    own: Sides
    total: Sides
    own_tested: bool
    total_tested: bool

    @property
    def tested(self) -> int:
        return self.own_tested + self.total_tested


def _functions(
    a: Sequence[Run], b: Sequence[Run], questions: Sequence[_Question]
) -> tuple[FunctionComparison, ...]:
    pairs = _settled(questions)
    own_s = times_of(a, b, [one.own for one in questions], [one.own_tested for one in questions])
    total_s = times_of(a, b, [one.total for one in questions], [one.total_tested for one in questions])
    compared = (
        FunctionComparison(*one.function, *pair, *times)
        for one, pair, *times in zip(questions, pairs, own_s, total_s, strict=True)
    )
    return tuple(sorted(compared, key=_order))


def _question(shares: RunsOfSides, function: Function) -> _Question:
    own_mean, total_mean = (mean_share(shares, function, of) for of in (own_share, total_share))
    own = _seen(shares, function, own_share, own_mean)
    total = _seen(shares, function, total_share, total_mean)
    tested = own_mean >= WORTH_A_TEST, total_mean >= WORTH_A_TEST and own != total
    return _Question(function, own, total, *tested)


def _seen(shares: RunsOfSides, function: Function, of: OfShares, mean: float) -> Sides:
    a, b = ([share_seen(run, function, of, mean) for run in side] for side in shares)
    return a, b


def _settled(questions: Sequence[_Question]) -> list[tuple[Compared, Compared]]:
    """Compare the own and total share of each function; all are tested together."""
    count = len(questions)
    found = compare_quantities(
        [*(one.own for one in questions), *(one.total for one in questions)],
        [*(one.own_tested for one in questions), *(one.total_tested for one in questions)],
    )
    pairs = []
    for question, own, total in zip(questions, found[:count], found[count:], strict=True):
        # A function that calls nothing has one share, not two.
        total = own if question.own == question.total else total
        pairs.append((_compared(own), _compared(total)))
    return pairs


def _compared(found: QuantityCompared) -> Compared:
    value = found.b.value - found.a.value
    change = Change.of(value, is_real=found.p < LEVEL and abs(value) >= MINIMUM_EFFECT)
    low, high = max(-1.0, value - found.half), min(1.0, value + found.half)
    a, b = (
        Estimate(mean.value, max(0.0, mean.value - mean.half), min(1.0, mean.value + mean.half))
        for mean in (found.a, found.b)
    )
    return Compared(a, b, Difference(value, low, high, found.p, change))


def _order(function: FunctionComparison) -> tuple[bool, bool, float, float, str, str]:
    own, total = function.own.difference, function.total.difference
    difference = function.reported.difference
    return (
        not own.changed,
        not total.changed,
        -abs(difference.value),
        -max(function.total.a.value, function.total.b.value),
        function.name,
        function.file,
    )


def _unseen(functions: Sequence[FunctionComparison]) -> float:
    """Return the widest half of an interval among shares that could have changed."""
    halves = [
        (share.difference.high - share.difference.low) / 2
        for function in functions
        for share in (function.own, function.total)
        if share.a.value + share.b.value >= MINIMUM_EFFECT
    ]
    return max([MINIMUM_EFFECT, *halves]) if halves else math.inf


POWER = 0.8
"""Probability that so many runs find the difference, if it is as large as it seems."""
MOST_RUNS = 30
"""Maximum number of runs per side that is suggested."""


def largest_undecided(
    functions: Iterable[FunctionComparison], sizes: tuple[int, int], tested: int
) -> Undecided | None:
    """Return the largest difference that noise may explain although it is large enough to matter."""
    open_ones = (
        (abs(share.difference.value), function, share.difference)
        for function in functions
        for share in ((function.own, function.total) if not function.changed else ())
        if abs(share.difference.value) >= MINIMUM_EFFECT
    )
    largest = max(open_ones, key=lambda one: one[0], default=None)
    if largest is None:
        return None
    _, function, difference = largest
    return Undecided(
        function.name, function.file, difference.value, runs_to_decide(difference, sizes, tested)
    )


def runs_to_decide(difference: Difference, sizes: tuple[int, int], tested: int) -> int | None:
    """Return the smallest number of runs per side, at least `MIN_RUNS`, that finds such a difference.

    `sizes` are the numbers of runs of both sides, `tested` is that of all tested shares. None if more than
    `MOST_RUNS` would be needed.
    """
    level, half = (
        LEVEL / max(1, tested),
        max(difference.high - difference.value, difference.value - difference.low),
    )
    now = 2 / (1 / sizes[0] + 1 / sizes[1])
    deviation = half / t_quantile(level, _df(now))
    for runs in range(max(MIN_RUNS, math.ceil(now)), MOST_RUNS + 1):
        df = _df(runs)
        needed = t_quantile(level, df) + t_quantile(2 * (1 - POWER), df)
        if abs(difference.value) >= needed * deviation * math.sqrt(now / runs):
            return runs
    return None


def _df(runs: float) -> float:
    return PRIOR_DF + 2 * (runs - 1)
