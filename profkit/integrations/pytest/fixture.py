"""The fixture `measure`: measure one call in a test, in the call shape of pytest-benchmark."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar, cast

import pytest

from profkit.errors import InvalidOption, UsageError
from profkit.integrations.pytest.measuring import PreparedCall, kept, prepare
from profkit.integrations.pytest.profiling import MEASURED_BY_FIXTURE, Profiling
from profkit.measuring.decorated.calls import Moment, in_process_run, now
from profkit.measuring.orders import MeasureOptions, work_order
from profkit.measuring.transfer.payload import what_and_where
from profkit.model.measurement import MeasuredRun
from profkit.process.guard import reraise_program_error

if TYPE_CHECKING:
    from profkit.integrations.pytest.settings import MarkSettings


Setup = Callable[[], "tuple[Sequence[Any], Mapping[str, Any]] | None"]
"""Function that runs before each round; it may return the arguments of that round."""


@dataclass
class Rounds:
    """Rounds of calls that are timed in this process."""

    target: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    setup: Setup | None = None
    rounds: int = 1
    warmup_rounds: int = 0
    iterations: int = 1
    min_s: float = 0.0
    """Minimum time of all rounds; there are more than `rounds` if they are shorter."""
    spans: list[tuple[Moment, Moment]] = field(default_factory=list)
    """Start and end of each round."""

    def check(self) -> None:
        """Raise InvalidOption for a number of rounds or iterations that makes no sense."""
        for name, least in (("rounds", 1), ("iterations", 1), ("warmup_rounds", 0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise InvalidOption(name, value, f"give a whole number from {least} on")

    def arguments(self) -> tuple[Sequence[Any], Mapping[str, Any]]:
        """Set a round up, and return its arguments."""
        made = self.setup() if self.setup is not None else None
        if made is None:
            return self.args, self.kwargs
        if self.iterations != 1:
            raise InvalidOption("iterations", self.iterations, "use 1 if setup returns arguments")
        return made

    def run(self) -> Any:
        """Run all rounds; return what the last call returned."""
        result = None
        while self._goes_on():
            args, kwargs = self.arguments()
            start = now()
            for _ in range(self.iterations):
                result = self.target(*args, **kwargs)
            self.spans.append((start, now()))
        return result

    async def await_calls(self) -> Any:
        """Run all rounds of a coroutine function; return what the last call returned."""
        result = None
        while self._goes_on():
            args, kwargs = self.arguments()
            start = now()
            for _ in range(self.iterations):
                result = await self.target(*args, **kwargs)
            self.spans.append((start, now()))
        return result

    def _goes_on(self) -> bool:
        done = len(self.spans) - self.warmup_rounds
        if done < self.rounds:
            return True
        return self.spans[-1][1].wall_s - self.spans[0][0].wall_s < self.min_s


_T = TypeVar("_T")
_PEDANTIC = "pedantic() runs its rounds here"


class Measure:
    """Measures one call per test, which returns as if it were called directly."""

    def __init__(self, item: pytest.Item, profiling: Profiling) -> None:
        item.stash[MEASURED_BY_FIXTURE] = True
        self._item, self._profiling = item, profiling
        self._used = False
        self.run: MeasuredRun | None = None
        """Run of the call, None before it, and if nothing is measured."""

    def __call__(self, function: Callable[..., _T], /, *args: Any, **kwargs: Any) -> _T:
        """Call a function once, measure the call, and return what the function returned.

        The arguments are packed before the call, and the call is measured after it in isolated processes. If
        they cannot be sent there, it is timed in this process. A coroutine function is awaited: `await
        measure(fetch, url)`.
        """
        __tracebackhide__ = True
        if not self._begin():
            return function(*args, **kwargs)
        return self._called(function, args, kwargs)

    def pedantic(
        self,
        target: Callable[..., _T],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        setup: Setup | None = None,
        rounds: int = 1,
        warmup_rounds: int = 0,
        iterations: int = 1,
    ) -> _T:
        """Call a function `iterations` times in each of `rounds`, and time the rounds in this process.

        `setup` runs before each round; if it returns arguments, `iterations` must be 1. Rounds for warming up
        come first, and are not timed. With mode="callgrind", rounds are repeats that are counted in another
        process, after one call here. Returns what the last call returned. A coroutine function is awaited.
        """
        __tracebackhide__ = True
        rounds_of = Rounds(target, tuple(args), dict(kwargs or {}), setup, rounds, warmup_rounds, iterations)
        rounds_of.check()
        begun = self._begin()
        if not begun or self._mode_counts():
            chosen_args, chosen_kwargs = rounds_of.arguments()
            if not begun:
                return target(*chosen_args, **chosen_kwargs)
            more: MeasureOptions = {"number": iterations, "repeats": rounds}
            return self._called(target, chosen_args, chosen_kwargs, more)
        if inspect.iscoroutinefunction(target):
            return self._awaited_rounds(rounds_of, _PEDANTIC)  # type: ignore[return-value]
        result: _T = rounds_of.run()
        self._keep_rounds(rounds_of, _PEDANTIC)
        return result

    @property
    def _asked(self) -> MarkSettings:
        return self._profiling.asked(self._item)

    def _mode_counts(self) -> bool:
        return "callgrind" in str(self._asked.measuring().get("mode"))

    def _begin(self) -> bool:
        """Return whether the call is measured; raises UsageError for a second one of the test."""
        __tracebackhide__ = True
        if not self._profiling.active:
            return False
        if self._used:
            raise UsageError(
                f"{self._item.nodeid!r} measures a second call",
                "measure one call per test: parametrize it, or split it",
            )
        self._used = True
        return True

    def _called(
        self, function: Callable[..., _T], args: Sequence[Any], kwargs: Mapping[str, Any],
        more: MeasureOptions | None = None,
    ) -> _T:  # fmt: skip
        """Call a function once, and measure the call."""
        __tracebackhide__ = True
        prepared = prepare(self._item.nodeid, self._asked, function, args, kwargs, more)
        if inspect.iscoroutinefunction(function):
            return self._awaited(prepared)  # type: ignore[return-value]
        with prepared:
            result = function(*args, **kwargs)
        self._finish(prepared)
        return result

    async def _awaited(self, prepared: PreparedCall) -> Any:
        order = prepared.order
        call = cast("Callable[..., Awaitable[Any]]", order.function)
        with prepared:
            result = await call(*order.args, **order.kwargs)
        if prepared.why_here:  # the loop of this test is running: the call cannot have another one
            rounds = Rounds(call, order.args, dict(order.kwargs), min_s=order.min_run_time_s)
            await rounds.await_calls()
            self._keep_rounds(rounds, prepared.why_here)
        else:
            self._finish(prepared)
        return result

    async def _awaited_rounds(self, rounds: Rounds, why: str) -> Any:
        result = await rounds.await_calls()
        self._keep_rounds(rounds, why)
        return result

    def _finish(self, prepared: PreparedCall) -> None:
        """Measure a call that has returned; the test's outcome does not depend on that."""
        try:
            why = prepared.why_here
            self.run = prepared.here() if why else prepared.isolated()
            self._profiling.keep(self._item, self.run, why)
        except Exception as error:  # noqa: BLE001 - in the summary
            reraise_program_error(error)
            self._profiling.note(error, "measuring a call")

    def _keep_rounds(self, rounds: Rounds, why: str) -> None:
        options: MeasureOptions = {**self._asked.measuring(), "mode": "timer", "label": self._item.nodeid}
        order = work_order(rounds.target, **options)
        described = what_and_where(rounds.target, rounds.args, rounds.kwargs)
        run = in_process_run(
            order, described, rounds.spans, why, number=rounds.iterations, warmups=rounds.warmup_rounds
        )
        self.run = kept(run)
        self._profiling.keep(self._item, self.run, why)
