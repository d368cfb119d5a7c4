"""Steps of coroutines and generators: driven one by one, so that running and waiting can be told apart."""

from __future__ import annotations

import sys
import types
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from time import perf_counter_ns
from typing import Any, Protocol, cast


class Steppable(Protocol):
    """What generators, coroutines and the awaitables of async generators have in common."""

    def send(self, value: Any, /) -> Any:
        """Resume with a value."""

    def throw(self, error: BaseException, /) -> Any:
        """Resume with an exception."""


def drive(target: Steppable, active: list[int]) -> Generator[Any, Any, Any]:
    """Yield what the target yields and hand back what comes in; add each step's time to `active[0]`.

    Everything thrown in goes to the target by `throw`, GeneratorExit too: whether it answers, returns
    or ignores it is then seen outside just as without the wrapper.
    """
    method, argument = target.send, None
    while True:
        start = perf_counter_ns()
        try:
            item = method(argument)
        except StopIteration as stop:
            return stop.value
        finally:
            active[0] += perf_counter_ns() - start
            argument = None  # an exception kept here would hold its own traceback alive
        try:
            argument = yield item
            method = target.send
        except BaseException as thrown:  # noqa: BLE001 - forwarded
            method, argument = target.throw, thrown


# types.coroutine changes the function that it is given, and `yield from` refuses the result.
awaited = cast(
    Callable[[Steppable, list[int]], Awaitable[Any]],
    types.coroutine(types.FunctionType(drive.__code__, globals(), "drive")),
)
"""`drive`, for `await`."""


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
