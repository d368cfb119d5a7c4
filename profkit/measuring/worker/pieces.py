"""Parts of what a user wrote, parsed; errors in them speak of the user's own lines."""

from __future__ import annotations
import __future__

import ast
import linecache
from dataclasses import dataclass
from types import CodeType


@dataclass(frozen=True, slots=True)
class Piece:
    """A text that stands by itself as Python."""

    name: str
    """Stands for a file's name, such as "<stmt>"."""
    text: str
    body: list[ast.stmt]
    futures: int
    """What it imports from __future__, as flags for compile()."""

    @property
    def lines(self) -> list[str]:
        """The text's lines, each with its end."""
        return [line + "\n" for line in self.text.split("\n")]


def read_piece(text: str, name: str, futures: int = 0) -> Piece:
    """Parse a text, which may be indented as a whole; raises SyntaxError.

    `return`, `yield`, `break` and the like are refused where nothing in the text itself holds them.
    """
    remember(name, text.split("\n"))
    body = _parsed(text, name, futures)
    own = futures | _futures_of(compile_module(body, name, text, futures))
    return Piece(name, text, body, own)


def compile_module(body: list[ast.stmt], name: str, text: str, futures: int) -> CodeType:
    """The code of a module; `text` is what errors quote."""
    module = ast.Module(body=body, type_ignores=[])
    try:
        code: CodeType = compile(module, name, "exec", futures, dont_inherit=True)
        return code
    except SyntaxError as error:
        raise retold(error, name, text) from None


def remember(name: str, lines: list[str]) -> None:
    """Let tracebacks quote the lines; without a time of change, linecache keeps what it is given."""
    whole = [line.rstrip("\n") + "\n" for line in lines]
    linecache.cache[name] = (sum(map(len, whole)), None, whole, name)


def retold(error: SyntaxError, name: str, text: str, before: int = 0) -> SyntaxError:
    """The error as one of `text`, which had so many lines before it where the error was found."""
    line = max(1, (error.lineno or 1) - before)
    end = None if error.end_lineno is None else max(line, error.end_lineno - before)
    lines = text.split("\n")
    quoted = lines[line - 1] + "\n" if line <= len(lines) else ""
    return SyntaxError(error.msg, (name, line, error.offset, quoted, end, error.end_offset))


def _parsed(text: str, name: str, futures: int) -> list[ast.stmt]:
    """The text's statements. Indented ones are read as a block: to dedent them would change their strings."""
    code = [line for line in text.split("\n") if line.strip() and not line.lstrip().startswith("#")]
    indented = bool(code) and code[0][0] in " \t\f"
    source = "if True:\n" + text if indented else text
    try:
        tree = compile(source, name, "exec", futures | ast.PyCF_ONLY_AST, dont_inherit=True)
    except SyntaxError as error:
        raise retold(error, name, text, before=int(indented)) from None
    return _unindented(tree, name, text) if indented else list(tree.body)


def _unindented(tree: ast.Module, name: str, text: str) -> list[ast.stmt]:
    ast.increment_lineno(tree, -1)
    block, *others = tree.body
    assert isinstance(block, ast.If)
    for node in [*others, *block.orelse]:
        place = (name, node.lineno, 1, text.split("\n")[node.lineno - 1] + "\n")
        raise IndentationError("less indented than the first line", place)
    return block.body


def _futures_of(code: CodeType) -> int:
    return code.co_flags & _ALL_FUTURES


_ALL_FUTURES = 0
for _feature in __future__.all_feature_names:
    _ALL_FUTURES |= getattr(__future__, _feature).compiler_flag
