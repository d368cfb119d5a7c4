"""Reading of pickles that have only numbers, texts, lists, tuples and dictionaries; none of their code runs.

The operations of a pickle are listed by `pickletools`, which executes none. Those that import, call or build
objects are refused.
"""

from __future__ import annotations

import pickletools
from collections.abc import Callable

from profkit.formats.limits import Budget

_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_EMPTY: dict[str, Callable[[], object]] = {"EMPTY_DICT": dict, "EMPTY_LIST": list, "EMPTY_TUPLE": tuple}
_VALUES = frozenset({
    "BININT", "BININT1", "BININT2", "LONG1", "LONG4", "BINFLOAT",
    "SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8", "BINSTRING", "SHORT_BINSTRING",
})  # fmt: skip
_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
_IGNORED = frozenset({"PROTO", "FRAME"})
_GETS, _PUTS = frozenset({"BINGET", "LONG_BINGET"}), frozenset({"BINPUT", "LONG_BINPUT"})


def read_plain_pickle(data: bytes, budget: Budget) -> object:
    """Return the value in a pickle; raise ValueError if it is damaged, or has anything else."""
    machine = _Machine()
    try:
        for number, (opcode, argument, _) in enumerate(pickletools.genops(data)):
            if number % 4096 == 0:
                budget.count_records(4096)
            if opcode.name == "STOP":
                return machine.stack.pop()
            machine.step(opcode.name, argument)
    except (IndexError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"its pickle is damaged: {error!r}") from error
    except ValueError as error:
        raise ValueError(f"its pickle cannot be read: {error}") from error
    raise ValueError("its pickle is cut short")


class _Machine:
    """The stack of a pickle's operations, with a list of the values before each mark."""

    def __init__(self) -> None:
        self.stack: list[object] = []
        self._marked: list[list[object]] = []
        self._memo: dict[object, object] = {}

    def step(self, name: str, argument: object) -> None:
        """Execute an operation; raises ValueError for one that is not plain."""
        if name in _VALUES:
            self.stack.append(argument)
        elif name in _CONSTANTS:
            self.stack.append(_CONSTANTS[name])
        elif name in _EMPTY:
            self.stack.append(_EMPTY[name]())
        elif name in _GETS:
            self.stack.append(self._memo[argument])
        elif name in _PUTS or name == "MEMOIZE":
            self._memo[len(self._memo) if name == "MEMOIZE" else argument] = self.stack[-1]
        elif name == "MARK":
            self._marked.append(self.stack)
            self.stack = []
        elif name not in _IGNORED:
            self._collect(name)

    def _collect(self, name: str) -> None:
        """Execute an operation that puts values into a container."""
        if name in _TUPLES:
            values = tuple(self.stack.pop() for _ in range(_TUPLES[name]))[::-1]
            self.stack.append(values)
        elif name == "TUPLE":
            whole = tuple(self._to_mark())
            self.stack.append(whole)
        elif name in ("APPEND", "APPENDS"):
            self._append(self._to_mark() if name == "APPENDS" else [self.stack.pop()])
        elif name in ("SETITEM", "SETITEMS"):
            value_and_key = [] if name == "SETITEMS" else [self.stack.pop(), self.stack.pop()]
            self._set(value_and_key[::-1] or self._to_mark())
        else:
            raise ValueError(f"it has the operation {name}, which can run code or is not expected")

    def _to_mark(self) -> list[object]:
        values, self.stack = self.stack, self._marked.pop()
        return values

    def _append(self, values: list[object]) -> None:
        top = self.stack[-1]
        if not isinstance(top, list):
            raise ValueError(f"it appends to an object of type {type(top).__name__}")
        top.extend(values)

    def _set(self, items: list[object]) -> None:
        top = self.stack[-1]
        if not isinstance(top, dict):
            raise ValueError(f"it sets items of an object of type {type(top).__name__}")
        # The hash of a deeply nested tuple needs more of C's stack than there is.
        if not all(isinstance(key, (str, int)) for key in items[::2]):
            raise ValueError("it has a dictionary whose keys are neither texts nor numbers")
        if len(items) % 2:
            raise ValueError("a key has no value")
        top.update(zip(items[::2], items[1::2], strict=True))
