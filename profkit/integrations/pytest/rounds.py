"""Rounds of calls that are timed in the process of the test, as `measure.pedantic` asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from profkit.errors import InvalidOption
from profkit.measuring.decorated.calls import Moment, now

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
