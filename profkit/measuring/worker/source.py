"""Compile statements to code that runs in blocks; errors and tracebacks have the user's own lines."""

from __future__ import annotations
import __future__

import ast
import linecache
import os
import re
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import CodeType

from .protocol import CALL, FUNCTION, Message


@dataclass(frozen=True, slots=True)
class Piece:
    """A text that is valid Python without its context."""

    name: str
    """Used as a file name, such as "<stmt>"."""
    text: str
    body: list[ast.stmt]
    """Statements, with lines numbered as if `before` lines preceded the text."""
    before: int
    futures: int
    """Its imports from `__future__`, as flags for compile()."""

    @property
    def lines(self) -> int:
        """Number of lines."""
        return self.text.count("\n") + 1


def read_piece(text: str, name: str, futures: int = 0, before: int = 0) -> Piece:
    """Parse a text, which may be indented as a whole; raises SyntaxError.

    Rejects `return`, `yield`, `break` and the like outside a function or loop of the text itself.
    """
    remember(name, text)
    body = _parsed(text, name, futures, before)
    piece = Piece(name, text, body, before, futures)
    if not _NEEDS_CONTEXT.search(text):
        return piece
    own = compile_piece(piece, body).co_flags & _ALL_FUTURES
    return Piece(name, text, body, before, futures | own)


def compile_piece(piece: Piece, body: list[ast.stmt]) -> CodeType:
    """Compile a module with this body, made from the piece; raises SyntaxError."""
    module = ast.Module(body=body, type_ignores=[])
    try:
        code: CodeType = compile(module, piece.name, "exec", piece.futures, dont_inherit=True)
        return code
    except SyntaxError as error:
        raise relocated(error, piece.name, piece.text, piece.before) from None


def remember(name: str, text: str) -> None:
    """Let tracebacks quote the text's lines; linecache keeps entries without a modification time."""
    linecache.cache[name] = (len(text), None, [line + "\n" for line in text.split("\n")], name)


def relocated(error: SyntaxError, name: str, text: str, before: int) -> SyntaxError:
    """Return an error with its lines numbered within `text`, which had `before` lines above it."""
    line = max(1, (error.lineno or 1) - before)
    end = None if error.end_lineno is None else max(line, error.end_lineno - before)
    lines = text.split("\n")
    quoted = lines[line - 1] + "\n" if line <= len(lines) else ""
    return type(error)(error.msg, (name, line, error.offset, quoted, end, error.end_offset))


_NEEDS_CONTEXT = re.compile(r"\b(?:return|yield|async|await|break|continue|nonlocal|__future__)\b")
"""Keywords that are invalid, or have another meaning, outside a function or a loop."""


def _parsed(text: str, name: str, futures: int, before: int) -> list[ast.stmt]:
    """Parse a text; indented ones as a block, since dedenting would change their strings."""
    code = next((line for line in text.split("\n") if line.strip() and line.lstrip()[0] != "#"), "")
    if not code:
        return []
    indented = code[0] in " \t\f"
    above = max(1, before) if indented else before
    source = "\n" * (above - 1) + "if True:\n" + text if indented else "\n" * above + text
    try:
        tree = compile(source, name, "exec", futures | ast.PyCF_ONLY_AST, dont_inherit=True)
    except SyntaxError as error:
        raise relocated(error, name, text, above) from None
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
        raise relocated(problem, name, text, before)
    return block.body


_ALL_FUTURES = 0
for _feature in __future__.all_feature_names:
    _ALL_FUTURES |= getattr(__future__, _feature).compiler_flag


ROUNDS = "rounds of the block"
"""A global of code made by `module_code`: an iterator with one item per execution."""
_ROUND = "round of the block"


def module_code(stmt: Piece) -> CodeType:
    """Return code of a module that runs the statement for each item of `ROUNDS`; all names are globals."""
    return compile_piece(stmt, [_loop(stmt.body)])


@dataclass(frozen=True, slots=True)
class Source:
    """Source of a statement in a function: the lines of the setup, then those of the statement."""

    setup: Piece
    stmt: Piece
    """Read with the setup's lines before it."""
    name: str
    """File name."""

    def origin(self, line: int) -> Piece:
        """Return the piece that contains a line."""
        return self.setup if line <= self.stmt.before else self.stmt

    def code(self) -> CodeType:
        """Return code of a module that defines `FUNCTION`; raises SyntaxError.

        That is a generator function, whose generator runs the setup when it starts.
        """
        SOURCES[self.name] = self
        remember(self.name, f"{self.setup.text}\n{self.stmt.text}")
        for piece in (self.setup, self.stmt):
            _refuse_star(piece)
        body = [node for node in self.setup.body if getattr(node, "module", "") != "__future__"]
        try:
            return self._compiled([*body, _WAIT, _forever([_loop(self.stmt.body), _WAIT])])
        except SyntaxError as error:
            piece = self.origin(error.lineno or 1)
            raise relocated(error, piece.name, piece.text, piece.before) from None

    def fresh_code(self, names: Sequence[str], *, empty: bool) -> CodeType:
        """Return code like `code`, but each item of the iterator has the names' values, not a setup.

        Before each execution, `namespace N` gets `value N` under the name `name N`, if `names` has these.
        With `empty`, the loop does nothing else. After the loop no name refers to a state: a block's states
        are freed before the next ones are made, which then have the same addresses.
        """
        declared = [node for node in self.setup.body if isinstance(node, ast.Global)]
        loop = _fresh_loop(names, [] if empty else self.stmt.body)
        return self._compiled([*declared, _WAIT, _forever([*loop, _WAIT])])

    def _compiled(self, body: list[ast.stmt]) -> CodeType:
        function = ast.FunctionDef(**{**vars(_TEMPLATE), "name": FUNCTION, "body": body})
        module = ast.fix_missing_locations(ast.Module(body=[function], type_ignores=[]))
        futures = self.setup.futures | self.stmt.futures
        code: CodeType = compile(module, self.name, "exec", futures, dont_inherit=True)
        return code


SOURCES: dict[str, Source] = {}
"""Sources by file name; `trace_of` looks up the lines of tracebacks here."""


def fresh_module_code(names: Sequence[str], stmt: Piece, *, empty: bool) -> CodeType:
    """Return code like `module_code`; each item of `ROUNDS` has the names' values, as in `Source.fresh_code`.

    With `empty`, the loop does nothing else.
    """
    module = ast.Module(body=_fresh_loop(names, [] if empty else stmt.body), type_ignores=[])
    return compile_piece(stmt, ast.fix_missing_locations(module).body)


def _fresh_loop(names: Sequence[str], body: list[ast.stmt]) -> list[ast.stmt]:
    target = ast.Tuple([ast.Name(name, ast.Store()) for name in names], ast.Store()) if names else _EACH
    rebound = [_rebinding(number) for number in range(sum(one.startswith("namespace ") for one in names))]
    freed = [ast.Assign(targets=[ast.Name(name, ast.Store())], value=ast.Constant(None)) for name in names]
    return [_loop([*rebound, *body], target), *freed]


def _rebinding(number: int) -> ast.stmt:
    namespace, key, value = (f"{word} {number}" for word in ("namespace", "name", "value"))
    variable = ast.Subscript(ast.Name(namespace, ast.Load()), ast.Name(key, ast.Load()), ast.Store())
    return ast.Assign(targets=[variable], value=ast.Name(value, ast.Load()))


def _loop(body: list[ast.stmt], target: ast.expr | None = None) -> ast.stmt:
    each = target or _EACH
    return ast.copy_location(ast.For(target=each, iter=_ALL, body=body or [_PASS], orelse=[]), _TEMPLATE)


def _forever(body: list[ast.stmt]) -> ast.stmt:
    return ast.copy_location(ast.While(test=_TRUE, body=body, orelse=[]), _TEMPLATE)


_TEMPLATE, _PASS = ast.parse("def nothing(): pass\npass").body
_WAIT = ast.Assign(targets=[ast.Name(ROUNDS, ast.Store())], value=ast.Yield())
"""`ROUNDS = yield`: the end of a block and the start of the next."""
_TRUE, _EACH, _ALL = ast.Constant(True), ast.Name(_ROUND, ast.Store()), ast.Name(ROUNDS, ast.Load())
for _node in (_WAIT, _TRUE, _EACH, _ALL):
    ast.fix_missing_locations(_node)


def _refuse_star(piece: Piece) -> None:
    if "*" not in piece.text or "import" not in piece.text:
        return
    for node in (inner for outer in piece.body for inner in ast.walk(outer)):
        if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
            error = SyntaxError("import * is allowed at module level only: move it to global_setup")
            error.lineno, error.offset = node.lineno, node.col_offset + 1
            error.end_lineno, error.end_offset = node.end_lineno, (node.end_col_offset or 0) + 1
            raise relocated(error, piece.name, piece.text, piece.before)


_FOLDER = os.path.dirname(os.path.abspath(__file__)) + os.sep


def trace_of(error: BaseException) -> str:
    """Return the traceback's text; lines of "<setup>" and "<stmt>" are numbered as in the user's text."""
    report = traceback.TracebackException.from_exception(error)
    for each in _all_of(report, set()):
        own = [
            index
            for index, frame in enumerate(each.stack)
            if frame.filename == CALL or frame.filename.startswith(_FOLDER)
        ]
        del each.stack[: max(own, default=-1) + 1]  # with library frames between the worker's own
        for frame in each.stack:
            _relocate(frame)
    return "".join(report.format())


def unwrapped(error: RuntimeError) -> BaseException:
    """Return the statement's StopIteration, if its generator turned that into `error`; else `error`."""
    cause = error.__cause__
    trace = None if cause is None else cause.__traceback__
    if not isinstance(cause, StopIteration) or trace is None:
        return error
    return cause if trace.tb_frame.f_code.co_name == FUNCTION else error


def _all_of(report: traceback.TracebackException, seen: set[int]) -> Iterator[traceback.TracebackException]:
    """Yield an exception with its causes, contexts and group members."""
    if id(report) not in seen:
        seen.add(id(report))
        yield report
        for other in (report.__cause__, report.__context__, *(report.exceptions or ())):
            if other is not None:
                yield from _all_of(other, seen)


def _relocate(frame: traceback.FrameSummary) -> None:
    source = SOURCES.get(frame.filename)
    if source is None or frame.lineno is None:
        return
    piece = source.origin(frame.lineno)
    frame.filename, frame.lineno = piece.name, frame.lineno - piece.before
    if frame.end_lineno is not None:
        frame.end_lineno -= piece.before
    if frame.name == FUNCTION:
        frame.name = "<module>"


def as_reply(error: BaseException) -> Message:
    """Return the reply of a job that raised."""
    summary = "".join(traceback.format_exception_only(error)).strip()
    return {"ok": False, "error": summary, "trace": trace_of(error)}
