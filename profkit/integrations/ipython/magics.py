"""The magics `%profiled` and `%measure`: sample or measure code, and show the report below it."""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import CodeType, FrameType
from typing import NamedTuple, cast

from IPython.core.error import UsageError as MagicUsageError
from IPython.display import display

from profkit.calls.options import MEMORY
from profkit.cli.measure_options import asked_for
from profkit.cli.options import profiler_options
from profkit.cli.output import say
from profkit.cli.program_modes import SAMPLES, check_tracker, program_options
from profkit.cli.program_reports import Output, write_run
from profkit.config import CONFIG
from profkit.errors import CannotTravel, UsageError
from profkit.integrations.ipython.arguments import MEASURE, PROFILED, Given, parse, source_of, usage_errors
from profkit.integrations.ipython.blocks import Code, CodeBlock, RecordedCells, why_off
from profkit.integrations.ipython.shell import Execution, Namespace, Shell
from profkit.measuring.api import measure_here, measure_packed
from profkit.measuring.orders import MeasureOptions, work_order
from profkit.measuring.runner.jobs import Task
from profkit.measuring.runner.progress import ProgressLine
from profkit.measuring.transfer.payload import pack_names
from profkit.model.measurement import MeasuredRun
from profkit.model.run import Run
from profkit.model.workorder import Language, WorkOrder
from profkit.program.environment import ProgramOptions
from profkit.render.notebook import measured_frame
from profkit.render.options import ReportOptions, Terminal, terminal_of
from profkit.render.registry import MEASURED, SAMPLED
from profkit.store.measured import keep_measured

_NOTEBOOK = Terminal(width=100)
_HTML, _TEXT = "text/html", "text/plain"


def show_run(shell: Shell, run: Run) -> None:
    """Show a sampled run: as a page if the shell displays HTML, with the text for programs that show none."""
    render = SAMPLED.renderer("text")
    _show(shell, lambda: run._repr_html_(), lambda terminal: render((run,), ReportOptions(), terminal))


def show_runs(shell: Shell, runs: Sequence[MeasuredRun]) -> None:
    """Show measured runs in one report: as `show_run` does."""
    render = MEASURED.renderer("text")
    _show(shell, lambda: measured_frame(runs), lambda terminal: render(runs, ReportOptions(), terminal))


def _show(shell: Shell, page: Callable[[], str | None], text: Callable[[Terminal], str]) -> None:
    if _HTML not in shell.display_formatter.active_types:
        print(text(terminal_of(sys.stdout, os.environ)))  # noqa: T201 - a terminal
        return
    shown = page()
    plain = {_TEXT: text(_NOTEBOOK)}
    display(  # type: ignore[no-untyped-call]
        plain if shown is None else {_HTML: shown, **plain}, raw=True
    )


_MAGIC = "%%"


class Context(NamedTuple):
    """Where a magic runs."""

    shell: Shell
    cells: RecordedCells


class Reporting(NamedTuple):
    """What follows the end of a block: a report in the notebook, in a file, or neither."""

    quiet: bool
    output: Output | None

    @classmethod
    def of(cls, options: Mapping[str, object]) -> Reporting:
        """Return what was asked for; raises UsageError before anything runs."""
        name, place = cast("str | None", options["name"]), cast("str | None", options["output"])
        if place == "-":
            raise MagicUsageError("-o needs a file: the report is shown below the cell anyway")
        return cls(bool(options["quiet"]), None if place is None and name is None else Output.of(name, place))


class OpenCell(NamedTuple):
    """A cell or statement that is being profiled."""

    context: Context
    block: CodeBlock
    reporting: Reporting
    execution: Execution | None = None
    """IPython's information about the running cell; None for a statement."""

    def end(self, *, raised: bool) -> None:
        """End it and show its report; raises IPython's UsageError if that is impossible."""
        shell = self.context.shell
        self.context.cells.record(self.block.session)
        self.block.end(raised=raised)
        with usage_errors():
            run = self.block.run
            if run is None:
                return
            shell.user_ns["_profkit"] = run
            if not self.reporting.quiet:
                show_run(shell, run)
            if self.reporting.output is not None:
                write_run(run, self.reporting.output, quiet=self.reporting.quiet)


def open_cell(context: Context, line: str, raw_cell: str) -> OpenCell | None:
    """Start to sample the running cell; return None if nothing is profiled in this process."""
    given = parse(PROFILED, line)
    text = "".join(part for part in raw_cell.splitlines(keepends=True) if not part.startswith(_MAGIC))
    source_of(given, text, "profiled", "run")
    frame = _frame_of_user(context.shell)
    waits = _awaits(context.shell, raw_cell)
    # Its own line, the first, is none of the code; transformations may make the cell shorter, but not longer.
    lines = range(2, raw_cell.count("\n") + 2)
    return _opened(context, given, Code(text, frame.f_code.co_filename, lines, waits), frame)


def run_profiled(context: Context, line: str, cell: str | None, local_ns: Namespace | None) -> object:
    """Profile a statement or a cell, and return its value: see `arguments`."""
    __tracebackhide__ = True
    given = parse(PROFILED, line)
    source = source_of(given, cell, "profiled", "run")
    if _awaits(context.shell, source):
        raise MagicUsageError("await at the top level needs a cell: put the code below %%profiled")
    try:
        steps = _Steps.of(context, source)
    except SyntaxError as error:
        raise MagicUsageError(f"{source.strip()} is not valid Python: {error.msg}") from None
    opened = _opened(context, given, steps.code, sys._getframe())
    failed = True
    try:
        value = steps.run(context.shell.user_ns, local_ns)
        failed = False
    finally:
        if opened is not None:
            opened.end(raised=failed)
    return value


def _frame_of_user(shell: Shell) -> FrameType:
    """Return the innermost frame of the notebook's own code."""
    frame = sys._getframe()
    while frame.f_globals is not shell.user_global_ns and frame.f_back is not None:
        frame = frame.f_back
    return frame


def _opened(context: Context, given: Given, code: Code, frame: FrameType) -> OpenCell | None:
    if (why := why_off()) is not None:
        say("note", f"{code.label!r} is not profiled: {why}")
        return None
    with usage_errors():
        block = CodeBlock(code, _options(given.options))
        opened = OpenCell(context, block, Reporting.of(given.options))
        opened.block.start(frame)
    return opened


def _options(given: Mapping[str, object]) -> ProgramOptions:
    """Return the options of a cell; raises UsageError for those of samples with --mode memory."""
    sampling = profiler_options(given)
    if given["threads"]:
        sampling["threads"] = True
    if given["mode"] == SAMPLES:
        if given["python_allocators"]:
            raise UsageError("--python-allocators does not apply to --mode samples", "add --mode memory")
        return dict(sampling)
    if wrong := sampling.keys() - {"label"}:
        names = " and ".join(sorted(wrong))
        raise UsageError(
            f"{names} cannot be combined with --mode memory, which takes no samples", "leave it out"
        )
    check_tracker()
    return program_options(MEMORY, given)


class _Steps(NamedTuple):
    """Compiled code of a statement, and that of its last expression."""

    code: Code
    body: CodeType
    last: CodeType | None

    @classmethod
    def of(cls, context: Context, source: str) -> _Steps:
        """Compile source as IPython compiles a cell; raises SyntaxError."""
        shell = context.shell
        transformed = shell.transform_cell(source)
        file = shell.compile.cache(transformed, context.cells.current, raw_code=source)
        tree = shell.transform_ast(shell.compile.ast_parse(transformed, filename=file))
        final = tree.body[-1] if tree.body else None
        last = None
        if isinstance(final, ast.Expr):
            tree.body.pop()
            last = shell.compile(ast.Expression(final.value), file, "eval")
        body = shell.compile(ast.Module(tree.body, []), file, "exec")
        code = Code(source, file, range(1, transformed.count("\n") + 2))
        return cls(code, body, last)

    def run(self, globals_: Namespace, locals_: Namespace | None) -> object:
        """Run the code and return the value of its last expression."""
        __tracebackhide__ = True
        exec(self.body, globals_, locals_)
        return None if self.last is None else eval(self.last, globals_, locals_)


def _awaits(shell: Shell, raw_cell: str) -> bool:
    """Return whether IPython runs a cell in an event loop."""
    return shell.should_run_async(raw_cell, transformed_cell=shell.transform_cell(raw_cell))


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
