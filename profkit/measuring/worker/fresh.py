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

from .prepared import PreparedAwaits, PreparedCode, PreparedFunction, PreparedModule, States, Values
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
class RestoredState:
    """State that is restored for each execution, besides the arguments."""

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


def prepare_code(measured: Runnable, restored: RestoredState) -> PreparedCode:
    """Return `measured` with a state for each execution; raises CannotRepeat.

    If globals are wanted, call it before anything is executed.
    """
    own = _bound_by_setup(measured) if isinstance(measured, InModule) else frozenset[str]()
    try:
        saved = [
            _SavedGlobal.of(variable, measured) for variable in restored.globals if not _is_own(variable, own)
        ]
    except Exception as error:
        raise CannotRepeat(f"a global cannot be copied: {error}") from error
    if isinstance(measured, Awaited) and measured.again is not None and not saved:
        return _prepare_awaits(measured.call, measured.again, restored)
    if isinstance(measured, Called) and measured.again is not None:
        return _prepare_call(measured, measured.again, restored, saved)
    if isinstance(measured, InFunction) and not isinstance(measured, Called):
        return _prepare_function(measured, saved)
    if isinstance(measured, InModule):
        return _prepare_module(measured, sorted(own), saved)
    raise CannotRepeat("its arguments are not copied in this process")


@dataclass(frozen=True, slots=True)
class _SavedGlobal:
    """A global and its value before the first execution, pickled."""

    namespace: Namespace
    name: str
    pickled: bytes

    @classmethod
    def of(cls, variable: Global, measured: Runnable) -> _SavedGlobal:
        import cloudpickle

        own = variable.module == "__main__" and isinstance(measured, InFunction | InModule)
        namespace = measured.namespace if own else vars(sys.modules[variable.module])  # type: ignore[attr-defined]
        return cls(namespace, variable.name, cloudpickle.dumps(namespace[variable.name]))

    def values(self) -> Values:
        """Return namespace, name and value for the loop's assignment: see `fresh_code`."""
        return self.namespace, self.name, pickle.loads(self.pickled)  # pickled by this process


def _prepare_call(
    measured: Called, again: Callable[[], Call], restored: RestoredState, saved: Sequence[_SavedGlobal]
) -> PreparedCode:
    first = measured.call

    def make() -> Values:
        call = _with_function(first, again(), restored)
        return (*values_of(call).values(), *_values(saved))

    return _prepare_loop(measured, (*values_of(first), *_names(len(saved))), make)


def _prepare_function(measured: InFunction, saved: Sequence[_SavedGlobal]) -> PreparedCode:
    names = tuple(_locals(measured.start()))

    def make() -> Values:
        local = _locals(measured.start())
        try:
            return (*(local[name] for name in names), *_values(saved))
        except KeyError as missing:
            raise CannotRepeat(f"its setup does not always define {missing}") from missing

    if set(measured.blocks.gi_code.co_cellvars) & _stored(measured):
        raise CannotRepeat("it assigns to names that functions of its setup use")
    return _prepare_loop(measured, (*names, *_names(len(saved))), make)


def _prepare_loop(measured: InFunction, names: tuple[str, ...], make: Callable[[], Values]) -> PreparedCode:
    states, source = States(make), measured.source
    full, empty = (
        blocks_of(fresh_code(names, source.setup, stmt, source.name), measured.namespace)
        for stmt in (source.stmt, None)
    )
    return PreparedCode(states, PreparedFunction(states, full, True), PreparedFunction(states, empty, False))


def _prepare_module(measured: InModule, names: Sequence[str], saved: Sequence[_SavedGlobal]) -> PreparedCode:
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
        PreparedModule(
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


def _is_own(variable: Global, own: frozenset[str]) -> bool:
    return variable.module == "__main__" and variable.name in own


def _prepare_awaits(first: Call, again: Callable[[], Call], restored: RestoredState) -> PreparedCode:
    states = States(lambda: (awaitable_of(_with_function(first, again(), restored)),))
    return PreparedCode(states, PreparedAwaits(states, True), PreparedAwaits(states, False))


def _with_function(first: Call, call: Call, restored: RestoredState) -> Call:
    """Return the call with the first call's function, unless a new one is wanted; always with its code.

    CPython specialises each code object separately: a copy's would run as if for the first time.
    """
    function, args, kwargs = call
    _adopt_code(first, call)
    return function if restored.function or _is_bound(function) else first[0], args, kwargs


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


def _names(saved: int) -> list[str]:
    return [f"{word} {number}" for number in range(saved) for word in ("namespace", "name", "value")]


def _values(saved: Sequence[_SavedGlobal]) -> list[object]:
    return [value for one in saved for value in one.values()]


def _named_parts(call: Call) -> dict[str, object]:
    function, args, kwargs = call
    parts: dict[str, object] = {"the function": getattr(function, "__func__", function)}
    if _is_bound(function):
        parts = {"argument 'self'": getattr(function, "__self__", None), **parts}
    names = _parameters(function)
    for index, value in enumerate(args):
        parts[f"argument {names[index]!r}" if index < len(names) else f"argument {index + 1}"] = value
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
