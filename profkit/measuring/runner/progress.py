"""Progress of a batch: its pace, the time left, and the line that shows them."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Protocol, TextIO, runtime_checkable

from profkit.clock import SYSTEM_CLOCK, Clock
from profkit.units import format_duration

_MIN_STEPS = 3
_MIN_PART = 0.02
"""Minimum steps of a kind, and part of all, that must be done before the others are estimated."""


@dataclass(slots=True)
class _Kind:
    total: int = 0
    done: int = 0
    spent_s: float = 0.0
    """Time of all steps but the first, which includes start-up."""
    least_s: float = 0.0
    """Minimum time of all steps."""

    def add(self, steps: int, least_s: float) -> None:
        if steps < 0 < self.total:
            self.least_s *= (self.total + steps) / self.total
        self.total += steps
        self.least_s += least_s

    @property
    def left(self) -> int:
        return max(0, self.total - self.done)

    @property
    def step_s(self) -> float | None:
        """Mean time of a step; None until enough of them are done."""
        if self.done < max(_MIN_STEPS, _MIN_PART * self.total):
            return None
        return self.spent_s / (self.done - 1)

    @property
    def left_s(self) -> float:
        step_s = self.least_s / self.total if self.step_s is None else self.step_s
        return self.left * step_s


@dataclass(frozen=True, slots=True)
class Remaining:
    """Estimate of the time that is left."""

    seconds: float
    at_least: bool
    """True if the pace of some kind of step is unknown, so that its minimum time was used."""


@dataclass(slots=True)
class Pace:
    """Pace of steps of several kinds, such as counting and timing, that take very different times."""

    kinds: dict[str, _Kind] = field(default_factory=dict)
    last_s: float | None = None
    """Time at which the last step was done."""

    @property
    def total(self) -> int:
        """Number of steps of all kinds."""
        return sum(kind.total for kind in self.kinds.values())

    @property
    def done(self) -> int:
        """Number of steps that are done."""
        return sum(kind.done for kind in self.kinds.values())

    def add(self, steps: int, kind: str, least_s: float = 0.0) -> None:
        """Add steps that take at least `least_s` in total; a negative number removes steps."""
        self.kinds.setdefault(kind, _Kind()).add(steps, least_s)

    def step(self, kind: str, now_s: float) -> None:
        """Record that a step is done; with several workers, steps follow each other sooner."""
        known = self.kinds.setdefault(kind, _Kind())
        if known.done and self.last_s is not None:
            known.spent_s += now_s - self.last_s
        known.done += 1
        self.last_s = now_s

    def left(self, now_s: float) -> Remaining | None:
        """Return the time that is left; None if it cannot be estimated."""
        open_kinds = [kind for kind in self.kinds.values() if kind.left]
        known = {kind.step_s for kind in open_kinds} - {None}
        if not known or self.last_s is None:
            return None
        seconds = sum(kind.left_s for kind in open_kinds)
        under_way_s = min(now_s - self.last_s, max(step_s or 0.0 for step_s in known))
        at_least = any(kind.step_s is None for kind in open_kinds)
        return Remaining(max(0.0, seconds - under_way_s), at_least)


_CLEAR = "\r\x1b[K"
_PLAIN_EVERY_S = 5.0
"""Interval of lines in logs, which need no line for each step."""
_LONGEST_LABEL = 48

COMPILING, COUNTING, TIMING = "compiling", "counting", "timing"
"""Kinds of steps."""


@runtime_checkable
class Progress(Protocol):
    """Receiver of the runner's progress; any thread may call it."""

    def begin(self, total: int, kind: str = "", least_s: float = 0.0) -> None:
        """Add steps to do; a negative number removes steps that will never be done.

        Steps of a kind take about the same time; the added ones take at least `least_s` in total.
        """

    def at_work(self, label: str) -> None:
        """Note the label that is being measured or compiled."""

    def done(self, label: str, kind: str = "") -> None:
        """Note that one step is done."""

    def end(self) -> None:
        """Note that no more steps will follow."""


class ProgressLine:
    """Line with `done/total`, elapsed time, the time left once it can be estimated, and the current label."""

    def __init__(self, stream: TextIO | None, clock: Clock = SYSTEM_CLOCK) -> None:
        """Write to a stream; None, as of closed ones, shows nothing."""
        self._stream, self._clock = stream, clock
        self._terminal = stream is not None and stream.isatty()
        self._lock = threading.Lock()
        self._started_s = clock.monotonic_s()
        self._written_s = float("-inf")
        self._pace = Pace()

    def begin(self, total: int, kind: str = "", least_s: float = 0.0) -> None:
        """See `Progress.begin`."""
        with self._lock:
            self._pace.add(total, kind, least_s)

    def at_work(self, label: str) -> None:
        """See `Progress.at_work`."""
        with self._lock:
            self._show(label)

    def done(self, label: str, kind: str = "") -> None:
        """See `Progress.done`."""
        with self._lock:
            self._pace.step(kind, self._clock.monotonic_s())
            self._show(label, last=self._pace.done == self._pace.total)

    def end(self) -> None:
        """See `Progress.end`."""
        with self._lock:
            if self._terminal:
                self._write(_CLEAR)

    def _show(self, label: str, *, last: bool = False) -> None:
        now_s = self._clock.monotonic_s()
        if self._terminal:
            self._write(_CLEAR + self._line(label, now_s))
        elif last or now_s - self._written_s >= _PLAIN_EVERY_S:
            self._written_s = now_s
            self._write(f"profkit: {self._line(label, now_s)}\n")

    def _line(self, label: str, now_s: float) -> str:
        elapsed_s = now_s - self._started_s
        short = label if len(label) <= _LONGEST_LABEL else f"{label[: _LONGEST_LABEL - 1]}…"
        parts = [f"{self._pace.done}/{self._pace.total}", format_duration(elapsed_s)]
        if (left := self._pace.left(now_s)) is not None:
            parts.append(f"ETA {'≥ ' if left.at_least else ''}{format_duration(left.seconds)}")
        return " · ".join([*parts, "".join(c if c.isprintable() else "?" for c in short)])

    def _write(self, text: str) -> None:
        if self._stream is None:
            return
        encoding = self._stream.encoding or "utf-8"
        try:
            self._stream.write(text.encode(encoding, "replace").decode(encoding))
            self._stream.flush()
        except (OSError, ValueError):  # stderr is closed: go on without progress
            self._terminal = False
            self._written_s = float("inf")
