"""Steps of coroutines and generators: driven one by one, so that running and waiting can be told apart."""

from __future__ import annotations

import sys
import types
from collections.abc import AsyncGenerator, Callable, Generator
from time import perf_counter_ns
from typing import Any, Protocol, cast


class Steppable(Protocol):
    """What generators, coroutines and the awaitables of async generators have in common."""

    def send(self, value: Any, /) -> Any:
        """Resume with a value."""

    def throw(self, error: BaseException, /) -> Any:
        """Resume with an exception."""


class Steps:
    """A generator or coroutine, run step by step; `active_ns` is the time that its steps took.

    Everything thrown in goes to the target by `throw`, GeneratorExit too: whether it answers, returns
    or ignores it is then seen outside just as without the wrapper.
    """

    __slots__ = ("_argument", "_method", "_target", "active_ns", "item")

    def __init__(self, target: Steppable) -> None:
        self._target = target
        self._method: Callable[[Any], Any] = target.send
        self._argument: Any = None
        self.active_ns = 0
        self.item: Any = None
        """What the last step yielded, or what the target returned."""

    def next(self) -> bool:
        """Run one step; False when the target has returned. Raises what the target raises."""
        method, argument = self._method, self._argument
        self._argument = None  # an exception kept here would hold its own traceback alive
        start = perf_counter_ns()
        try:
            self.item = method(argument)
        except StopIteration as stop:
            self.item = stop.value
            return False
        finally:
            self.active_ns += perf_counter_ns() - start
        return True

    def send(self, value: Any) -> None:
        """Have the next step send a value."""
        self._method, self._argument = self._target.send, value

    def throw(self, error: BaseException) -> None:
        """Have the next step throw an exception."""
        self._method, self._argument = self._target.throw, error


@types.coroutine
def awaited(steps: Steps) -> Generator[Any, Any, Any]:
    """Await a target by way of its steps; gives what it returns."""
    while steps.next():
        try:
            steps.send((yield steps.item))
        except BaseException as thrown:  # noqa: BLE001 - forwarded
            steps.throw(thrown)
    return steps.item


def first_step(generator: AsyncGenerator[Any, Any]) -> Steppable:
    """The first `asend` of a user's async generator, which no event loop registers.

    The loop knows the wrapper's generator and closes it; were it to know both, it would close the inner
    one while the outer one is doing so. Hooks are read at the first step (PEP 525).
    """
    hooks = sys.get_asyncgen_hooks()
    sys.set_asyncgen_hooks(None, None)
    try:
        return cast(Steppable, generator.asend(None))
    finally:
        sys.set_asyncgen_hooks(*hooks)
