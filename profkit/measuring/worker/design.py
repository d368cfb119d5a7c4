"""Whether the executions of a block may share a state, or each needs its own.

Sharing is what `timeit` does. It is wrong for what consumes or changes its arguments: sorting a sorted list,
or draining an empty one, is quick. So the states before and after an execution are compared; if they differ

- a callable always gets fresh arguments: that is what a call of it means,
- a statement gets a fresh setup if that makes its first execution cost something else than the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .fresh import CannotRepeat, Wanted, afresh, state_in
from .prepared import Afresh
from .protocol import Fresh
from .runnable import Awaited, Called, Measured
from .state import MOST_OBJECTS, Global, State

Cost = Callable[[Measured, int], float]
"""Runs a block of so many executions, and returns what it cost: seconds or instructions."""

_DIFFERS = 1.5
"""Largest ratio of the costs of a first execution and the next one, either way, for doing the same work."""
_WARM, _WARM_BLOCKS = 20, 10
"""Limits of warming code up: executions, and blocks' worth of them."""
_MOST = 100
_ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Effort:
    """What finding out may cost."""

    block: float
    """Cost of a block that is long enough to be compared, in the unit of `Cost`."""
    long: float
    """Executions that cost more are not repeated to make sure."""
    most_objects: int = MOST_OBJECTS
    warms: bool = False
    """Whether costs depend on what the processor has just executed."""


@dataclass(frozen=True, slots=True)
class Design:
    """How a statement is to be executed."""

    fresh: Fresh
    afresh: Afresh | None = None
    """If each execution has a state of its own."""
    other: Afresh | None = None
    """If it shares one that it changes at no other cost: what to do if it cannot go on for ever."""

    def lasting(self) -> Design:
        """Return a design in which executions do not meet what others have left, if there is one."""
        return self if self.other is None else Design({**self.fresh, "decided": True}, self.other)

    @property
    def starts_over(self) -> bool:
        """Whether only another process can measure it: here, globals are no longer what they were."""
        return self.fresh["decided"] is None


def told_design(measured: Measured, fresh: Fresh) -> Design:
    """Return the design that another process has found, or that was asked for, as far as it is possible."""
    if not fresh["decided"]:
        return Design(fresh)
    try:
        return Design(fresh, afresh(measured, _wanted(fresh)))
    except CannotRepeat as error:
        return Design({**fresh, "decided": False, "why_not": str(error)})


def alike(measured: Sequence[Measured], designs: Sequence[Design]) -> list[Design]:
    """Return designs that compare: if one has a state for each execution, all have that can.

    States of their own lie elsewhere in memory, which makes executions a little longer.
    """
    if all(design.afresh is None for design in designs):
        return list(designs)
    return [
        design if design.afresh is not None else told_design(one, {**design.fresh, "decided": True})
        for one, design in zip(measured, designs, strict=True)
    ]


def find_design(measured: Measured, fresh: Fresh, cost: Cost, effort: Effort) -> Design:
    """Find out what an execution changes; it is executed once, and more often if something does."""
    if fresh["globals"]:
        return _tried(measured, fresh, cost, effort)
    before = state_in(measured, effort.most_objects)
    took = cost(measured, 1)
    changes = before.changes(state_in(measured, effort.most_objects))
    if not changes:
        return Design({**fresh, "decided": False})
    found = _found(before, changes)
    if found["globals"]:
        return Design(found)
    return _decided(measured, found, cost, effort, took)


def _found(before: State, changes: Sequence[str]) -> Fresh:
    """Return what is known after the first execution; globals must be copied before it."""
    places = [before.globals[words] for words in changes if words in before.globals]
    return {
        "decided": None,
        "changes": list(changes),
        "globals": [[place.module, place.name] for place in places],
        "function": any(_is_of_function(words) for words in changes if words not in before.globals),
        "why_not": "",
    }


def _tried(measured: Measured, fresh: Fresh, cost: Cost, effort: Effort) -> Design:
    """As `_decided`, before the first execution: the globals are still as they were."""
    return _decided(measured, fresh, cost, effort, None)


def _decided(measured: Measured, fresh: Fresh, cost: Cost, effort: Effort, took: float | None) -> Design:
    if all(_is_lasting(words) for words in fresh["changes"]):
        return Design({**fresh, "decided": False, "why_not": "it cannot be made anew"})
    try:
        other = afresh(measured, _wanted(fresh))
        if isinstance(measured, Called | Awaited) or _differs(other, cost, effort, took):
            return Design({**fresh, "decided": True}, other)
    except CannotRepeat as error:
        return Design({**fresh, "decided": False, "why_not": str(error)})
    return Design({**fresh, "decided": False, "changes": []}, other=other)


def _differs(other: Afresh, cost: Cost, effort: Effort, took: float | None) -> bool:
    """Whether a first execution costs something else than the next one of the same state.

    Raises what the setup raises if it runs again.
    """
    states = other.states
    states.warms = effort.warms
    if took is None:
        states.of(1)
        took = cost(other.full, 1)
    long = took > effort.long
    number = 1 if long else _number(other, cost, effort, took)
    firsts, nexts = [], []
    for _ in range(1 if long else _ROUNDS):
        # The first loop fetches the states, which the executions do not need to do again.
        empty = min(cost(other.empty, number), cost(other.empty, number))
        firsts.append(cost(other.full, number) - empty)
        states.use_again()
        try:
            nexts.append(cost(other.full, number) - empty)
        except Exception:  # noqa: BLE001 - such as that there is nothing left to take
            return True
    first, following = max(min(firsts), 1e-12), max(min(nexts), 1e-12)
    return not 1 / _DIFFERS < first / following < _DIFFERS


def _number(other: Afresh, cost: Cost, effort: Effort, took: float) -> int:
    """Warm the code up, and return how many executions make a block."""
    each = max(min(took, cost(other.full, 1)), 1e-9)  # the very first one may have imported something
    warm = min(_WARM, int(_WARM_BLOCKS * effort.block / each) + 1)
    each = max(min(each, cost(other.full, warm) / warm), 1e-9)
    return min(int(effort.block / each) + 1, _MOST)


def _wanted(fresh: Fresh) -> Wanted:
    return Wanted(fresh["function"], tuple(Global(module, name) for module, name in fresh["globals"]))


def _is_of_function(words: str) -> bool:
    return not words.startswith("argument ") and not _is_lasting(words)


def _is_lasting(words: str) -> bool:
    """Whether there is no other: caches, and attributes of classes."""
    return words.startswith("the cache of ") or " of class " in words
