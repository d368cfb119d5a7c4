"""How far measuring has come: one line that is drawn over on a terminal, plain lines elsewhere."""

from __future__ import annotations

import threading
from typing import Protocol, TextIO, runtime_checkable

from profkit.clock import SYSTEM_CLOCK, Clock
from profkit.measuring.runner.pace import Pace
from profkit.units import format_duration

_CLEAR = "\r\x1b[K"
_PLAIN_EVERY_S = 5.0
"""Logs are read afterwards: not a line for each step."""
_LONGEST_LABEL = 48

COMPILING, COUNTING, TIMING = "compiling", "counting", "timing"
"""Kinds of steps."""


@runtime_checkable
class Progress(Protocol):
    """Receives what the runner does; any thread may call."""

    def begin(self, total: int, kind: str = "", least_s: float = 0.0) -> None:
        """Note that so many more steps are to be done; negative for steps that never will be.

        Steps of a kind take about the same time; those that are added take `least_s` at least, all together.
        """

    def at_work(self, label: str) -> None:
        """What is being done now."""

    def done(self, label: str, kind: str = "") -> None:
        """Note that one step is done."""

    def end(self) -> None:
        """Nothing more will come."""


class Silent:
    """Tells nobody."""

    def begin(self, total: int, kind: str = "", least_s: float = 0.0) -> None:
        """See `Progress.begin`."""

    def at_work(self, label: str) -> None:
        """See `Progress.at_work`."""

    def done(self, label: str, kind: str = "") -> None:
        """See `Progress.done`."""

    def end(self) -> None:
        """See `Progress.end`."""


class Counted:
    """Passes everything on, and counts steps that are done."""

    def __init__(self, progress: Progress) -> None:
        self._progress, self.steps = progress, 0

    def begin(self, total: int, kind: str = "", least_s: float = 0.0) -> None:
        """See `Progress.begin`."""
        self._progress.begin(total, kind, least_s)

    def at_work(self, label: str) -> None:
        """See `Progress.at_work`."""
        self._progress.at_work(label)

    def done(self, label: str, kind: str = "") -> None:
        """See `Progress.done`."""
        self.steps += 1
        self._progress.done(label, kind)

    def end(self) -> None:
        """See `Progress.end`."""
        self._progress.end()


class ProgressLine:
    """`done/total`, elapsed time, the time that is left as soon as it can be known, and the label at work."""

    def __init__(self, stream: TextIO, clock: Clock = SYSTEM_CLOCK) -> None:
        self._stream, self._clock = stream, clock
        self._terminal = stream.isatty()
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
        encoding = self._stream.encoding or "utf-8"
        try:
            self._stream.write(text.encode(encoding, "replace").decode(encoding))
            self._stream.flush()
        except (OSError, ValueError):  # nobody reads stderr any more: the numbers matter more
            self._terminal = False
            self._written_s = float("inf")
