"""A statement as code that runs in blocks.

Setup and statement become one generator function, so that the setup's names are fast locals, as in `timeit`:
sent an iterator, it runs the statement once for each item. As a generator it lives on between blocks, and
several statements can take turns without their setups running again; a loop in it costs what it costs in
any function.

Trees are put together, never texts: strings over several lines stay as they are. The names that are added
are no identifiers, so they cannot meet the user's.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from types import CodeType

from .pieces import Piece, compile_piece, remember, retold

FUNCTION = "setup and statement"
"""The only name that a module made by `function_code` defines."""
ROUNDS = "rounds of the block"
"""A global of code made by `module_code`: an iterator that says how often to run the statement."""
_ROUND = "round of the block"


@dataclass(frozen=True, slots=True)
class Splice:
    """Whose the lines of a spliced file are: first all of the setup's, then the statement's."""

    setup: Piece
    stmt: Piece

    def origin(self, line: int) -> Piece:
        """The piece that a line belongs to."""
        return self.setup if line <= self.stmt.before else self.stmt


SPLICES: dict[str, Splice] = {}
"""By the name that the spliced file bears; `traces` looks up whose lines a traceback shows."""


def module_code(stmt: Piece) -> CodeType:
    """Code of a module that runs the statement once for each item of `ROUNDS`; all names are globals."""
    return compile_piece(stmt, [_loop(stmt.body)])


def function_code(setup: Piece, stmt: Piece, name: str) -> CodeType:
    """Code of a module that defines `FUNCTION`; `name` stands for its file's. Raises SyntaxError.

    The statement is one that was read with the setup's lines before it. The generator runs the setup when
    it is started.
    """
    splice = SPLICES[name] = Splice(setup, stmt)
    remember(name, f"{setup.text}\n{stmt.text}")
    for piece in (setup, stmt):
        _refuse_star(piece)
    body = [node for node in setup.body if not _is_future(node)]
    body += [_WAIT, _forever([_loop(stmt.body), _WAIT])]
    function = ast.FunctionDef(**{**vars(_TEMPLATE), "name": FUNCTION, "body": body})
    module = ast.Module(body=[function], type_ignores=[])
    try:
        code: CodeType = compile(module, name, "exec", setup.futures | stmt.futures, dont_inherit=True)
        return code
    except SyntaxError as error:
        piece = splice.origin(error.lineno or 1)
        raise retold(error, piece.name, piece.text, piece.before) from None


def fresh_code(names: Sequence[str], setup: Piece, stmt: Piece | None, name: str) -> CodeType:
    """Code as of `function_code` without the setup: each item of the iterator holds the names' values.

    Before each execution, `namespace N` gets the value `value N` by the name `name N`, if `names` has these.
    Without a statement there is nothing else in the loop. After it no name has a value of a state: nothing of
    a block's states is left when the next ones are made, so that these lie where those did.
    """
    declared = [node for node in setup.body if isinstance(node, ast.Global)]
    loop = _fresh_loop(names, stmt.body if stmt is not None else [])
    body = [*declared, _WAIT, _forever([*loop, _WAIT])]
    function = ast.FunctionDef(**{**vars(_TEMPLATE), "name": FUNCTION, "body": body})
    module = ast.fix_missing_locations(ast.Module(body=[function], type_ignores=[]))
    code: CodeType = compile(module, name, "exec", setup.futures | (stmt or setup).futures, dont_inherit=True)
    return code


def fresh_module_code(names: Sequence[str], stmt: Piece, *, empty: bool) -> CodeType:
    """Code as of `module_code`; each item of `ROUNDS` holds the names' values, as in `fresh_code`.

    If it is to be `empty`, there is nothing else in the loop.
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
    place = ast.Subscript(ast.Name(namespace, ast.Load()), ast.Name(key, ast.Load()), ast.Store())
    return ast.Assign(targets=[place], value=ast.Name(value, ast.Load()))


def _loop(body: list[ast.stmt], target: ast.expr | None = None) -> ast.stmt:
    each = target or _EACH
    return ast.copy_location(ast.For(target=each, iter=_ALL, body=body or [_PASS], orelse=[]), _TEMPLATE)


def _forever(body: list[ast.stmt]) -> ast.stmt:
    return ast.copy_location(ast.While(test=_TRUE, body=body, orelse=[]), _TEMPLATE)


_TEMPLATE, _PASS = ast.parse("def nothing(): pass\npass").body
_WAIT = ast.Assign(targets=[ast.Name(ROUNDS, ast.Store())], value=ast.Yield())
"""`ROUNDS = yield`: the end of a block and the begin of the next."""
_TRUE, _EACH, _ALL = ast.Constant(True), ast.Name(_ROUND, ast.Store()), ast.Name(ROUNDS, ast.Load())
for _node in (_WAIT, _TRUE, _EACH, _ALL):
    ast.fix_missing_locations(_node)


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def _refuse_star(piece: Piece) -> None:
    if "*" not in piece.text or "import" not in piece.text:
        return
    for node in (inner for outer in piece.body for inner in ast.walk(outer)):
        if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
            error = SyntaxError("import * works at module level only: put it into global_setup")
            error.lineno, error.offset = node.lineno, node.col_offset + 1
            error.end_lineno, error.end_offset = node.end_lineno, (node.end_col_offset or 0) + 1
            raise retold(error, piece.name, piece.text, piece.before)
