"""Registration of the magics in a shell, and cells that begin with `%%profiled`.

Such a cell is not run by its magic, but by IPython as any other: its first line is replaced by a call that
starts to sample, and an event of IPython ends it. So values are displayed, `await`, `!command` and other
magics work, and tracebacks have no frames of profkit.

Loading the extension imports little: what a magic needs follows with its first use.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, cast
from weakref import WeakKeyDictionary

from IPython.core.error import UsageError as MagicUsageError
from IPython.core.inputtransformer2 import cell_magic
from IPython.core.magic import needs_local_scope, no_var_expand

from profkit.integrations.ipython.shell import Executed, Execution, Namespace, Shell

if TYPE_CHECKING:
    from profkit.integrations.ipython.blocks import RecordedCells
    from profkit.integrations.ipython.magics import Context, OpenCell

_PROFILED_CELL = re.compile(r"%%profiled(?:[ \t](?P<line>.*))?\n?")
REST_OF_CELL = "\n"
"""Body with which `%%profiled` begins to profile the cell that runs."""


class Magic:
    """A magic, whose documentation is made when it is read."""

    def __init__(self, name: str, run: Callable[[str, str | None, Namespace | None], object]) -> None:
        self.name, self._run = name, run
        needs_local_scope(no_var_expand(self))

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        """Say what the magic does, and list its options."""
        from profkit.integrations.ipython.arguments import documentation_of

        return documentation_of(self.name)

    def __call__(self, line: str, cell: str | None = None, local_ns: Namespace | None = None) -> object:
        """Run it; `cell` is the text below its line, None if it is no cell's magic."""
        __tracebackhide__ = True
        return self._run(line, cell, local_ns)


class Extension:
    """The extension in one shell, with the cell that is being profiled."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._running: Execution | None = None
        self._open: OpenCell | None = None
        self._magics = Magic("profiled", self._profiled), Magic("measure", self._measure)
        self._events: dict[str, Callable[..., None]] = {
            "pre_run_cell": self._note_cell,
            "post_run_cell": self._end_cell,
        }

    def load(self) -> None:
        """Register the magics, the transformation of cells and the events."""
        for magic in self._magics:
            self._shell.register_magic_function(magic, "line_cell", magic.name)
        self._shell.input_transformers_cleanup.append(transformed)
        for name, callback in self._events.items():
            self._shell.events.register(name, callback)

    def unload(self) -> None:
        """Take back what `load` registered."""
        for magic in self._magics:
            for magics in self._shell.magics_manager.magics.values():
                magics.pop(magic.name, None)
        self._shell.input_transformers_cleanup.remove(transformed)
        for name, callback in self._events.items():
            self._shell.events.unregister(name, callback)

    @cached_property
    def _cells(self) -> RecordedCells:
        from profkit.integrations.ipython.blocks import RecordedCells

        return RecordedCells(self._shell)

    def _profiled(self, line: str, cell: str | None, local_ns: Namespace | None) -> object:
        """Run `%profiled`; raises IPython's UsageError, and what the code raises."""
        __tracebackhide__ = True
        from profkit.integrations.ipython.magics import Context, run_profiled

        context = Context(self._shell, self._cells)
        if cell == REST_OF_CELL:
            self._begin_cell(line, context)
            return None
        return run_profiled(context, line, cell, local_ns)

    def _measure(self, line: str, cell: str | None, local_ns: Namespace | None) -> None:
        """Run `%measure`; raises IPython's UsageError."""
        from profkit.integrations.ipython.magics import run_measure

        run_measure(self._shell, line, cell, local_ns)

    def _begin_cell(self, line: str, context: Context) -> None:
        """Start to sample the running cell."""
        from profkit.integrations.ipython.magics import open_cell

        if self._open is not None:
            raise MagicUsageError("a cell with %%profiled is running: leave out the inner one")
        info = self._running
        if info is None:  # run silently, by a front end: there is nowhere to show a report
            return
        opened = open_cell(context, line, info.raw_cell)
        if opened is not None:
            self._open = opened._replace(execution=info)

    def _note_cell(self, info: Execution) -> None:
        self._running = info

    def _end_cell(self, result: Executed | None) -> None:
        self._running = None if self._open is None else self._open.execution
        if "profkit.session.manager" in sys.modules:  # else nothing has been profiled yet
            self._cells.record_current()
        opened = self._open
        if opened is None or (result is not None and result.info is not opened.execution):
            return
        self._open = self._running = None
        failed = result is None or result.error_in_exec is not None or result.error_before_exec is not None
        opened.end(raised=failed)


_EXTENSIONS: WeakKeyDictionary[Shell, Extension] = WeakKeyDictionary()


def load(shell: Shell) -> None:
    """Load the extension into a shell; do nothing if it is loaded."""
    if shell not in _EXTENSIONS:
        _EXTENSIONS[shell] = Extension(shell)
        _EXTENSIONS[shell].load()


def unload(shell: Shell) -> None:
    """Unload the extension."""
    if (extension := _EXTENSIONS.pop(shell, None)) is not None:
        extension.unload()


def transformed(lines: list[str]) -> list[str]:
    """Replace the first line of a cell if it is `%%profiled`; other lines keep their numbers."""
    first = _PROFILED_CELL.fullmatch(lines[0]) if lines else None
    if first is None:
        return lines
    options = (first["line"] or "").strip()
    begin = f"get_ipython().run_cell_magic('profiled', {options!r}, {REST_OF_CELL!r})\n"
    body = cast("list[str]", cell_magic(lines[1:]))  # type: ignore[no-untyped-call] # another may follow
    return [begin, *body]
