"""The used part of IPython's shell, as types: its own are incomplete, and it may be missing."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from types import CodeType
from typing import Protocol, TypeAlias

Namespace: TypeAlias = dict[str, object]


class Execution(Protocol):
    """A cell that is running: `ExecutionInfo`."""

    raw_cell: str


class Executed(Protocol):
    """A cell that has ended: `ExecutionResult`."""

    info: Execution
    error_before_exec: BaseException | None
    error_in_exec: BaseException | None


class Compiler(Protocol):
    """The compiler of cells, which keeps their lines for tracebacks."""

    def cache(self, transformed_code: str, number: int, raw_code: str) -> str:
        """Keep a cell's lines, and return its file name."""

    def ast_parse(self, source: str, filename: str) -> ast.Module:
        """Parse code with the shell's `__future__` features."""

    def __call__(self, source: ast.AST, filename: str, symbol: str) -> CodeType:
        """Compile a tree with them."""


class Events(Protocol):
    """Callbacks around cells."""

    def register(self, event: str, function: Callable[..., None]) -> None:
        """Add a callback."""

    def unregister(self, event: str, function: Callable[..., None]) -> None:
        """Remove a callback."""


class Formatter(Protocol):
    """The formatter of displayed values."""

    active_types: Sequence[str]
    """Types that the front end shows: `text/plain` alone in terminals."""


class Magics(Protocol):
    """The manager of magics."""

    magics: dict[str, dict[str, object]]


class Shell(Protocol):
    """A shell: `InteractiveShell`."""

    user_ns: Namespace
    user_global_ns: Namespace
    execution_count: int
    compile: Compiler
    events: Events
    display_formatter: Formatter
    magics_manager: Magics
    input_transformers_cleanup: list[Callable[[list[str]], list[str]]]

    def transform_cell(self, raw_cell: str) -> str:
        """Return Python for a cell with magics."""

    def transform_ast(self, node: ast.Module) -> ast.Module:
        """Apply the transformations of trees that extensions have registered."""

    def should_run_async(self, raw_cell: str, *, transformed_cell: str) -> bool:
        """Return whether a cell runs in an event loop."""

    def register_magic_function(self, func: Callable[..., object], magic_kind: str, magic_name: str) -> None:
        """Add a magic."""
