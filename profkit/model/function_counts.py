"""Instructions by function: of native code, of Python functions, and of calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar


@dataclass(frozen=True, slots=True)
class FunctionCount:
    """A function's instructions in one dump; `name` is `file:function` as callgrind_annotate writes it."""

    name: str
    exclusive: float
    """Instructions of the function itself."""
    inclusive: float
    """Instructions of the function and everything it called."""
    calls: float = 0
    """Number of calls; 0 if Callgrind saw none, as for functions that were already running."""
    object: str = ""
    """Its shared object; empty if Callgrind does not name it."""

    @property
    def key(self) -> str:
        """Its name, which identifies it in a dump."""
        return self.name

    def __add__(self, other: FunctionCount) -> FunctionCount:
        return FunctionCount(self.name, *_sums(self, other), self.object or other.object)


@dataclass(frozen=True, slots=True)
class CallCount:
    """Calls from one function to another, with their inclusive cost."""

    caller: str
    callee: str
    calls: float
    inclusive: float

    def __add__(self, other: CallCount) -> CallCount:
        calls, inclusive = self.calls + other.calls, self.inclusive + other.inclusive
        return CallCount(self.caller, self.callee, calls, inclusive)


STATEMENT = "<statement>"
"""Name of the measured statement itself among Python functions."""


@dataclass(frozen=True, slots=True)
class PythonFunctionCount:
    """Instructions of a Python function, including native code that it called, per execution."""

    name: str
    """Qualified name."""
    file: str
    line: int
    """First line; 0 if unknown."""
    exclusive: float
    """Instructions without those of Python functions that it called."""
    inclusive: float
    """Instructions with those of Python functions that it called; a recursion counts once."""
    calls: float

    @property
    def key(self) -> str:
        """`file:name`, which identifies it in a measurement."""
        return f"{self.file}:{self.name}"

    def __add__(self, other: PythonFunctionCount) -> PythonFunctionCount:
        return PythonFunctionCount(self.name, self.file, self.line, *_sums(self, other))


_AnyCount = TypeVar("_AnyCount", FunctionCount, PythonFunctionCount)


def _sums(a: _AnyCount, b: _AnyCount) -> tuple[float, float, float]:
    return a.exclusive + b.exclusive, a.inclusive + b.inclusive, a.calls + b.calls


@dataclass(frozen=True, slots=True)
class PythonCounts:
    """Instructions by Python function, from a run of its own, without the loop.

    In this run, CPython calls functions in another way, so that it compares only with its like.
    """

    functions: tuple[PythonFunctionCount, ...] = ()
    """Most exclusive first; their exclusive instructions add up to `net`, except for `elsewhere`."""
    calls: tuple[CallCount, ...] = ()
    """Calls between Python functions, by `PythonFunctionCount.key`."""
    net: float = 0.0
    """Instructions of all functions in this run, per execution."""
    elsewhere: float = 0.0
    """Part of `net` outside Python functions."""
    missing: str = ""
    """Why there are none; empty if there are."""
