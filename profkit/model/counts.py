"""What Callgrind counted: events per function."""

from __future__ import annotations

from dataclasses import dataclass

INSTRUCTIONS = "Ir"
"""Callgrind's name for instructions executed."""


@dataclass(frozen=True, slots=True)
class FunctionCount:
    """A function's instructions in one dump; `name` is `file:function` as callgrind_annotate writes it."""

    name: str
    exclusive: float
    """Executed in the function itself."""
    inclusive: float
    """With everything that it called."""
    calls: float = 0
    """How often it was called; 0 where Callgrind saw no call, as for what was running already."""
    object: str = ""
    """The shared object that holds it, empty where Callgrind does not say."""


@dataclass(frozen=True, slots=True)
class CallCount:
    """Calls from one function to another, with what they cost inclusively."""

    caller: str
    callee: str
    calls: float
    inclusive: float


@dataclass(frozen=True, slots=True)
class CallgrindDump:
    """One parsed `callgrind.out`: totals per event, and instructions per function and call."""

    events: tuple[str, ...]
    totals: tuple[int, ...]
    """One for each event."""
    functions: tuple[FunctionCount, ...]
    calls: tuple[CallCount, ...] = ()

    @property
    def instructions(self) -> int:
        """The total of `INSTRUCTIONS`."""
        return self.totals[self.events.index(INSTRUCTIONS)]
