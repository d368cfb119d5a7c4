"""Comparison of instruction counts: which differences of totals, functions and calls exceed noise."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from profkit.model.comparison import (
    CallDelta,
    CountsCompared,
    CountSpread,
    FunctionDelta,
    PythonFunctionDelta,
    Verdict,
)
from profkit.model.function_counts import PythonFunctionCount
from profkit.model.measurement import InstructionCounts, MeasuredRun, relative_range
from profkit.model.notes import Finding, FindingCode
from profkit.model.profile import Frame, Node
from profkit.transforms.call_graphs import unfold_counts
from profkit.transforms.copies import join_copies
from profkit.transforms.counts import is_allocator
from profkit.transforms.identity import file_identity, without_comprehensions
from profkit.transforms.origin import standard_file, standard_name
from profkit.transforms.trees import call_tree

MIN_EFFECT = 0.001
"""Minimum effect: without memory allocators, counts of a statement agree to some hundredths of a per cent."""

FEW_TIMES, MANY_TIMES = 10, 3
"""Factors on the range of a few values, or of at least `_MANY`: bounds of chance differences between minima.

Simulated: exceeded once in a thousand pairs of sides, or once in 200 pairs of a few.
"""
_MANY = 4


def spread_of_runs(runs: Iterable[MeasuredRun]) -> CountSpread | None:
    """Return the largest spread of runs of one commit that exceeds `MIN_EFFECT`; None if there is none.

    Runs without a commit are left out: their code may have changed.
    """
    groups: dict[object, list[float]] = {}
    for run in runs:
        counts = None if run.measurement is None else run.measurement.instructions
        if counts is not None and run.info.process.git_commit:
            groups.setdefault(_sameness(run, counts), []).append(counts.stripped)
    spreads = [CountSpread(min(group), max(group), len(group)) for group in groups.values()]
    return max(filter(_differs, spreads), key=lambda spread: spread.part, default=None)


def repeats_agree(repeats: Sequence[int]) -> bool:
    """Return whether repeats differ by no more than repeats of a statement that always does the same."""
    return relative_range(repeats) <= MIN_EFFECT


def noise_of_repeats(counts: InstructionCounts) -> float:
    """Return the part by which another measurement may differ, estimated from repeats."""
    part = relative_range(counts.repeats)
    differ = counts.processes > 1 and not repeats_agree(counts.repeats)
    return part * _times(counts.processes) if differ else part


def noise_of_runs(spread: CountSpread | None) -> float:
    """Return the part by which another run may differ, estimated from runs of one commit."""
    return spread.part * _times(spread.runs) if spread is not None else 0.0


def widest(*spreads: CountSpread | None) -> CountSpread | None:
    """Return the spread with the largest relative width; None if there is none."""
    known: Sequence[CountSpread] = [spread for spread in spreads if spread is not None]
    return max(known, key=lambda spread: spread.part, default=None)


def _times(values: int) -> int:
    return MANY_TIMES if values >= _MANY else FEW_TIMES


def _sameness(run: MeasuredRun, counts: InstructionCounts) -> object:
    order = run.info.order
    definition = order.label, order.labels, order.what, order.setup, order.global_setup, order.language
    place = order.source_cmd, order.python, order.env, counts.measured_in, run.info.process.host
    return run.info.process.git_commit, definition, order.level, place, counts.number


def _differs(spread: CountSpread) -> bool:
    return spread.part > MIN_EFFECT and spread.most - spread.least >= MIN_DELTA


def compare_counts(
    a: Sequence[InstructionCounts],
    b: Sequence[InstructionCounts],
    *,
    elsewhere: bool = False,
    spread: CountSpread | None = None,
) -> CountsCompared:
    """Compare B's counts with A's; of several runs per side the one with the fewest instructions is used.

    Only counts of equal numbers of executions compare: if there are such, others are left out.
    If the sides were counted in different environments, functions are matched by standard names, and parts
    and copies of a function that a compiler made count as the function.
    `elsewhere`: they were, even if the counts do not show it. `spread`: differences of runs of one commit.
    """
    of_a, of_b = _alike(a, b)
    standardized = elsewhere or of_a.measured_in != of_b.measured_in
    if standardized:
        of_a, of_b = join_copies(of_a), join_copies(of_b)
    functions = _by_name(of_a, standardized), _by_name(of_b, standardized)
    noise = max(noise_of_repeats(of_a), noise_of_repeats(of_b), noise_of_runs(spread))
    obstacle, effect = _obstacle(of_a, of_b), max(MIN_EFFECT, noise)
    verdict = Verdict.NOT_COMPARED if obstacle else _verdict(of_a.stripped, of_b.stripped, effect)
    differs = verdict in (Verdict.SLOWER, Verdict.FASTER)
    return CountsCompared(
        a=of_a.stripped,
        b=of_b.stripped,
        verdict=verdict,
        minimum_effect=effect,
        functions=_deltas(*functions),
        allocators=FunctionDelta("memory allocators", *(_allocating(side) for side in functions)),
        standardized=standardized,
        noise=noise,
        obstacle=obstacle,
        spread=spread,
        calls=call_deltas(of_a, of_b, standardized=standardized) if differs else (),
        python=python_deltas(of_a, of_b) if differs else (),
    )


def _obstacle(a: InstructionCounts, b: InstructionCounts) -> Finding | None:
    if a.number != b.number:
        return Finding.of(FindingCode.NUMBERS_DIFFER, a=a.number, b=b.number)
    preloads = [side.measured_in.preload.value for side in (a, b)]
    if preloads[0] != preloads[1]:
        return Finding.of(FindingCode.PRELOADS_DIFFER, a=preloads[0], b=preloads[1])
    before = {control.name: control.instructions for control in a.controls}
    differing = [
        (control.name, before[control.name], control.instructions)
        for control in b.controls
        if before.get(control.name, control.instructions) != control.instructions
    ]
    if not differing:
        return None
    name, of_a, of_b = differing[0]
    return Finding.of(FindingCode.CONTROLS_DIFFER, control=name, a=of_a, b=of_b, more=len(differing) - 1)


def _alike(
    a: Sequence[InstructionCounts], b: Sequence[InstructionCounts]
) -> tuple[InstructionCounts, InstructionCounts]:
    """Return the smallest counts of both sides, for the largest number of executions they share."""
    common = {counts.number for counts in a} & {counts.number for counts in b}
    sides = [[counts for counts in side if not common or counts.number == max(common)] for side in (a, b)]
    least_a, least_b = (min(side, key=lambda counts: counts.stripped) for side in sides)
    return least_a, least_b


def _by_name(counts: InstructionCounts, standardized: bool) -> Mapping[str, float]:
    """Return instructions by function; functions without a name are named after their shared object."""
    found: defaultdict[str, float] = defaultdict(float)
    for row in counts.functions:
        found[standard_name(row.name, row.object) if standardized else row.name] += row.exclusive
    return found


def _deltas(a: Mapping[str, float], b: Mapping[str, float]) -> tuple[FunctionDelta, ...]:
    names = (name for name in {**a, **b} if not is_allocator(name))
    every = (FunctionDelta(name, a.get(name, 0.0), b.get(name, 0.0)) for name in names)
    changed = [row for row in every if abs(row.delta) >= MIN_DELTA]
    return tuple(sorted(changed, key=lambda row: (-abs(row.delta), row.name)))


def _allocating(side: Mapping[str, float]) -> float:
    return sum(instructions for name, instructions in side.items() if is_allocator(name))


def _verdict(a: float, b: float, effect: float) -> Verdict:
    if abs(b - a) < MIN_DELTA or (b <= a * (1 + effect) and a <= b * (1 + effect)):
        return Verdict.NO_DIFFERENCE
    return Verdict.SLOWER if b > a else Verdict.FASTER


_MIN_PART = 0.1
"""Part of the largest difference below which calls are left out."""


@dataclass(slots=True)
class _Call:
    frame: Frame
    a: int
    b: int
    children: list[_Call] = field(default_factory=list)

    @property
    def delta(self) -> int:
        return self.b - self.a


def call_deltas(a: InstructionCounts, b: InstructionCounts, *, standardized: bool) -> tuple[CallDelta, ...]:
    """Return the calls whose instructions differ, including callees but not memory allocators.

    Callers precede callees; siblings are sorted by difference, the largest first. In a chain of single calls
    with the same difference, only the last is kept. Empty if no calls are known.
    """
    if not (a.calls and b.calls):
        return ()
    root = _joined(_tree(a), _tree(b), standard_file if standardized else str)
    _prune(root)
    return tuple(_rows(root))


def _tree(counts: InstructionCounts) -> Node:
    functions = (
        replace(row, exclusive=0.0) if is_allocator(row.name, row.object) else row for row in counts.functions
    )
    return call_tree(unfold_counts(replace(counts, functions=tuple(functions))))


def _joined(a: Node, b: Node, file_of: Callable[[str], str]) -> _Call:
    """Join both trees: calls of the same function below the same callers are one call."""
    root = _Call(a.frame, a.total_weight, b.total_weight)
    pending: list[tuple[_Call, Node | None, Node | None]] = [(root, a, b)]
    while pending:
        call, *sides = pending.pop()
        left, right = (
            {
                (child.frame.name, file_of(child.frame.file)): child
                for child in (side.children if side else ())
            }
            for side in sides
        )
        for name in dict.fromkeys((*left, *right)):
            of_a, of_b = left.get(name), right.get(name)
            frame = (of_b or of_a or a).frame
            child = _Call(frame, of_a.total_weight if of_a else 0, of_b.total_weight if of_b else 0)
            call.children.append(child)
            pending.append((child, of_a, of_b))
    return root


def _prune(root: _Call) -> None:
    """Keep only calls that differ enough, and their callers."""
    order, pending = list[_Call](), [root]
    while pending:
        order.append(call := pending.pop())
        pending += call.children
    least = max(1.0, _MIN_PART * max(abs(call.delta) for call in order))
    for call in reversed(order):
        kept = [child for child in call.children if child.children or abs(child.delta) >= least]
        call.children = sorted(kept, key=lambda child: (-abs(child.delta), child.frame))


def _rows(root: _Call) -> Sequence[CallDelta]:
    rows = list[CallDelta]()
    pending = [(child, 0, number == 0) for number, child in enumerate(reversed(root.children))]
    while pending:
        call, depth, last = pending.pop()
        through = 0
        while len(call.children) == 1 and abs(call.delta - call.children[0].delta) < _MIN_PART * abs(
            call.delta
        ):
            call, through = call.children[0], through + 1
        rows.append(CallDelta(call.frame.name, call.frame.file, depth, last, call.a, call.b, through))
        pending += [(child, depth + 1, number == 0) for number, child in enumerate(reversed(call.children))]
    return rows


MIN_DELTA = 0.5
"""Minimum difference, in instructions per execution: less is left over from a loop's first or last round."""


def python_deltas(a: InstructionCounts, b: InstructionCounts) -> tuple[PythonFunctionDelta, ...]:
    """Return the Python functions whose own instructions differ, the largest difference first.

    Empty unless both sides were counted by Python function, by the same version of Python and with the same
    number of executions: others differ everywhere.
    """
    if _conditions(a) != _conditions(b):
        return ()
    before, after = _python_functions(a), _python_functions(b)
    rows = (_delta(before.get(key), after.get(key)) for key in {**before, **after})
    changed = [row for row in rows if abs(row.delta) >= MIN_DELTA]
    return tuple(sorted(changed, key=lambda row: (-abs(row.delta), row.file, row.name)))


def _conditions(counts: InstructionCounts) -> tuple[object, ...]:
    known = counts.python is not None and not counts.python.missing
    return counts.measured_in.python, counts.number, known


def _python_functions(counts: InstructionCounts) -> Mapping[tuple[str, str], PythonFunctionCount]:
    rows = () if counts.python is None else counts.python.functions
    return {(file_identity(row.file), without_comprehensions(row.name)): row for row in rows}


def _delta(a: PythonFunctionCount | None, b: PythonFunctionCount | None) -> PythonFunctionDelta:
    one = b or a
    assert one is not None
    before, after = (row.exclusive if row is not None else 0.0 for row in (a, b))
    return PythonFunctionDelta(one.name, one.file, one.line, before, after)
