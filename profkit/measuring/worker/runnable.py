"""Python statements and callables that run in blocks.

Each runs `number` times between two calls of a probe: a clock for times, a toggle for counts. Only the block
runs between the two calls.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping
from functools import partial
from itertools import repeat
from keyword import iskeyword
from types import CodeType, FrameType
from typing import Protocol, TypeVar, cast

from .protocol import CALL, FUNCTION, NOTHING
from .source import ROUNDS, Piece, Source, compile_piece, module_code, read_piece

T = TypeVar("T")
Probe = Callable[[], T]
Namespace = dict[str, object]
Call = tuple[Callable[..., object], tuple[object, ...], dict[str, object]]
"""A callable, its positional and keyword arguments."""

_MAX_IN_RANGE = 100 if sys.version_info >= (3, 12) else 0
"""Maximum executions of a block that iterates over a range: its integers are not made, but shared."""


class Blocks(Protocol):
    """A generator that runs its statement once for each item of an iterator sent to it."""

    @property
    def gi_code(self) -> CodeType:
        """Its code, including the setup."""

    @property
    def gi_frame(self) -> FrameType:
        """Its frame, with the setup's names."""

    def __next__(self) -> None:
        """Run the setup."""

    def send(self, rounds: Iterator[object], /) -> None:
        """Run a block."""


class Runnable(Protocol):
    """Code to measure, whose setup has run."""

    def run(self, number: int, probe: Probe[T]) -> tuple[T, T]:
        """Run a block and return the probe's results right before and after it.

        Raises what the user's code raises. Call it in a task of `do`.
        """

    def do(self, task: Callable[[], T]) -> T:
        """Run a task in the thread in which blocks may run, and return its result."""


def rounds_of(number: int) -> Iterator[object]:
    """Return an iterator for a block of `number` executions.

    CPython 3.12 and later specialise loops over ranges; for other iterators they try it again now and then,
    which changes counts.
    """
    return iter(range(number)) if number <= _MAX_IN_RANGE else repeat(None, number)


class InThisThread:
    """Base for code whose blocks may run in the thread that made it."""

    def do(self, task: Callable[[], T]) -> T:
        """See `Runnable.do`."""
        return task()


def run_global_setup(text: str, namespace: Namespace, nth: str = "") -> int:
    """Run a text at module level and return its `__future__` features, as flags for compile().

    `nth` distinguishes the file names of several cases.
    """
    piece = read_piece(text, f"<global_setup{nth}>")
    _run_in_module(piece, namespace)
    return piece.futures


def statement(
    stmt: str, setup: str, namespace: Namespace, level: str, futures: int = 0, nth: str = ""
) -> Runnable:
    """Return a statement, after running its setup; its global setup has run in `namespace`."""
    first = read_piece(setup, f"<setup{nth}>", futures)
    if level == "module":
        _run_in_module(first, namespace)
        return InModule(first, read_piece(stmt, f"<stmt{nth}>", first.futures), namespace)
    second = read_piece(stmt, f"<stmt{nth}>", futures, before=first.lines)
    return InFunction(Source(first, second, f"<setup and stmt{nth}>"), namespace)


def _run_in_module(piece: Piece, namespace: Namespace) -> None:
    if piece.body:
        exec(compile_piece(piece, piece.body), namespace)


def blocks_of(code: CodeType, namespace: Namespace) -> Callable[[], Blocks]:
    """Return a function that starts the generator defined by `code`, which runs its setup."""
    exec(code, namespace)
    function = cast(Callable[[], Blocks], namespace.pop(FUNCTION))

    def started() -> Blocks:
        blocks = function()
        next(blocks)
        return blocks

    return started


class InFunction(InThisThread):
    """A statement with names local to a function."""

    def __init__(self, source: Source, namespace: Namespace, code: CodeType | None = None) -> None:
        self.source, self.namespace = source, namespace
        self.start = blocks_of(code or source.code(), namespace)
        self.blocks = self.start()
        self._rounds = rounds_of(0)

    def run(self, number: int, probe: Probe[T]) -> tuple[T, T]:
        """See `Runnable.run`."""
        rounds = rounds_of(number)
        times = bracketed(partial(self.blocks.send, rounds), probe)
        self._rounds = rounds  # kept, so that the next block does not include freeing them
        return times


class InModule(InThisThread):
    """A statement with names of a module."""

    def __init__(self, setup: Piece, stmt: Piece, namespace: Namespace, code: CodeType | None = None) -> None:
        self.setup, self.stmt, self.namespace = setup, stmt, namespace
        self.code = code or module_code(stmt)

    def run(self, number: int, probe: Probe[T]) -> tuple[T, T]:
        """See `Runnable.run`."""
        self.namespace[ROUNDS] = rounds_of(number)
        return bracketed(partial(exec, self.code, self.namespace), probe)


def nothing(namespace: Namespace, level: str) -> Runnable:
    """Return the baseline: the loop of `statement`, around `pass`.

    `namespace` is the statement's own, as a lookup's cost depends on the other names in a dictionary.
    """
    source, code = _code_of_nothing(level)
    if level == "module":
        return InModule(source.setup, source.stmt, namespace, code)
    return InFunction(source, namespace, code)


@functools.cache
def _code_of_nothing(level: str) -> tuple[Source, CodeType]:
    """Return the baseline's code, cached by the zygote's rehearsal jobs."""
    source = Source(read_piece("", NOTHING), read_piece("pass", NOTHING, before=1), NOTHING)
    return source, module_code(read_piece("pass", NOTHING)) if level == "module" else source.code()


def calls(
    function: Callable[..., object],
    args: tuple[object, ...],
    kwargs: Mapping[str, object],
    again: Callable[[], Call] | None = None,
) -> Runnable:
    """Return calls of a callable; coroutine functions are awaited, in a new event loop for each block.

    `again` returns an unexecuted copy of the same call.
    """
    call = function, args, dict(kwargs)
    return Awaited(call, again) if _is_coroutine_function(function) else Called(call, again)


class Called(InFunction):
    """Calls of a callable; function and arguments are local names."""

    def __init__(self, call: Call, again: Callable[[], Call] | None) -> None:
        self.call, self.again = call, again
        values = values_of(call)
        first = read_piece(f"{', '.join(values)}, = values", CALL)
        second = read_piece(_call_of(call), CALL, before=first.lines)
        super().__init__(Source(first, second, CALL), {"values": tuple(values.values())})


def values_of(call: Call) -> dict[str, object]:
    """Return the parts of a call by their names in the code of `Called`."""
    function, args, kwargs = call
    named, others = _named(kwargs)
    values: dict[str, object] = {"function": function, **({"others": others} if others else {})}
    values |= {f"positional_{index}": value for index, value in enumerate(args)}
    return values | {f"named_{index}": value for index, value in enumerate(named.values())}


def _call_of(call: Call) -> str:
    _, args, kwargs = call
    named, others = _named(kwargs)
    passed = [f"positional_{index}" for index in range(len(args))]
    passed += [f"{name}=named_{index}" for index, name in enumerate(named)]
    passed += ["**others"] if others else []
    return f"function({', '.join(passed)})"


def _named(kwargs: Mapping[str, object]) -> tuple[dict[str, object], dict[str, object]]:
    """Split arguments into those that can be written as keywords, and others.

    Non-ASCII names are normalised in source text (PEP 3131), which could change them.
    """
    plain = [name for name in kwargs if name.isascii() and name.isidentifier() and not iskeyword(name)]
    named = {name: kwargs[name] for name in plain}
    return named, {name: value for name, value in kwargs.items() if name not in named}


class Awaited(InThisThread):
    """Calls of a coroutine function; blocks exclude making the event loop."""

    def __init__(self, call: Call, again: Callable[[], Call] | None) -> None:
        self.call, self.again = call, again
        self._awaitable = awaitable_of(call)

    def run(self, number: int, probe: Probe[T]) -> tuple[T, T]:
        """See `Runnable.run`."""
        import asyncio  # few jobs need it, and it takes long to import

        with asyncio.Runner() as runner:
            return runner.run(self._block(rounds_of(number), probe))

    async def _block(self, rounds: Iterator[object], probe: Probe[T]) -> tuple[T, T]:
        call, none = self._awaitable, ()
        before = probe(*none)
        for _ in rounds:
            await call()
        return before, probe(*none)


def awaitable_of(call: Call) -> Callable[[], Awaitable[object]]:
    """Return a function that makes the coroutine of a call."""
    function, args, kwargs = call
    return cast(Callable[[], Awaitable[object]], partial(function, *args, **kwargs))


def bracketed(block: Callable[[], object], probe: Probe[T]) -> tuple[T, T]:
    """Run a block and return the probe's results right before and after it.

    No interpreter specialises calls with `*none`, so they cost the same each time.
    """
    none = ()
    before = probe(*none)
    block(*none)
    return before, probe(*none)


def _is_coroutine_function(function: Callable[..., object]) -> bool:
    called = type(function).__call__  # for an object with a `__call__` of its own
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(called)
