"""Two sides of measured runs made by hand, the same in every test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from profkit.model.function_counts import FunctionCount
from profkit.model.measurement import Design, InstructionCounts, MeasuredRun
from profkit.model.workorder import Language
from tests.support.example_measurements import (
    BUSY,
    COUNTS,
    FUNCTIONS,
    LIBTORCH,
    ORDER,
    blocks,
    measured,
    timing,
)
from tests.support.example_runs import PROCESS, STARTED_NS

OLD, NEW = "0123456789" * 4, "fedcba9876" * 4
DAY_NS = 86_400 * 10**9


def run(
    run_id: str, base_s: float | None = 1e-6, counts: InstructionCounts | None = None, label: str = "x + y",
    commit: str = OLD, batch: str = "b1", day: int = 0, processes: int = 10, **order: object,
) -> MeasuredRun:  # fmt: skip
    """A run of an order, recorded at a commit."""
    made = replace(ORDER, label=label, what=label, labels=(), **order)  # type: ignore[arg-type]
    return measured(
        timing(blocks(base_s, processes, 5)) if base_s else None, counts, (), made, id=run_id, batch=batch,
        started_ns=STARTED_NS + day * DAY_NS, process=replace(PROCESS, git_commit=commit),
    )  # fmt: skip


def more_counts(factor: float = 1.0, extra: float = 0.0) -> InstructionCounts:
    """The made counts, all of them times a factor, and a function that was not there before."""
    rows = [replace(row, exclusive=row.exclusive * factor) for row in FUNCTIONS]
    name = f"???:at::native::checked_add(at::Tensor const&) [{LIBTORCH}]"
    added = [FunctionCount(name, extra, extra, 1.0, LIBTORCH)] if extra else []
    return replace(
        COUNTS, functions=(*rows, *added), stripped=COUNTS.stripped * factor + extra,
        net=COUNTS.net * factor + extra,
    )  # fmt: skip


def one_order() -> tuple[list[MeasuredRun], list[MeasuredRun]]:
    """Interleaved: B is 5 % slower, and executes a function more; the core was busy for B."""
    batch = Design.INTERLEAVED.batch("b7c0ffee01")
    a, b = (
        run("a100000000", 1.2e-6, COUNTS, batch=batch),
        run("b100000000", 1.26e-6, more_counts(1, 250), batch=batch),
    )
    return [a], [replace(b, info=replace(b.info, warnings=(BUSY,)))]


def two_batches() -> tuple[list[MeasuredRun], list[MeasuredRun]]:
    """A batch of small operations in two languages and with one and two threads, before and after."""
    return list(_batch("a", OLD, 0)), list(_batch("b", NEW, 3))


def _batch(side: str, commit: str, day: int) -> Sequence[MeasuredRun]:
    made = []
    for place, label in enumerate(("add", "linear")):
        for number, (language, threads) in enumerate(
            ((Language.PYTHON, 1), (Language.CPP, 1), (Language.PYTHON, 2))
        ):
            factor = (
                (1.3 if label == "linear" else 0.9 if language is Language.CPP else 1.0)
                if side == "b"
                else 1.0
            )
            counts = None if threads > 1 else more_counts((1 + place) * factor)
            made.append(
                run(f"{side}{place}{number}0000000", 1e-6 * (1 + place) * factor, counts, label, commit,
                    f"batch-{side}", day, language=language, num_threads=threads)
            )  # fmt: skip
    only = run(
        f"{side}900000000",
        5e-6,
        label="relu" if side == "a" else "gelu",
        commit=commit,
        batch=f"batch-{side}",
    )
    return (*made, only)
