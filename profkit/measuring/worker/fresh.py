"""Blocks in which each execution has its own state: the original arguments, or a new run of the setup.

States are prepared before a block, and the loop assigns one to each execution. The empty loop does the same,
and its cost is subtracted.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType

from .prepared import Afresh, PreparedAwaits, PreparedFunction, PreparedModule, States, Values
from .runnable import (
    Awaited,
    Blocks,
    Call,
    Called,
    InFunction,
    InModule,
    Namespace,
    Runnable,
    awaitable_of,
    blocks_of,
    values_of,
)
from .source import compile_piece, fresh_code, fresh_module_code
from .state import Global, State, state_of

_TRIED = 100
"""Maximum number of items of a collection that are searched for functions."""


class CannotRepeat(Exception):
    """No second state like the first can be made; the message says why."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """State that each execution gets anew, besides the arguments."""

    function: bool = False
    """True for the function's closure, default values and attributes."""
    globals: tuple[Global, ...] = ()


def state_in(measured: Runnable, most_objects: int) -> State:
    """Return the state that an execution finds; empty if `measured` has no parts to inspect."""
    if isinstance(measured, Called | Awaited):
        return state_of(_named_parts(measured.call), most_objects=most_objects)
    if isinstance(measured, InFunction):
        found = [(name, value) for name, value in _locals(measured.blocks).items() if not _is_number(value)]
        found.sort(key=lambda item: callable(item[1]))  # objects that functions reach keep their own name
        return state_of(dict(found), measured.blocks.gi_code, measured.namespace, most_objects)
    if isinstance(measured, InModule):
        return state_of({}, measured.code, measured.namespace, most_objects)
    return State(whole=False)


def afresh(measured: Runnable, wanted: Wanted) -> Afresh:
    """Return `measured` with a state for each execution; raises CannotRepeat.

    If globals are wanted, call it before anything is executed.
    """
    own = _bound_by_setup(measured) if isinstance(measured, InModule) else frozenset[str]()
    try:
        rebound = [_Rebound.of(place, measured) for place in wanted.globals if not _is_own(place, own)]
    except Exception as error:
        raise CannotRepeat(f"a global cannot be copied: {error}") from error
    if isinstance(measured, Awaited) and measured.again is not None and not rebound:
        return _awaited_afresh(measured.call, measured.again, wanted)
    if isinstance(measured, Called) and measured.again is not None:
        return _called_afresh(measured, measured.again, wanted, rebound)
    if isinstance(measured, InFunction) and not isinstance(measured, Called):
        return _stated_afresh(measured, rebound)
    if isinstance(measured, InModule):
        return _module_afresh(measured, sorted(own), rebound)
    raise CannotRepeat("its arguments are not copied in this process")


@dataclass(frozen=True, slots=True)
class _Rebound:
    """A global and its value before the first execution, pickled."""

    namespace: Namespace
    name: str
    pickled: bytes

    @classmethod
    def of(cls, place: Global, measured: Runnable) -> _Rebound:
        import cloudpickle

        own = place.module == "__main__" and isinstance(measured, InFunction | InModule)
        namespace = measured.namespace if own else vars(sys.modules[place.module])  # type: ignore[attr-defined]
        return cls(namespace, place.name, cloudpickle.dumps(namespace[place.name]))

    def values(self) -> Values:
        """Return namespace, name and value for the loop's assignment: see `fresh_code`."""
        return self.namespace, self.name, pickle.loads(self.pickled)  # pickled by this process


def _called_afresh(
    measured: Called, again: Callable[[], Call], wanted: Wanted, rebound: Sequence[_Rebound]
) -> Afresh:
    first = measured.call

    def make() -> Values:
        call = _with_function(first, again(), wanted)
        return (*values_of(call).values(), *_values(rebound))

    return _looped(measured, (*values_of(first), *_names(len(rebound))), make)


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
    return _looped(measured, (*names, *_names(len(rebound))), make)


def _looped(measured: InFunction, names: tuple[str, ...], make: Callable[[], Values]) -> Afresh:
    states, source = States(make), measured.source
    full, empty = (
        blocks_of(fresh_code(names, source.setup, stmt, source.name), measured.namespace)
        for stmt in (source.stmt, None)
    )
    return Afresh(states, PreparedFunction(states, full, True), PreparedFunction(states, empty, False))


def _module_afresh(measured: InModule, names: Sequence[str], rebound: Sequence[_Rebound]) -> Afresh:
    namespace, setup = measured.namespace, compile_piece(measured.setup, measured.setup.body)

    def make() -> Values:
        exec(setup, namespace)
        try:
            made = [value for name in names for value in (namespace, name, namespace[name])]
        except KeyError as missing:
            raise CannotRepeat(f"its setup does not always define {missing}") from missing
        return (*made, *_values(rebound))

    states, targets = States(make), _names(len(names) + len(rebound))
    full, empty = (
        PreparedModule(
            states, fresh_module_code(targets, measured.stmt, empty=is_empty), namespace, not is_empty
        )
        for is_empty in (False, True)
    )
    return Afresh(states, full, empty)


def _bound_by_setup(measured: InModule) -> frozenset[str]:
    """Return the names that a module's setup binds and does not delete."""
    import dis  # few jobs need it

    code: CodeType = compile_piece(measured.setup, measured.setup.body)
    stored = {
        one.argval for one in dis.get_instructions(code) if one.opname in ("STORE_NAME", "STORE_GLOBAL")
    }
    return frozenset(stored & measured.namespace.keys())


def _is_own(place: Global, own: frozenset[str]) -> bool:
    return place.module == "__main__" and place.name in own


def _awaited_afresh(first: Call, again: Callable[[], Call], wanted: Wanted) -> Afresh:
    states = States(lambda: (awaitable_of(_with_function(first, again(), wanted)),))
    return Afresh(states, PreparedAwaits(states, True), PreparedAwaits(states, False))


def _with_function(first: Call, call: Call, wanted: Wanted) -> Call:
    """Return the call with the first call's function, unless a new one is wanted; always with its code.

    CPython specialises each code object separately: a copy's would run as if for the first time.
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


def _names(rebound: int) -> list[str]:
    return [f"{word} {number}" for number in range(rebound) for word in ("namespace", "name", "value")]


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
    """Return the names of positional parameters, without a bound one."""
    bound = isinstance(function, MethodType)
    plain = getattr(function, "__func__", function)
    code = getattr(plain, "__code__", None)
    return () if code is None else code.co_varnames[bound : code.co_argcount]


def _locals(blocks: Blocks) -> dict[str, object]:
    """Return the variables of a setup; the worker's own names are not identifiers."""
    return {name: value for name, value in blocks.gi_frame.f_locals.items() if name.isidentifier()}


def _stored(measured: InFunction) -> set[str]:
    import ast  # the statement was parsed with it

    nodes = (inner for node in measured.source.stmt.body for inner in ast.walk(node))
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | complex | None)
