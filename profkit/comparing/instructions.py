"""What B executes more, or less, than A: in all, and function by function, the largest difference first."""

from __future__ import annotations

from collections.abc import Sequence

from profkit.comparing.instruction_calls import call_deltas
from profkit.comparing.steadiness import LEAST_DELTA, LEAST_EFFECT, noise_of_repeats, noise_of_runs
from profkit.comparing.timings import times_text
from profkit.model.comparison import CountsCompared, CountSpread, FunctionDelta, Verdict
from profkit.model.measurement import InstructionCounts
from profkit.transforms.counts import FunctionCounts, InstructionStats, is_allocator


def compare_counts(
    a: Sequence[InstructionCounts],
    b: Sequence[InstructionCounts],
    *,
    elsewhere: bool = False,
    spread: CountSpread | None = None,
) -> CountsCompared:
    """Compare B's counts with A's; of several runs a side the one with the fewest instructions is taken.

    Only counts of equal numbers of executions compare: if there are such, others are left out.
    Where the two sides were counted in different environments, functions are matched by standard names.
    `elsewhere`: they were, also if nothing in the counts tells so. `spread`: how runs of one commit differed.
    """
    of_a, of_b = _alike(a, b)
    standardized = elsewhere or of_a.measured_in != of_b.measured_in
    functions = _functions(of_a, standardized), _functions(of_b, standardized)
    unsure = max(noise_of_repeats(of_a), noise_of_repeats(of_b), noise_of_runs(spread))
    unstable, effect = _unstable(of_a, of_b), max(LEAST_EFFECT, unsure)
    verdict = Verdict.NOT_COMPARED if unstable else _verdict(of_a.stripped, of_b.stripped, effect)
    differs = verdict in (Verdict.SLOWER, Verdict.FASTER)
    return CountsCompared(
        a=of_a.stripped,
        b=of_b.stripped,
        verdict=verdict,
        sentence=_said(of_a.stripped, of_b.stripped, verdict, effect),
        functions=_deltas(*(side.filter(lambda name: not is_allocator(name)) for side in functions)),
        allocators=FunctionDelta("memory allocators", *(_allocating(side) for side in functions)),
        standardized=standardized,
        unsure=unsure,
        unstable=unstable,
        spread=spread,
        calls=call_deltas(of_a, of_b, standardized=standardized) if differs else (),
    )


def _unstable(a: InstructionCounts, b: InstructionCounts) -> str:
    """Return why the two sides do not compare; empty if they do."""
    if a.number != b.number:
        return (
            f"measurements do not compare: A counted {a.number} executions at a time and B {b.number}, which "
            f"changes a count; measure both sides with --number {min(a.number, b.number)}"
        )
    preloads = [side.measured_in.preload.value for side in (a, b)]
    if preloads[0] != preloads[1]:
        return (
            f"measurements do not compare: A was counted in a zygote that preloads {preloads[0]}, B in one "
            f"with {preloads[1]}; measure both sides with the same --imports"
        )
    before = {sentry.name: sentry.instructions for sentry in a.sentries}
    told = [
        f"{sentry.name} {before[sentry.name]:,.1f} and {sentry.instructions:,.1f}"
        for sentry in b.sentries
        if before.get(sentry.name, sentry.instructions) != sentry.instructions
    ]
    if not told:
        return ""
    return (
        f"measurements are unstable: C++ statements that use nothing of an environment counted differently "
        f"({', '.join(told)}), so nothing else compares"
    )


def _alike(
    a: Sequence[InstructionCounts], b: Sequence[InstructionCounts]
) -> tuple[InstructionCounts, InstructionCounts]:
    """The least counts of both sides, of the largest number of executions that both have."""
    common = {counts.number for counts in a} & {counts.number for counts in b}
    sides = [[counts for counts in side if not common or counts.number == max(common)] for side in (a, b)]
    least_a, least_b = (min(side, key=lambda counts: counts.stripped) for side in sides)
    return least_a, least_b


def _functions(counts: InstructionCounts, standardized: bool) -> FunctionCounts:
    stats = InstructionStats.of(counts)
    return (stats.as_standardized() if standardized else stats).counts(inclusive=False)


def _deltas(a: FunctionCounts, b: FunctionCounts) -> tuple[FunctionDelta, ...]:
    before, after = ({row.name: row.instructions for row in side.rows} for side in (a, b))
    every = (FunctionDelta(name, before.get(name, 0.0), after.get(name, 0.0)) for name in {**before, **after})
    changed = [row for row in every if abs(row.delta) >= LEAST_DELTA]
    return tuple(sorted(changed, key=lambda row: (-abs(row.delta), row.name)))


def _allocating(side: FunctionCounts) -> float:
    return side.filter(is_allocator).sum()


def _verdict(a: float, b: float, effect: float) -> Verdict:
    if abs(b - a) < LEAST_DELTA or (b <= a * (1 + effect) and a <= b * (1 + effect)):
        return Verdict.NO_DIFFERENCE
    return Verdict.SLOWER if b > a else Verdict.FASTER


def _said(a: float, b: float, verdict: Verdict, effect: float) -> str:
    if verdict is Verdict.NOT_COMPARED:
        return "counts do not compare"
    if verdict is Verdict.NO_DIFFERENCE:
        return f"executes as many instructions, to within {100 * effect:.2g} %"
    if a <= 0 or not 0.5 < b / a < 2:
        times = f"{times_text(b / a)} times as many" if a > 0 else "new"
        return f"executes {times} instructions"
    word = "more" if b > a else "fewer"
    return f"executes {100 * abs(b / a - 1):.2f} % {word} instructions"
