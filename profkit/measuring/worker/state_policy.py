"""Decide whether the executions of a block share a state, or each gets its own.

`timeit` shares it. That is wrong for code that consumes or changes its arguments: sorting a sorted list, or
draining an empty one, is quick. So the states before and after an execution are compared. If they differ:

- a callable always gets fresh arguments, as any call does,
- a statement gets a fresh setup if its first execution with one costs more or less than the next.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import MethodType

from .fresh import CannotRepeat, PreparedCode, is_bound, local_names, prepare_code
from .protocol import Fresh
from .runnable import Awaited, Call, Called, InFunction, InModule, Runnable
from .state import MAX_OBJECTS, NUMBERS, State, state_of

Cost = Callable[[Runnable, int], float]
"""Function that runs a block of N executions and returns its cost in seconds or instructions."""

_DIFFERS = 1.5
"""Maximum ratio of the costs of a first and the next execution, either way, for equal work."""
_WARM, _WARM_BLOCKS = 20, 10
"""Limits of a warm-up, in executions and in blocks."""
_MAX_EXECUTIONS = 100
_ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Effort:
    """Limits of the cost of a decision."""

    block: float
    """Minimum cost of a block for comparisons, in the unit of `Cost`."""
    long: float
    """Cost above which executions are not repeated for confirmation."""
    most_objects: int = MAX_OBJECTS
    warms: bool = False
    """True if costs depend on what the processor has just executed."""


@dataclass(frozen=True, slots=True)
class StatePolicy:
    """Decision on how a statement is executed."""

    fresh: Fresh
    prepared: PreparedCode | None = None
    """Set if each execution has its own state."""
    other: PreparedCode | None = None
    """Alternative if a shared state, whose changes do not affect the cost, makes executions fail."""

    def with_fresh_state(self) -> StatePolicy:
        """Return the alternative in which each execution has its own state, if there is one."""
        return self if self.other is None else StatePolicy({**self.fresh, "decided": True}, self.other)

    @property
    def starts_over(self) -> bool:
        """True if only another process can measure it: in this one, globals have changed."""
        return self.fresh["decided"] is None


def given_policy(measured: Runnable, fresh: Fresh) -> StatePolicy:
    """Return the policy that another process found, or that was requested, if it is possible here."""
    if not fresh["decided"]:
        return StatePolicy(fresh)
    try:
        return StatePolicy(fresh, prepare_code(measured, fresh))
    except CannotRepeat as error:
        return StatePolicy({**fresh, "decided": False, "why_not": str(error)})


def comparable(measured: Sequence[Runnable], policies: Sequence[StatePolicy]) -> list[StatePolicy]:
    """Return comparable policies: if one has a state for each execution, so have all that can.

    Separate states have other places in memory, which makes executions slightly slower.
    """
    if all(policy.prepared is None for policy in policies):
        return list(policies)
    return [
        policy if policy.prepared is not None else given_policy(one, {**policy.fresh, "decided": True})
        for one, policy in zip(measured, policies, strict=True)
    ]


def find_policy(measured: Runnable, fresh: Fresh, cost: Cost, effort: Effort) -> StatePolicy:
    """Return the policy in `fresh`; if that is undecided, find what an execution changes, and decide.

    That executes it once, or more often if anything changes.
    """
    if fresh["decided"] is not None:
        return given_policy(measured, fresh)
    if fresh["globals"]:  # nothing has changed them yet
        return _decide(measured, fresh, cost, effort, None)
    before = state_in(measured, effort.most_objects)
    first_cost = cost(measured, 1)
    changes = before.changes(state_in(measured, effort.most_objects))
    if not changes:
        return StatePolicy({**fresh, "decided": False})
    found = _undecided(before, changes)
    if found["globals"]:
        return StatePolicy(found)
    return _decide(measured, found, cost, effort, first_cost)


def state_in(measured: Runnable, most_objects: int) -> State:
    """Return the state that an execution finds; empty if `measured` has no parts to inspect."""
    if isinstance(measured, Called | Awaited):
        return state_of(_parts_of(measured.call), most_objects=most_objects)
    if isinstance(measured, InFunction):
        names = local_names(measured.blocks).items()
        found = [(name, value) for name, value in names if not isinstance(value, NUMBERS)]
        found.sort(key=lambda item: callable(item[1]))  # objects that functions reach keep their own name
        return state_of(dict(found), measured.blocks.gi_code, measured.namespace, most_objects)
    if isinstance(measured, InModule):
        return state_of({}, measured.code, measured.namespace, most_objects)
    return State(whole=False)


def _parts_of(call: Call) -> dict[str, object]:
    function, args, kwargs = call
    parts: dict[str, object] = {"the function": getattr(function, "__func__", function)}
    if is_bound(function):
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


def _undecided(before: State, changes: Sequence[str]) -> Fresh:
    """Return the changes that the first execution made, undecided: globals must be copied before it."""
    variables = [before.globals[words] for words in changes if words in before.globals]
    return {
        "decided": None,
        "changes": list(changes),
        "globals": [[variable.module, variable.name] for variable in variables],
        "function": any(
            not (words in before.globals or words.startswith("argument ") or _is_permanent(words))
            for words in changes
        ),
        "why_not": "",
    }


def _decide(
    measured: Runnable, fresh: Fresh, cost: Cost, effort: Effort, first_cost: float | None
) -> StatePolicy:
    if all(_is_permanent(words) for words in fresh["changes"]):
        return StatePolicy({**fresh, "decided": False, "why_not": "it cannot be restored"})
    try:
        other = prepare_code(measured, fresh)
        if isinstance(measured, Called | Awaited) or _costs_differ(other, cost, effort, first_cost):
            return StatePolicy({**fresh, "decided": True}, other)
    except CannotRepeat as error:
        return StatePolicy({**fresh, "decided": False, "why_not": str(error)})
    return StatePolicy({**fresh, "decided": False, "changes": []}, other=other)


def _costs_differ(other: PreparedCode, cost: Cost, effort: Effort, first_cost: float | None) -> bool:
    """Return whether the costs of a first and the next execution with the same state differ.

    Raises what the setup raises if it runs again.
    """
    states = other.states
    states.warms = effort.warms
    if first_cost is None:
        states.of(1)
        first_cost = cost(other.full, 1)
    long = first_cost > effort.long
    number = 1 if long else _number(other, cost, effort, first_cost)
    firsts, nexts = [], []
    for _ in range(1 if long else _ROUNDS):
        # The first loop loads the states into the cache, which the executions need not repeat.
        empty = min(cost(other.empty, number), cost(other.empty, number))
        firsts.append(cost(other.full, number) - empty)
        states.use_again()
        try:
            nexts.append(cost(other.full, number) - empty)
        except Exception:  # noqa: BLE001 - for example, the state is used up
            return True
    first, following = max(min(firsts), 1e-12), max(min(nexts), 1e-12)
    return not 1 / _DIFFERS < first / following < _DIFFERS


def _number(other: PreparedCode, cost: Cost, effort: Effort, first_cost: float) -> int:
    """Warm the code up, and return the number of executions per block."""
    each = max(min(first_cost, cost(other.full, 1)), 1e-9)  # the first one may have imported modules
    warm = min(_WARM, int(_WARM_BLOCKS * effort.block / each) + 1)
    each = max(min(each, cost(other.full, warm) / warm), 1e-9)
    return min(int(effort.block / each) + 1, _MAX_EXECUTIONS)


def _is_permanent(words: str) -> bool:
    """Return whether the state cannot be restored: caches and class attributes."""
    return words.startswith("the cache of ") or " of class " in words
