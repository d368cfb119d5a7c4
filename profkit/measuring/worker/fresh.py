"""Blocks in which each execution has its own state: the original arguments, or a new run of the setup.

States are prepared before a block, and the loop assigns one to each execution. The empty loop does the same,
and its cost is subtracted.
"""

from __future__ import annotations

import gc
import pickle
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import TypeVar

from .processes import bytes_in
from .protocol import Fresh
from .runnable import (
    Awaited,
    Blocks,
    Call,
    Called,
    InFunction,
    InModule,
    InThisThread,
    Namespace,
    Probe,
    Runnable,
    awaitable_of,
    blocks_of,
    bracketed,
    values_of,
)
from .source import ROUNDS, compile_piece, fresh_module_code

T = TypeVar("T")
Values = tuple[object, ...]
Make = Callable[[], Values]
"""Function that makes the values of a new state, or of a part of it."""
Clock = Callable[[], float]

_MAX_TRIED = 100
_TRYING_S = 0.02
_PREPARING_S = 0.02
"""Maximum time to prepare a block's states."""
_WARM = 20
"""Maximum warm-up executions before a block."""
_MEMORY_SHARE = 8
"""A block's states take at most this fraction (1/N) of the available memory."""
_UNKNOWN_BYTES = 1 << 30
_TRIED = 100
"""Maximum number of items of a collection that are searched for functions."""


class States:
    """States for blocks, made before each block; used ones are freed before the next block."""

    def __init__(self, make: Make) -> None:
        self.most, self.each_s = sys.maxsize, 0.0
        """Maximum number of states per block, and time to make one."""
        self.warms = False
        """True if some warm-up executions precede each block.

        After states are made, the processor fetches the code again, which takes some 10 µs.
        """
        self._make = make
        self._ready: list[Values] = []
        self._spare: list[Values] = []
        self._used = False

    def of(self, number: int) -> list[Values]:
        """Return `number` unused states; the same ones until `use`."""
        if self._used or len(self._ready) != number:
            self._ready = []
            gc.collect(0)  # copies may have cycles, in the youngest generation as the collector is off
            self._ready = [self._make() for _ in range(number)]
            self._spare = [self._make() for _ in range(min(_WARM, number // 4) if self.warms else 0)]
            self._used = False
        return self._ready

    def spare(self) -> list[Values]:
        """Return the states for warm-up executions, once."""
        spare, self._spare = self._spare, []
        return spare

    def use(self) -> None:
        """Mark the states as used."""
        self._used = True

    def use_again(self) -> None:
        """Reuse the used states for the next block, if it has the same size."""
        self._used = False

    def limit(self, memory_bytes: int | None = None, clock: Clock = time.perf_counter) -> None:
        """Set the maximum number of states per block, from the time and memory that some take.

        `memory_bytes` limits the process; None: all available memory.
        """
        resident_bytes = partial(bytes_in, "/proc/self/status", (b"VmRSS:",))
        tried: list[Values] = []
        start_s, before = clock(), resident_bytes()
        while not tried or (len(tried) < _MAX_TRIED and clock() - start_s < _TRYING_S):
            tried.append(self._make())
        self.warms = True
        self.each_s = each_s = max((clock() - start_s) / len(tried), 1e-9)
        each_bytes = max((resident_bytes() - before) / len(tried), 1.0)
        available_bytes = bytes_in("/proc/meminfo", (b"MemAvailable:",)) or _UNKNOWN_BYTES
        usable_bytes = min(available_bytes, memory_bytes or sys.maxsize)
        by_memory = usable_bytes / _MEMORY_SHARE / each_bytes
        self.most = max(1, int(min(by_memory, _PREPARING_S / each_s)))


@dataclass(frozen=True, slots=True)
class PreparedCode:
    """Measured code with a state for each execution, and its empty loop."""

    states: States
    full: Runnable
    empty: Runnable


class CannotRepeat(Exception):
    """No second state like the first can be made; the message says why."""


def prepare_code(measured: Runnable, fresh: Fresh) -> PreparedCode:
    """Return `measured` with a state for each execution; raises CannotRepeat.

    If globals are to be restored, call it before anything is executed.
    """
    own = _bound_by_setup(measured) if isinstance(measured, InModule) else frozenset[str]()
    others = [(module, name) for module, name in fresh["globals"] if module != "__main__" or name not in own]
    try:
        saved = [_saved_global(module, name, measured) for module, name in others]
    except Exception as error:
        raise CannotRepeat(f"a global cannot be copied: {error}") from error
    if isinstance(measured, Called | Awaited) and measured.again is not None:
        first, again, renewed = measured.call, measured.again, fresh["function"]
        if isinstance(measured, Called):
            return _prepare_call(measured, lambda: _with_function(first, again(), renewed), saved)
        if not saved:
            states = States(lambda: (awaitable_of(_with_function(first, again(), renewed)),))
            return PreparedCode(states, _PreparedAwaits(states, True), _PreparedAwaits(states, False))
    if isinstance(measured, InFunction) and not isinstance(measured, Called):
        return _prepare_function(measured, saved)
    if isinstance(measured, InModule):
        return _prepare_module(measured, sorted(own), saved)
    raise CannotRepeat("its arguments are not copied in this process")


def _saved_global(module: str, name: str, measured: Runnable) -> Make:
    """Return a function that returns a global's namespace, name and value, copied now.

    They are for the loop's assignment: see `Source.fresh_code`.
    """
    import cloudpickle

    own = module == "__main__" and isinstance(measured, InFunction | InModule)
    namespace = measured.namespace if own else vars(sys.modules[module])  # type: ignore[attr-defined]
    pickled = cloudpickle.dumps(namespace[name])
    return lambda: (namespace, name, pickle.loads(pickled))  # pickled by this process


def _prepare_call(measured: Called, again: Callable[[], Call], saved: Sequence[Make]) -> PreparedCode:
    def make() -> Values:
        return (*values_of(again()).values(), *_values(saved))

    return _prepare_loop(measured, (*values_of(measured.call), *_names(len(saved))), make)


def _prepare_function(measured: InFunction, saved: Sequence[Make]) -> PreparedCode:
    names = tuple(local_names(measured.start()))

    def make() -> Values:
        local = local_names(measured.start())
        try:
            return (*(local[name] for name in names), *_values(saved))
        except KeyError as missing:
            raise CannotRepeat(f"its setup does not always define {missing}") from missing

    if set(measured.blocks.gi_code.co_cellvars) & _stored(measured):
        raise CannotRepeat("it assigns to names that functions of its setup use")
    return _prepare_loop(measured, (*names, *_names(len(saved))), make)


def _prepare_loop(measured: InFunction, names: tuple[str, ...], make: Make) -> PreparedCode:
    states, source = States(make), measured.source
    full, empty = (
        blocks_of(source.fresh_code(names, empty=empty), measured.namespace) for empty in (False, True)
    )
    return PreparedCode(
        states, _PreparedFunction(states, full, True), _PreparedFunction(states, empty, False)
    )


def _prepare_module(measured: InModule, names: Sequence[str], saved: Sequence[Make]) -> PreparedCode:
    namespace, setup = measured.namespace, compile_piece(measured.setup, measured.setup.body)

    def make() -> Values:
        exec(setup, namespace)
        try:
            values = [value for name in names for value in (namespace, name, namespace[name])]
        except KeyError as missing:
            raise CannotRepeat(f"its setup does not always define {missing}") from missing
        return (*values, *_values(saved))

    states, targets = States(make), _names(len(names) + len(saved))
    full, empty = (
        _PreparedModule(
            states, fresh_module_code(targets, measured.stmt, empty=is_empty), namespace, not is_empty
        )
        for is_empty in (False, True)
    )
    return PreparedCode(states, full, empty)


def _bound_by_setup(measured: InModule) -> frozenset[str]:
    """Return the names that a module's setup binds and does not delete."""
    import dis  # few jobs need it

    code: CodeType = compile_piece(measured.setup, measured.setup.body)
    stored = {
        one.argval for one in dis.get_instructions(code) if one.opname in ("STORE_NAME", "STORE_GLOBAL")
    }
    return frozenset(stored & measured.namespace.keys())


def _with_function(first: Call, call: Call, renewed: bool) -> Call:
    """Return the call with the first call's function, unless that is `renewed`; always with its code.

    CPython specialises each code object separately: a copy's would run as if for the first time.
    """
    function, args, kwargs = call
    _adopt_code(first, call)
    return function if renewed or is_bound(function) else first[0], args, kwargs


def is_bound(function: object) -> bool:
    """Return whether a function has an object as its `__self__`."""
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


def _names(saved: int) -> list[str]:
    return [f"{word} {number}" for number in range(saved) for word in ("namespace", "name", "value")]


def _values(saved: Sequence[Make]) -> list[object]:
    return [value for one in saved for value in one()]


def local_names(blocks: Blocks) -> dict[str, object]:
    """Return the variables of a setup; the worker's own names are not identifiers."""
    return {name: value for name, value in blocks.gi_frame.f_locals.items() if name.isidentifier()}


def _stored(measured: InFunction) -> set[str]:
    import ast  # the statement was parsed with it

    nodes = (inner for node in measured.source.stmt.body for inner in ast.walk(node))
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


class _PreparedFunction(InThisThread):
    def __init__(self, states: States, start: Callable[[], Blocks], uses: bool) -> None:
        self._states, self._blocks, self._uses = states, start(), uses
        self._rounds: Iterator[Values] = iter(())

    def run(self, number: int, probe: Probe[T]) -> tuple[T, T]:
        rounds = iter(self._states.of(number))
        if self._uses:
            self._states.use()
            self._blocks.send(iter(self._states.spare()))
        times = bracketed(partial(self._blocks.send, rounds), probe)
        self._rounds = rounds
        return times


class _PreparedModule(InThisThread):
    def __init__(self, states: States, code: CodeType, namespace: Namespace, uses: bool) -> None:
        self._states, self._code, self._namespace, self._uses = states, code, namespace, uses

    def run(self, number: int, probe: Probe[T]) -> tuple[T, T]:
        rounds = iter(self._states.of(number))
        if self._uses:
            self._states.use()
            self._namespace[ROUNDS] = iter(self._states.spare())
            exec(self._code, self._namespace)
        self._namespace[ROUNDS] = rounds
        return bracketed(partial(exec, self._code, self._namespace), probe)


class _PreparedAwaits(InThisThread):
    """Blocks of a coroutine function; a state is a function that returns the coroutine."""

    def __init__(self, states: States, uses: bool) -> None:
        self._states, self._uses = states, uses

    def run(self, number: int, probe: Probe[T]) -> tuple[T, T]:
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
