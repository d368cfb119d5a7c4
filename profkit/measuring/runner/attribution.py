"""Count an order's instructions by Python function, after its instructions have been counted."""

from __future__ import annotations

from dataclasses import replace

from profkit.errors import MeasuringError
from profkit.measuring.pool.command import ZygoteKind
from profkit.measuring.results import python_counts_of
from profkit.measuring.runner.context import BatchContext
from profkit.measuring.runner.jobs import HAS_TRAMPOLINE, Task, attribution_job, counts_python
from profkit.measuring.worker.protocol import UNDECIDED, Fresh
from profkit.model.function_counts import PythonCounts
from profkit.model.measurement import InstructionCounts

_SHORT = 2_500_000
"""Maximum instructions of a statement that is executed `_WARM` times before it is counted."""
_WARM, _WARM_IF_LONG = 20, 1


def with_python_functions(
    counts: InstructionCounts,
    task: Task,
    kind: ZygoteKind,
    context: BatchContext,
    cores: tuple[int, ...] = (),
) -> InstructionCounts:
    """Return the counts with those by Python function, or with the reason why there are none.

    `kind` is that of the zygote that counted the instructions. A failure here does not fail the order.
    """
    if not counts_python(task.order):
        return counts
    if missing := too_old(counts.measured_in.python):
        return replace(counts, python=missing)
    warm = _WARM if counts.net <= _SHORT else _WARM_IF_LONG
    job = attribution_job(task, counts.number, warm, _fresh(counts), cores)
    try:
        reply = context.attempt(replace(kind, by_function=True, simulate=()), job, task.order.retries)
        return replace(counts, python=python_counts_of(task.order.label, reply))
    except MeasuringError as error:
        return replace(counts, python=PythonCounts(missing=str(error).partition("\n")[0]))


def too_old(python: str) -> PythonCounts | None:
    """Return why a version of Python cannot be counted by Python function; None if it can."""
    if _version(python) >= HAS_TRAMPOLINE:
        return None
    return PythonCounts(missing=f"this needs Python {'.'.join(map(str, HAS_TRAMPOLINE))} or later")


def _version(python: str) -> tuple[int, ...]:
    return tuple(int(part) for part in python.split(".")[:2])


def _fresh(counts: InstructionCounts) -> Fresh:
    """Return how executions got their state when they were counted."""
    return {**UNDECIDED, "decided": counts.freshness.fresh, "changes": list(counts.freshness.changes)}
