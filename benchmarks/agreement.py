"""Instruction counts compared with torch's own; statements run as module-level code, as torch runs them."""

from __future__ import annotations

from benchmarks.figures import Figure
from benchmarks.statements import STATEMENTS, Statement
from benchmarks.torch_tools import torch_callgrind
from profkit import measure as measured

_NUMBER, _REPEATS = 100, 3


def measure(quick: bool) -> list[Figure]:
    """Compare the lowest of torch's repeats with profkit's; torch's own repeats differ by up to 5 %."""
    return [_figure(statement) for statement in (STATEMENTS[1:2] if quick else STATEMENTS)]


def _figure(statement: Statement) -> Figure:
    theirs = torch_callgrind(statement.stmt, statement.setup, number=_NUMBER, repeats=_REPEATS).counts
    ours = measured(
        statement.stmt, setup=statement.setup, mode="callgrind", level="module", number=_NUMBER,
        repeats=_REPEATS, keep=False,
    ).instructions  # fmt: skip
    assert ours is not None
    difference = abs(ours.net / min(theirs) - 1) * 100
    return Figure(
        f"{statement.label}: difference from torch's count", difference, "%", 2.0, certain=True,
        detail=f"{ours.net:,.0f}, torch {min(theirs):,.0f} to {max(theirs):,.0f}",
    )  # fmt: skip
