"""Steps of coroutines and generators, run one by one to separate active from suspended time."""

from __future__ import annotations

import sys
import types
from collections.abc import AsyncGenerator, Callable, Generator
from typing import Any, Protocol, cast

from profkit.originals import REAL
from profkit.session.awaits import AwaitLooks, Awaits


class Steppable(Protocol):
    """Common interface of generators, coroutines and the awaitables of async generators."""

    def send(self, value: Any, /) -> Any:
        """Resume with a value."""

    def throw(self, error: BaseException, /) -> Any:
        """Resume with an exception."""


class Steps:
    """A generator or coroutine, run step by step; `active_ns` is the time of its steps.

    If it is looked at, `awaits` has the time for which it was suspended at each place, and how often.
    All exceptions thrown in are thrown into the target, GeneratorExit too: whether it yields, returns
    or ignores it has the same effect as without the wrapper. Items and exceptions are not kept.
    """

    __slots__ = (
        "_argument", "_looks", "_method", "_now", "_root", "_since", "_target", "active_ns", "awaits",
        "returned", "waiting",
    )  # fmt: skip

    def __init__(
        self,
        target: Steppable,
        looks: AwaitLooks | None = None,
        awaits: Awaits | None = None,
        root: object = None,
    ) -> None:
        """`root` is what awaits: the target, or the async generator of this step."""
        self._target, self._now = target, REAL.perf_counter_ns
        self._looks, self._root, self._since = looks, root or target, 0
        self.awaits: Awaits = {} if awaits is None else awaits
        self._method: Callable[[Any], Any] = target.send
        self._argument: Any = None
        self.active_ns = 0
        self.waiting = False
        """True if the target waits for its next step: an exception then was thrown in from outside."""
        self.returned = False
        """True if the target has returned."""

    def step(self) -> Any:
        """Run one step and return the item; raises what the target raises, StopIteration included."""
        method, argument, now = self._method, self._argument, self._now
        start = now()
        looks, since = self._looks, self._since
        if looks is not None and since:
            self._since = 0  # an interrupt during a look is thrown into the target, without another look
            suspended_ns, threshold_ns = start - since, looks.threshold_ns
            if suspended_ns >= threshold_ns or suspended_ns > threshold_ns * looks.random():
                looks.count(self._root, self.awaits, suspended_ns)
                start = now()
        self._argument, self.waiting = None, False
        try:
            item = method(argument)
        finally:
            self._since = end = now()
            self.active_ns += end - start
            del argument  # an exception that was thrown in would keep its own traceback alive
        self.waiting = True
        return item

    def send(self, value: Any) -> None:
        """Make the next step send a value."""
        self._method, self._argument = self._target.send, value

    def throw(self, error: BaseException) -> None:
        """Make the next step throw an exception."""
        self._method, self._argument = self._target.throw, error


@types.coroutine
def awaited(steps: Steps) -> Generator[Any, Any, Any]:
    """Await a target by its steps and return its result."""
    while True:
        try:
            steps.send((yield steps.step()))
        except BaseException as error:
            if steps.waiting:
                steps.throw(error)
            elif isinstance(error, StopIteration):
                steps.returned = True
                return error.value
            else:
                raise


def first_step(generator: AsyncGenerator[Any, Any]) -> Steppable:
    """Return the first `asend` of a user's async generator, without registering it with an event loop.

    The loop closes the wrapper's generator, which is registered. If both were, it would close the inner
    one while the outer one does so. Hooks are read at the first step (PEP 525).
    """
    hooks = sys.get_asyncgen_hooks()
    sys.set_asyncgen_hooks(None, None)
    try:
        return cast(Steppable, generator.asend(None))
    finally:
        sys.set_asyncgen_hooks(*hooks)
