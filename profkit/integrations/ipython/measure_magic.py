"""`%measure` and `%%measure`: measure a statement in isolated processes, and show the result below it."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from IPython.core.error import UsageError as MagicUsageError

from profkit.cli.measure_options import asked_for
from profkit.cli.output import say
from profkit.config import CONFIG
from profkit.errors import CannotTravel, UsageError
from profkit.integrations.ipython.arguments import MEASURE, parse, source_of, usage_errors
from profkit.integrations.ipython.display import show_runs
from profkit.integrations.ipython.shell import Namespace, Shell
from profkit.measuring.api import measure_here, measure_packed
from profkit.measuring.orders import MeasureOptions, work_order
from profkit.measuring.runner.jobs import Task
from profkit.measuring.runner.progress import ProgressLine
from profkit.measuring.transfer.payload import pack_names
from profkit.model.measurement import MeasuredRun
from profkit.model.workorder import Language, WorkOrder
from profkit.store.measured import keep_measured


def run_measure(shell: Shell, line: str, cell: str | None, local_ns: Namespace | None) -> None:
    """Measure a statement or a cell: see `arguments`."""
    given = parse(MEASURE, line)
    source = source_of(given, cell, "measure", "measure")
    with usage_errors():
        _refuse_magics(shell, source)
        threads = cast("Sequence[int] | None", given.options["threads"])
        orders = _orders(source, asked_for(given.options), threads)
        names = {**shell.user_ns, **(local_ns or {})}
        runs = _measured(orders, names, keeps=not given.options["no_keep"])
    if failed := [run.info.error for run in runs if run.info.error]:
        raise MagicUsageError(failed[0])
    shell.user_ns["_profkit"] = runs[-1]
    show_runs(shell, runs)


def _refuse_magics(shell: Shell, source: str) -> None:
    """Raise UsageError for code that only IPython can run."""
    if shell.transform_cell(source).split() != source.split():
        fix = "leave them out: the code is measured in processes without IPython"
        raise UsageError("the code has magics, !commands or ?", fix)


def _orders(source: str, options: MeasureOptions, threads: Sequence[int] | None) -> list[WorkOrder]:
    """Return an order for each number of threads; raises UsageError."""
    variants: list[MeasureOptions] = [{**options, "num_threads": count} for count in threads or (1,)]
    return [work_order(source, **variant) for variant in variants]


def _measured(
    orders: Sequence[WorkOrder], names: Mapping[str, object], *, keeps: bool
) -> tuple[MeasuredRun, ...]:
    """Measure orders with the names that they use; raises UsageError if that is impossible."""
    used = _used_names(orders[0], names)
    keep = _keep if keeps else None
    tasks: list[Task] = []
    try:
        tasks += (Task(order, pack_names(used) if used else None) for order in orders)
    except CannotTravel as error:
        why = f"{error.what} cannot be copied to another process: {error.detail}"
        if orders[0].mode.counts or len(orders) > 1:
            raise UsageError(why, "create it in --setup, or time it with one number of threads") from error
        say("note", f"timed in this process, because {why}")
        return (measure_here(orders[0], used, keep=keep),)
    progress = ProgressLine(sys.stderr) if sys.stderr.isatty() else None
    return measure_packed(tasks, progress=progress, keep=keep)


def _keep(run: MeasuredRun) -> None:
    """Keep a run; say so if that is impossible."""
    try:
        keep_measured(CONFIG.spool, run)
    except OSError as error:
        say("warning", f"{run.info.label!r} cannot be kept in {CONFIG.spool}: {error.strerror or error}")


def _used_names(order: WorkOrder, names: Mapping[str, object]) -> dict[str, object]:
    """Return the existing names that an order's code reads and its setup does not assign."""
    if order.language is not Language.PYTHON:
        return {}
    read = set(_names_in(ast.Load, order.global_setup, order.setup, order.stmt or ""))
    assigned = set(_names_in(ast.Store, order.global_setup, order.setup))
    return {name: names[name] for name in sorted(read - assigned) if name in names}


def _names_in(context: type[ast.expr_context], *sources: str) -> Iterator[str]:
    for source in sources:
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Name) and isinstance(node.ctx, context):
                yield node.id
