"""The ledger of a batch: what is known about each of its orders, by their places."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from profkit.clock import Clock
from profkit.errors import MeasuringError
from profkit.measuring.runner.jobs import Task
from profkit.measuring.runner.outcomes import Circumstances, Outcome, failed, measured
from profkit.model.measurement import InstructionCounts, Timing
from profkit.process.manifest import process_info


class Ledger:
    """Holds what has been measured so far, and tells `finished` of each outcome as soon as it is there.

    Any thread may write; `finished` is called by one at a time.
    """

    def __init__(
        self,
        tasks: Sequence[Task],
        batch: str,
        workers: int,
        clock: Clock,
        finished: Callable[[Outcome], None],
    ) -> None:
        self.tasks = tuple(tasks)
        self._batch, self._workers, self._clock, self._finished = batch, workers, clock, finished
        self._process = process_info()
        self._lock = threading.Lock()
        self._spans: dict[int, _Span] = {}
        self._counts: dict[int, InstructionCounts] = {}
        self._timings: dict[int, Timing] = {}
        self._outcomes: dict[int, Outcome] = {}

    def outcomes(self) -> tuple[Outcome, ...]:
        """What became of each order, in the order in which they were given."""
        return tuple(self._outcomes[place] for place in sorted(self._outcomes))

    def open_places(self) -> tuple[int, ...]:
        """Orders without an outcome."""
        return tuple(place for place in range(len(self.tasks)) if place not in self._outcomes)

    def fail(self, place: int, error: MeasuringError) -> None:
        """Note that an order has no numbers, and why."""
        self._close(place, failed(self.tasks[place], self._around(place), error))

    def counted(self, place: int, counts: InstructionCounts) -> None:
        """Note an order's instructions."""
        self._counts[place] = counts
        self._close_if_whole(place)

    def timed(self, place: int, timing: Timing) -> None:
        """Note an order's times."""
        self._timings[place] = timing
        self._close_if_whole(place)

    @contextmanager
    def working_on(self, places: Iterable[int]) -> Iterator[None]:
        """Note that the body's time is that of these orders; a MeasuringError of it is theirs."""
        group = tuple(places)
        for place in group:
            self._spans.setdefault(place, _Span(self._clock)).begin()
        try:
            yield
        except MeasuringError as error:
            for place in group:
                self.fail(place, error)
        finally:
            for place in group:
                self._spans[place].end()

    def _close_if_whole(self, place: int) -> None:
        mode = self.tasks[place].order.mode
        counts, timing = self._counts.get(place), self._timings.get(place)
        if (counts is None) == (not mode.counts) and (timing is None) == (not mode.times):
            self._close(place, measured(self.tasks[place], self._around(place), timing, counts))

    def _close(self, place: int, outcome: Outcome) -> None:
        with self._lock:
            self._outcomes[place] = outcome
            self._finished(outcome)

    def _around(self, place: int) -> Circumstances:
        span = self._spans.get(place) or _Span(self._clock)
        return Circumstances(
            batch=self._batch,
            started_ns=span.started_ns,
            duration_s=span.duration_s,
            process=self._process,
            workers=self._workers,
            ended_ns=self._clock.unix_ns(),
        )


class _Span:
    """When an order's processes began, and how long they ran, without what ran in between."""

    def __init__(self, clock: Clock) -> None:
        self._clock, self.started_ns = clock, clock.unix_ns()
        self._spent_s = 0.0
        self._since_s: float | None = None

    @property
    def duration_s(self) -> float:
        """Wall time of the order's processes so far, a running one included."""
        under_way_s = 0.0 if self._since_s is None else self._clock.monotonic_s() - self._since_s
        return self._spent_s + under_way_s

    def begin(self) -> None:
        """Note that processes of the order begin."""
        self._since_s = self._clock.monotonic_s()

    def end(self) -> None:
        """Note that they ended."""
        self._spent_s, self._since_s = self.duration_s, None
