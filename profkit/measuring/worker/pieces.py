"""Parts of what a user wrote, parsed; errors in them speak of the user's own lines.

Under Valgrind every step here takes fifty times as long as elsewhere: what need not be done is not done.
"""

from __future__ import annotations
import __future__

import ast
import linecache
import re
from dataclasses import dataclass
from types import CodeType


@dataclass(frozen=True, slots=True)
class Piece:
    """A text that stands by itself as Python."""

    name: str
    """Stands for a file's name, such as "<stmt>"."""
    text: str
    body: list[ast.stmt]
    """Its lines are numbered as if `before` lines stood before the text."""
    before: int
    futures: int
    """What it imports from __future__, as flags for compile()."""

    @property
    def lines(self) -> int:
        """How many lines it takes in a file."""
        return self.text.count("\n") + 1


def read_piece(text: str, name: str, futures: int = 0, before: int = 0) -> Piece:
    """Parse a text, which may be indented as a whole; raises SyntaxError.

    `return`, `yield`, `break` and the like are refused where nothing in the text itself holds them.
    """
    remember(name, text)
    body = _parsed(text, name, futures, before)
    piece = Piece(name, text, body, before, futures)
    if not _NEEDS_A_PLACE.search(text):
        return piece
    own = compile_piece(piece, body).co_flags & _ALL_FUTURES
    return Piece(name, text, body, before, futures | own)


def compile_piece(piece: Piece, body: list[ast.stmt]) -> CodeType:
    """The code of a module with this body, made of the piece; raises SyntaxError."""
    module = ast.Module(body=body, type_ignores=[])
    try:
        code: CodeType = compile(module, piece.name, "exec", piece.futures, dont_inherit=True)
        return code
    except SyntaxError as error:
        raise retold(error, piece.name, piece.text, piece.before) from None


def remember(name: str, text: str) -> None:
    """Let tracebacks quote the text's lines; without a time of change, linecache keeps what it is given."""
    linecache.cache[name] = (len(text), None, [line + "\n" for line in text.split("\n")], name)


def retold(error: SyntaxError, name: str, text: str, before: int) -> SyntaxError:
    """The error as one of `text`, which had so many lines before it where the error was found."""
    line = max(1, (error.lineno or 1) - before)
    end = None if error.end_lineno is None else max(line, error.end_lineno - before)
    lines = text.split("\n")
    quoted = lines[line - 1] + "\n" if line <= len(lines) else ""
    return type(error)(error.msg, (name, line, error.offset, quoted, end, error.end_offset))


_NEEDS_A_PLACE = re.compile(r"\b(?:return|yield|async|await|break|continue|nonlocal|__future__)\b")
"""Words of what is not allowed, or means something else, outside a function or a loop."""


def _parsed(text: str, name: str, futures: int, before: int) -> list[ast.stmt]:
    """The text's statements. Indented ones are read as a block: to dedent them would change their strings."""
    code = next((line for line in text.split("\n") if line.strip() and line.lstrip()[0] != "#"), "")
    if not code:
        return []
    indented = code[0] in " \t\f"
    above = max(1, before) if indented else before
    source = "\n" * (above - 1) + "if True:\n" + text if indented else "\n" * above + text
    try:
        tree = compile(source, name, "exec", futures | ast.PyCF_ONLY_AST, dont_inherit=True)
    except SyntaxError as error:
        raise retold(error, name, text, above) from None
    if not indented:
        return list(tree.body)
    if above != before:
        ast.increment_lineno(tree, before - above)
    return _inside(tree, name, text, before)


def _inside(tree: ast.Module, name: str, text: str, before: int) -> list[ast.stmt]:
    block, *others = tree.body
    assert isinstance(block, ast.If)
    for node in [*others, *block.orelse]:
        problem = IndentationError("less indented than the first line")
        problem.lineno, problem.offset = node.lineno, 1
        raise retold(problem, name, text, before)
    return block.body


_ALL_FUTURES = 0
for _feature in __future__.all_feature_names:
    _ALL_FUTURES |= getattr(__future__, _feature).compiler_flag
