"""Blocks in which each execution has a state of its own: arguments as they were sent, or a setup run anew.

States are prepared before a block. The loop hands each to its execution, which the same loop around nothing
also does: what that costs is subtracted.
"""

from __future__ import annotations

import gc
import os
import pickle
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from types import BuiltinFunctionType, CellType, FunctionType, MethodType, ModuleType
from typing import TypeVar

from .measured import (
    Awaited,
    Blocks,
    Call,
    Called,
    InFunction,
    InThisThread,
    Measured,
    Namespace,
    Probe,
    awaitable_of,
    blocks_of,
    bracketed,
    values_of,
)
from .state import Global, State, state_of
from .statement import fresh_code

T = TypeVar("T")
Values = tuple[object, ...]
Clock = Callable[[], float]

_TRIED = 100
_TRYING_S = 0.02
_PREPARING_S = 0.02
"""Longest time to prepare a block's states."""
_WARM = 20
"""Most executions before a block."""
_MEMORY_SHARE = 8
"""States of a block take at most so large a part of the memory that is available."""
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class CannotRepeat(Exception):
    """There is no second state like the first; the message says why."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What besides the arguments each execution is to have anew."""

    function: bool = False
    """The function's own closure, default values and attributes."""
    globals: tuple[Global, ...] = ()


class States:
    """States for blocks, made before each; what a block has used up is let go before the next."""

    def __init__(self, make: Callable[[], Values]) -> None:
        self.most, self.each_s = sys.maxsize, 0.0
        """States that a block may have, and what it takes to make one."""
        self.warms = False
        """Whether some executions go before each block.

        After the making of states, the processor has to fetch the code again, for some 10 µs.
        """
        self._make = make
        self._ready: list[Values] = []
        self._spare: list[Values] = []
        self._used = False

    def of(self, number: int) -> list[Values]:
        """Return so many states of which nothing has used any; the same ones until `use`."""
        if self._used or len(self._ready) != number:
            self._ready = []
            gc.collect(0)  # copies may be cycles; as the collector is off they are in the youngest generation
            self._ready = [self._make() for _ in range(number)]
            self._spare = [self._make() for _ in range(min(_WARM, number // 4) if self.warms else 0)]
            self._used = False
        return self._ready

    def spare(self) -> list[Values]:
        """Return states for executions before the block, once."""
        spare, self._spare = self._spare, []
        return spare

    def use(self) -> None:
        """Note that the states are no longer as they were made."""
        self._used = True

    def use_again(self) -> None:
        """Have the next block take the states that the last one has used, if it is of the same size."""
        self._used = False

    def limit(self, memory_bytes: int | None = None, clock: Clock = time.perf_counter) -> None:
        """Find out how many states a block may have, by the time and the memory that some take.

        `memory_bytes` is what the process may use; None: as much as is available.
        """
        tried: list[Values] = []
        start_s, before = clock(), _resident_bytes()
        while not tried or (len(tried) < _TRIED and clock() - start_s < _TRYING_S):
            tried.append(self._make())
        self.warms = True
        self.each_s = each_s = max((clock() - start_s) / len(tried), 1e-9)
        each_bytes = max((_resident_bytes() - before) / len(tried), 1.0)
        usable_bytes = min(_available_bytes(), memory_bytes or sys.maxsize)
        by_memory = usable_bytes / _MEMORY_SHARE / each_bytes
        self.most = max(1, int(min(by_memory, _PREPARING_S / each_s)))


@dataclass(frozen=True, slots=True)
class Afresh:
    """Something measured with a state for each execution, and its loop around nothing."""

    states: States
    full: Measured
    empty: Measured


class _InFunction(InThisThread):
    """Blocks of a generator that gets its states from an iterator."""

    def __init__(self, states: States, start: Callable[[], Blocks], uses: bool) -> None:
        self._states, self._blocks, self._uses = states, start(), uses
        self._rounds: Iterator[Values] = iter(())

    def run(self, number: int, probe: Probe[T]) -> tuple[T, T]:
        """As `Measured` has it."""
        rounds = iter(self._states.of(number))
        if self._uses:
            self._states.use()
            self._blocks.send(iter(self._states.spare()))
        times = bracketed(partial(self._blocks.send, rounds), probe)
        self._rounds = rounds
        return times


class _Awaited(InThisThread):
    """Blocks of a coroutine function; the state is what makes the coroutine."""

    def __init__(self, states: States, uses: bool) -> None:
        self._states, self._uses = states, uses

    def run(self, number: int, probe: Probe[T]) -> tuple[T, T]:
        """As `Measured` has it."""
        import asyncio  # few jobs need it, and it takes long to import

        states = self._states.of(number)
        if self._uses:
            self._states.use()
        with asyncio.Runner() as runner:
            return runner.run(self._block(states, probe))

    async def _block(self, states: Sequence[Values], probe: Probe[T]) -> tuple[T, T]:
        none = ()
        before = probe(*none)
        if self._uses:
            for (call,) in states:
                await call()  # type: ignore[operator]
        else:
            for (_call,) in states:
                pass
        return before, probe(*none)


def state_in(measured: Measured, most_objects: int) -> State:
    """Return the state that an execution finds; nothing of what has no parts that could be looked at."""
    if isinstance(measured, Called | Awaited):
        return state_of(_named_parts(measured.call), most_objects=most_objects)
    if isinstance(measured, InFunction):
        found = [(name, value) for name, value in _locals(measured.blocks).items() if not _is_number(value)]
        found.sort(key=lambda item: callable(item[1]))  # what functions reach is named by its own name
        return state_of(dict(found), measured.blocks.gi_code, measured.namespace, most_objects)
    return State(whole=False)


def afresh(measured: Measured, wanted: Wanted) -> Afresh:
    """Return the same with a state for each execution; raises CannotRepeat.

    To be called before anything has been executed, if globals are wanted.
    """
    try:
        rebound = [_Rebound.of(place, measured) for place in wanted.globals]
    except Exception as error:
        raise CannotRepeat(f"a global cannot be copied: {error}") from error
    if isinstance(measured, Awaited) and measured.again is not None and not rebound:
        return _awaited_afresh(measured.call, measured.again, wanted)
    if isinstance(measured, Called) and measured.again is not None:
        return _called_afresh(measured, measured.again, wanted, rebound)
    if isinstance(measured, InFunction) and not isinstance(measured, Called):
        return _stated_afresh(measured, rebound)
    if isinstance(measured, InFunction | Awaited):
        raise CannotRepeat("its arguments are not copied in this process")
    raise CannotRepeat("its names are those of a module")


@dataclass(frozen=True, slots=True)
class _Rebound:
    """A global, as it was before the first execution."""

    namespace: Namespace
    name: str
    pickled: bytes

    @classmethod
    def of(cls, place: Global, measured: Measured) -> _Rebound:
        import cloudpickle

        own = place.module == "__main__" and isinstance(measured, InFunction)
        namespace = measured.namespace if own else vars(sys.modules[place.module])  # type: ignore[attr-defined]
        return cls(namespace, place.name, cloudpickle.dumps(namespace[place.name]))

    def values(self) -> Values:
        """Return the values that the loop assigns by: see `fresh_code`."""
        return self.namespace, self.name, pickle.loads(self.pickled)  # our own bytes


def _called_afresh(
    measured: Called, again: Callable[[], Call], wanted: Wanted, rebound: Sequence[_Rebound]
) -> Afresh:
    first = measured.call

    def make() -> Values:
        call = _with_function(first, again(), wanted)
        return (*values_of(call).values(), *_values(rebound))

    return _looped(measured, (*values_of(first), *_names(rebound)), make)


def _stated_afresh(measured: InFunction, rebound: Sequence[_Rebound]) -> Afresh:
    names = tuple(_locals(measured.start()))

    def make() -> Values:
        local = _locals(measured.start())
        try:
            return (*(local[name] for name in names), *_values(rebound))
        except KeyError as missing:
            raise CannotRepeat(f"its setup does not always define {missing}") from missing

    if set(measured.blocks.gi_code.co_cellvars) & _stored(measured):
        raise CannotRepeat("it assigns to names that functions of its setup use")
    return _looped(measured, (*names, *_names(rebound)), make)


def _looped(measured: InFunction, names: tuple[str, ...], make: Callable[[], Values]) -> Afresh:
    states, source = States(make), measured.source
    full, empty = (
        blocks_of(fresh_code(names, source.setup, stmt, source.name), measured.namespace)
        for stmt in (source.stmt, None)
    )
    return Afresh(states, _InFunction(states, full, True), _InFunction(states, empty, False))


def _awaited_afresh(first: Call, again: Callable[[], Call], wanted: Wanted) -> Afresh:
    states = States(lambda: (awaitable_of(_with_function(first, again(), wanted)),))
    return Afresh(states, _Awaited(states, True), _Awaited(states, False))


def _with_function(first: Call, call: Call, wanted: Wanted) -> Call:
    """Return the call with the first one's function, unless that is wanted anew; with its code at any rate.

    Each code object is specialised by itself: that of a copy would be executed as if never before.
    """
    function, args, kwargs = call
    _adopt_code(first, call)
    return function if wanted.function or _is_bound(function) else first[0], args, kwargs


def _is_bound(function: object) -> bool:
    kind = type(function)
    if kind is BuiltinFunctionType:
        return not isinstance(getattr(function, "__self__", None), ModuleType)
    return kind is MethodType


def _adopt_code(first: object, copy: object) -> None:
    ahead, seen = [(first, copy)], set[int]()
    while ahead:
        one, other = ahead.pop()
        if type(one) is not type(other) or one is other or id(other) in seen:
            continue
        seen.add(id(other))
        if isinstance(one, FunctionType) and isinstance(other, FunctionType):
            if one.__code__ == other.__code__:
                other.__code__ = one.__code__
            ahead += zip(one.__closure__ or (), other.__closure__ or (), strict=False)
            ahead += _shared(one.__globals__, other.__globals__)
        elif isinstance(one, CellType) and isinstance(other, CellType):
            if CellType() not in (one, other):
                ahead.append((one.cell_contents, other.cell_contents))
        elif isinstance(one, tuple | list) and isinstance(other, tuple | list):
            ahead += zip(one[:_TRIED], other[:_TRIED], strict=False)
        elif isinstance(one, dict) and isinstance(other, dict) and len(one) <= _TRIED:
            ahead += _shared(one, other)
        elif isinstance(one, partial) and isinstance(other, partial):
            ahead.append((one.func, other.func))


def _shared(one: dict[str, object], other: dict[str, object]) -> list[tuple[object, object]]:
    kinds = (FunctionType, CellType, tuple, list, dict, partial)
    return [(value, other[key]) for key, value in one.items() if isinstance(value, kinds) and key in other]


def _names(rebound: Sequence[_Rebound]) -> list[str]:
    return [f"{word} {number}" for number in range(len(rebound)) for word in ("namespace", "name", "value")]


def _values(rebound: Sequence[_Rebound]) -> list[object]:
    return [value for one in rebound for value in one.values()]


def _named_parts(call: Call) -> dict[str, object]:
    function, args, kwargs = call
    parts: dict[str, object] = {"the function": getattr(function, "__func__", function)}
    if _is_bound(function):
        parts = {"argument 'self'": getattr(function, "__self__", None), **parts}
    names = _parameters(function)
    for place, value in enumerate(args):
        parts[f"argument {names[place]!r}" if place < len(names) else f"argument {place + 1}"] = value
    return parts | {f"argument {name!r}": value for name, value in kwargs.items()}


def _parameters(function: object) -> tuple[str, ...]:
    """Return the names of positional parameters, those after a bound one."""
    bound = isinstance(function, MethodType)
    plain = getattr(function, "__func__", function)
    code = getattr(plain, "__code__", None)
    return () if code is None else code.co_varnames[bound : code.co_argcount]


def _locals(blocks: Blocks) -> dict[str, object]:
    """Return the names that a setup has bound; none of an identifier's form is the worker's own."""
    return {name: value for name, value in blocks.gi_frame.f_locals.items() if name.isidentifier()}


def _stored(measured: InFunction) -> set[str]:
    import ast  # the statement was parsed with it

    nodes = (inner for node in measured.source.stmt.body for inner in ast.walk(node))
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | complex | None)


def _resident_bytes() -> int:
    with open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[1]) * _PAGE_BYTES


def _available_bytes() -> int:
    with open("/proc/meminfo", "rb") as file:
        for line in file:
            if line.startswith(b"MemAvailable:"):
                return int(line.split()[1]) * 1024
    return 1 << 30
