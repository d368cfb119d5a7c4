"""`%profiled` and `%%profiled`: sample a statement or a cell, and show the report below it."""

from __future__ import annotations

import ast
import sys
from collections.abc import Mapping
from types import CodeType, FrameType
from typing import NamedTuple, cast

from IPython.core.error import UsageError as MagicUsageError

from profkit.calls.options import MEMORY
from profkit.cli.options import profiler_options
from profkit.cli.output import say
from profkit.cli.program_modes import SAMPLES, check_tracker, program_options
from profkit.cli.program_reports import Output, write_run
from profkit.errors import UsageError
from profkit.integrations.ipython.arguments import PROFILED, Given, parse, source_of, usage_errors
from profkit.integrations.ipython.blocks import Code, CodeBlock, why_off
from profkit.integrations.ipython.cells import RecordedCells
from profkit.integrations.ipython.display import show_run
from profkit.integrations.ipython.shell import Execution, Namespace, Shell
from profkit.program.environment import ProgramOptions

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
