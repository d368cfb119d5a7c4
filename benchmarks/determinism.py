"""Stability of counts: exact over forks and zygotes, nearly so over heaps, seeds and environments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from benchmarks.figures import Figure
from benchmarks.statements import STATEMENTS, Statement
from benchmarks.torch_tools import relative_range
from profkit.measuring.orders import work_order
from profkit.measuring.pool.pool import process_pool
from profkit.measuring.runner.context import BatchContext
from profkit.measuring.runner.counting import callgrind_kind, count
from profkit.measuring.runner.jobs import Task
from profkit.measuring.runner.placement import preload_of
from profkit.measuring.runner.progress import ProgressLine
from profkit.model.measurement import InstructionCounts
from profkit.model.workorder import WorkOrder

_HEAPS = ("_junk = [bytearray(n * 37) for n in range(1000)]", "_junk = {n: str(n) * 50 for n in range(3000)}")
_SURROUNDINGS = ({"PYTHONHASHSEED": "1"}, {"PYTHONHASHSEED": "4711"}, {"TORCH_PADDING": "x" * 3000})


def measure(quick: bool) -> list[Figure]:
    """Count every statement; start each kind of zygote three times and fork each ten times."""
    context = BatchContext(process_pool(), ProgressLine(None))
    chosen = STATEMENTS[1:4] if quick else STATEMENTS
    forks, zygotes = (3, 2) if quick else (10, 3)
    raw = _repeated(chosen, context, forks, zygotes)
    stripped = _stripped(chosen, context, raw)
    figures = []
    for statement in chosen:
        counts = [found.raw for found in raw[statement.label]]
        distinct = len(set(counts))
        difference = relative_range(stripped[statement.label]) * 100
        figures.append(
            Figure(
                f"{statement.label}: distinct raw counts", distinct, "", 1, certain=True,
                detail=f"{forks} forks of {zygotes} zygotes, {len(counts[0])} repeats",
            )
        )  # fmt: skip
        figures.append(
            Figure(
                f"{statement.label}: range of stripped counts", difference, "%", 0.3, certain=True,
                detail=f"{len(stripped[statement.label])} heaps, seeds and environments",
            )
        )  # fmt: skip
    return figures


def _repeated(
    statements: Sequence[Statement], context: BatchContext, forks: int, zygotes: int
) -> dict[str, list[InstructionCounts]]:
    found: dict[str, list[InstructionCounts]] = {statement.label: [] for statement in statements}
    for number in range(zygotes):
        orders = [_order(statement) for statement in statements]
        for order in orders:
            found[order.label] += [_count(order, context, f"zygote-{number}") for _ in range(forks)]
        _retire(context)
    return found


def _stripped(
    statements: Sequence[Statement], context: BatchContext, plain: dict[str, list[InstructionCounts]]
) -> dict[str, list[float]]:
    """Count with the number of executions of the plain counts, since counts depend on it."""
    found = {statement.label: [plain[statement.label][0].stripped] for statement in statements}
    for draw, env in enumerate(({}, *_SURROUNDINGS)):
        for statement in statements:
            order = replace(
                _order(statement), number=plain[statement.label][0].number, env=tuple(env.items())
            )
            for variant in _variants(order) if not env else (order,):
                found[statement.label].append(_count(variant, context, f"surroundings-{draw}").stripped)
        _retire(context)
    return found


def _variants(order: WorkOrder) -> Iterator[WorkOrder]:
    for heap in _HEAPS:
        yield replace(order, setup=f"{heap}\n{order.setup}")


def _order(statement: Statement) -> WorkOrder:
    return work_order(statement.stmt, setup=statement.setup, mode="callgrind", label=statement.label)


def _count(order: WorkOrder, context: BatchContext, draw: str) -> InstructionCounts:
    task = Task(order, preload=preload_of(order))
    return count(task, replace(callgrind_kind(task, 0), draw=draw), context)


def _retire(context: BatchContext) -> None:
    context.pool.retire([zygote.kind for zygote in context.pool.zygotes()])
