"""Things that run in blocks: statements and callables of Python.

Each runs `number` times between two calls of a probe: a clock for times, a toggle for counts. Between the
two calls nothing happens but the block.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import repeat
from keyword import iskeyword
from types import CodeType, FrameType
from typing import Protocol, TypeVar, cast

from .source import FUNCTION, ROUNDS, Piece, compile_piece, function_code, module_code, read_piece

T = TypeVar("T")
Probe = Callable[[], T]
Namespace = dict[str, object]
Call = tuple[Callable[..., object], tuple[object, ...], dict[str, object]]
"""A callable, its positional and its keyword arguments."""

CALL, NOTHING = "<call of the callable>", "<baseline>"
"""Stand for files that are none of the user's."""


class Blocks(Protocol):
    """A generator of a statement: sent an iterator, it runs the statement once for each item."""

    @property
    def gi_code(self) -> CodeType:
        """Its code, the setup included."""

    @property
    def gi_frame(self) -> FrameType:
        """Its frame, which has the setup's names."""

    def __next__(self) -> None:
        """Run the setup."""

    def send(self, rounds: Iterator[object], /) -> None:
        """Run a block."""


class Measured(Protocol):
    """Something whose setup has run."""

    def run(self, number: int, probe: Probe[T]) -> tuple[T, T]:
        """Run a block; what the probe said right before and right after it.

        Raises what the user's code raises. To be called by what `do` does.
        """

    def do(self, task: Callable[[], T]) -> T:
        """Do something in the thread in which blocks may run."""


class InThisThread:
    """Something whose blocks may run in the thread that made it."""

    def do(self, task: Callable[[], T]) -> T:
        """As `Measured` has it."""
        return task()


def run_global_setup(text: str, namespace: Namespace, nth: str = "") -> int:
    """Run a text at module level; the features from __future__ that hold for what follows.

    `nth` tells the names of several arms' files apart.
    """
    piece = read_piece(text, f"<global_setup{nth}>")
    _run_in_module(piece, namespace)
    return piece.futures


def statement(
    stmt: str, setup: str, namespace: Namespace, level: str, futures: int = 0, nth: str = ""
) -> Measured:
    """A statement, its global setup having run in `namespace`."""
    first = read_piece(setup, f"<setup{nth}>", futures)
    if level == "module":
        _run_in_module(first, namespace)
        return InModule(first, read_piece(stmt, f"<stmt{nth}>", first.futures), namespace)
    second = read_piece(stmt, f"<stmt{nth}>", futures, before=first.lines)
    return InFunction(Source(first, second, f"<setup and stmt{nth}>"), namespace)


def _run_in_module(piece: Piece, namespace: Namespace) -> None:
    if piece.body:
        exec(compile_piece(piece, piece.body), namespace)


@dataclass(frozen=True, slots=True)
class Source:
    """What a statement in a function was made of."""

    setup: Piece
    stmt: Piece
    name: str
    """Stands for the file's."""

    def code(self) -> CodeType:
        """Compile it; raises SyntaxError."""
        return function_code(self.setup, self.stmt, self.name)


def blocks_of(code: CodeType, namespace: Namespace) -> Callable[[], Blocks]:
    """Return what starts the generator that code of `statement` defines, and runs its setup."""
    exec(code, namespace)
    function = cast(Callable[[], Blocks], namespace.pop(FUNCTION))

    def started() -> Blocks:
        blocks = function()
        next(blocks)
        return blocks

    return started


class InFunction(InThisThread):
    """A statement whose names are local to a function."""

    def __init__(self, source: Source, namespace: Namespace, code: CodeType | None = None) -> None:
        self.source, self.namespace = source, namespace
        self.start = blocks_of(code or source.code(), namespace)
        self.blocks = self.start()
        self._rounds = repeat(None, 0)

    def run(self, number: int, probe: Probe[T]) -> tuple[T, T]:
        """As `Measured` has it."""
        rounds = repeat(None, number)
        times = bracketed(partial(self.blocks.send, rounds), probe)
        self._rounds = rounds  # kept, lest the next block be charged for freeing them
        return times


class InModule(InThisThread):
    """A statement whose names are a module's."""

    def __init__(self, setup: Piece, stmt: Piece, namespace: Namespace, code: CodeType | None = None) -> None:
        self.setup, self.stmt, self.namespace = setup, stmt, namespace
        self.code = code or module_code(stmt)

    def run(self, number: int, probe: Probe[T]) -> tuple[T, T]:
        """As `Measured` has it."""
        self.namespace[ROUNDS] = repeat(None, number)
        return bracketed(partial(exec, self.code, self.namespace), probe)


def nothing(namespace: Namespace, level: str) -> Measured:
    """What the loop as such costs: the same as `statement`, around `pass`.

    `namespace` is the statement's own, as looking a name up depends on what else a dictionary holds.
    """
    source, code = _code_of_nothing(level)
    if level == "module":
        return InModule(source.setup, source.stmt, namespace, code)
    return InFunction(source, namespace, code)


@functools.cache
def _code_of_nothing(level: str) -> tuple[Source, CodeType]:
    """Made by the zygote, as it rehearses."""
    source = Source(read_piece("", NOTHING), read_piece("pass", NOTHING, before=1), NOTHING)
    return source, module_code(read_piece("pass", NOTHING)) if level == "module" else source.code()


def calls(
    function: Callable[..., object],
    args: tuple[object, ...],
    kwargs: Mapping[str, object],
    again: Callable[[], Call] | None = None,
) -> Measured:
    """Calls of a callable; one that returns a coroutine is awaited, in a fresh event loop for each block.

    `again` returns the same call once more, of which nothing has been executed yet.
    """
    call = function, args, dict(kwargs)
    return Awaited(call, again) if _is_coroutine_function(function) else Called(call, again)


class Called(InFunction):
    """Calls of a callable, whose parts are local names."""

    def __init__(self, call: Call, again: Callable[[], Call] | None) -> None:
        self.call, self.again = call, again
        values = values_of(call)
        first = read_piece(f"{', '.join(values)}, = values", CALL)
        second = read_piece(_call_of(call), CALL, before=first.lines)
        super().__init__(Source(first, second, CALL), {"values": tuple(values.values())})


def values_of(call: Call) -> dict[str, object]:
    """Return the parts of a call by the names that the code of `Called` has for them."""
    function, args, kwargs = call
    named, others = _named(kwargs)
    values: dict[str, object] = {"function": function, **({"others": others} if others else {})}
    values |= {f"positional_{place}": value for place, value in enumerate(args)}
    return values | {f"named_{place}": value for place, value in enumerate(named.values())}


def _call_of(call: Call) -> str:
    _, args, kwargs = call
    named, others = _named(kwargs)
    passed = [f"positional_{place}" for place in range(len(args))]
    passed += [f"{name}=named_{place}" for place, name in enumerate(named)]
    passed += ["**others"] if others else []
    return f"function({', '.join(passed)})"


def _named(kwargs: Mapping[str, object]) -> tuple[dict[str, object], dict[str, object]]:
    """Split into what can be written as a keyword, and all else.

    Names beyond ASCII are normalised in source text (PEP 3131), and would become others.
    """
    plain = [name for name in kwargs if name.isascii() and name.isidentifier() and not iskeyword(name)]
    named = {name: kwargs[name] for name in plain}
    return named, {name: value for name, value in kwargs.items() if name not in named}


class Awaited(InThisThread):
    """A coroutine function; making its event loop belongs to no block."""

    def __init__(self, call: Call, again: Callable[[], Call] | None) -> None:
        self.call, self.again = call, again
        self._awaitable = awaitable_of(call)

    def run(self, number: int, probe: Probe[T]) -> tuple[T, T]:
        """As `Measured` has it."""
        import asyncio  # few jobs need it, and it takes long to import

        with asyncio.Runner() as runner:
            return runner.run(self._block(repeat(None, number), probe))

    async def _block(self, rounds: repeat[None], probe: Probe[T]) -> tuple[T, T]:
        call, none = self._awaitable, ()
        before = probe(*none)
        for _ in rounds:
            await call()
        return before, probe(*none)


def awaitable_of(call: Call) -> Callable[[], Awaitable[object]]:
    """Return what makes the coroutine of a call."""
    function, args, kwargs = call
    return cast(Callable[[], Awaitable[object]], partial(function, *args, **kwargs))


def bracketed(block: Callable[[], object], probe: Probe[T]) -> tuple[T, T]:
    """Run a block; what the probe said right before and right after it.

    Calls through `*none` are the kind that no interpreter specialises: they cost the same each time.
    """
    none = ()
    before = probe(*none)
    block(*none)
    return before, probe(*none)


def _is_coroutine_function(function: Callable[..., object]) -> bool:
    called = type(function).__call__  # what an object with a `__call__` of its own runs
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(called)
