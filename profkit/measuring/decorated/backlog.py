"""Queue of calls to measure: how much may wait, which is next, and the thread that measures them."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from profkit.clock import SYSTEM_CLOCK, Clock
from profkit.errors import CannotTravel, ProfkitError
from profkit.measuring.pool.launching import leave_signals
from profkit.measuring.transfer.payload import Payload
from profkit.model.measurement import MeasuredRun
from profkit.originals import REAL
from profkit.process.guard import explained, say_once

if TYPE_CHECKING:
    from profkit.measuring.decorated.watch import Watch

MAX_WAITING_BYTES = 2 << 30
_NAMED, _LONGEST = 5, 80
"""Number of calls named in one message, and the maximum length of such a name."""
_FIX = "read `runs` of the function earlier, or raise exit_timeout_s= or PROFKIT_EXIT_TIMEOUT"

LOG = logging.getLogger("profkit")


@dataclass(frozen=True, slots=True, eq=False)
class Pending:
    """One call to measure."""

    owner: Watch
    label: str
    measure: Callable[[], MeasuredRun]
    """Measures the call and returns when done; raises errors of measuring."""
    payload: Payload | None = None


class Backlog:
    """Daemon thread that measures one call after the other; it starts with the first."""

    def __init__(self, clock: Clock = SYSTEM_CLOCK) -> None:
        self.clock, self.forked = clock, False
        """`forked`: earlier measurements belong to the parent process."""
        self._begin()

    def _begin(self) -> None:
        self.open = True
        """True while this process measures."""
        self.ending = False
        """True when the program is about to end: there is no time to measure calls from then on."""
        self._missed: list[str] = []
        self._changed = threading.Condition()
        self._waiting: deque[Pending] = deque()
        self._current: Pending | None = None
        self._urgent: list[Watch | None] = []
        self._thread: threading.Thread | None = None

    def check_room(self) -> None:
        """Raise CannotTravel while too much waits: payloads are held in memory."""
        with self._changed:
            held = sum(pending.payload.size_bytes for pending in self._waiting if pending.payload is not None)
        if held > MAX_WAITING_BYTES:
            raise CannotTravel("a call", f"{held >> 20} MB of arguments of other calls are waiting already")

    def add(self, pending: Pending) -> None:
        """Queue a call until its owner is idle; raise RuntimeError if no thread can start."""
        with self._changed:
            if self._thread is None:
                thread = threading.Thread(
                    target=self._serve, args=(REAL.get_ident(),), name="profkit-decorated", daemon=True
                )
                thread.start()
                self._thread = thread
            self._waiting.append(pending)
            self._changed.notify_all()

    def flush(self, owner: Watch) -> None:
        """Measure the owner's waiting calls now, idle or not, and return when that is done."""
        if threading.current_thread() is self._thread:
            return
        with self._changed:
            self._urgent.append(owner)
            self._changed.notify_all()
            try:
                self._changed.wait_for(lambda: not self._left(owner))
            finally:
                self._urgent.remove(owner)

    def finish(self, report: Callable[[str], None], limit_s: float) -> None:
        """Measure the waiting calls when the program ends, and report progress to `report`.

        This takes at most `limit_s`, or the longest limit that an owner of waiting calls gives instead. The
        limit or an interrupt drops the remaining calls, which are then named to `report`.
        """
        limit_s = self._limit_s(limit_s)
        try:
            left, why = self._await_all(report, limit_s), f"within {limit_s:g} s; {_FIX}"
        except KeyboardInterrupt:
            left, why = self.drop(), "because the program was interrupted"
        self.ending = True
        if left:
            report(not_measured(left, why))

    def miss(self, label: str) -> None:
        """Note a call that is made while the program ends."""
        self._missed.append(label)

    def drop(self) -> list[str]:
        """Stop measuring in this process.

        Return the labels of calls that were waiting, being measured, or missed; each once.
        """
        with self._changed:
            dropped = [*([self._current] if self.open and self._current else []), *self._waiting]
            self.open = False
            for pending in self._waiting:
                _discard(pending)
            self._waiting.clear()
            self._changed.notify_all()
            missed, self._missed = self._missed, []
            return [*(pending.label for pending in dropped), *missed]

    def forget(self) -> None:
        """Measure nothing in a forked child."""
        self._begin()
        self.open, self.forked = False, True

    def next_due(self) -> tuple[Pending | None, float | None]:
        """Return a call that may be measured now, else None and the time to wait; None: indefinitely."""
        least: float | None = None
        for pending in self._waiting:
            urgent = None in self._urgent or pending.owner in self._urgent
            ready_in_s = 0.0 if urgent else pending.owner.ready_in_s()
            if ready_in_s <= 0:
                return pending, 0.0
            least = ready_in_s if least is None else min(least, ready_in_s)
        return None, least

    def _limit_s(self, default_s: float) -> float:
        with self._changed:
            owners = {pending.owner for pending in (*self._waiting, self._current) if pending is not None}
        limits = [owner.plan.exit_timeout_s for owner in owners]
        return max((default_s if limit is None else limit for limit in limits), default=default_s)

    def _await_all(self, report: Callable[[str], None], limit_s: float) -> list[str]:
        deadline_s, number, last = self.clock.monotonic_s() + limit_s, 0, None
        with self._changed:
            total = len(self._waiting) + (self._current is not None)
            self._urgent.append(None)
            self._changed.notify_all()
            while self._waiting or self._current is not None:
                if self._current is not None and self._current is not last:
                    last, number = self._current, number + 1
                    report(f"measuring {number} of {max(number, total)}: {last.label} …")
                left_s = deadline_s - self.clock.monotonic_s()
                if left_s <= 0:
                    break
                self._changed.wait(left_s)
            self._urgent.remove(None)
            ended = not self._waiting and self._current is None
        return [] if ended else self.drop()

    def _left(self, owner: Watch) -> bool:
        current = self._current is not None and self._current.owner is owner
        return current or any(pending.owner is owner for pending in self._waiting)

    def _serve(self, starter: int) -> None:
        leave_signals(starter)
        while True:
            pending = self._next()
            self._measure(pending)
            with self._changed:
                self._current = None
                self._changed.notify_all()

    def _measure(self, pending: Pending) -> None:
        try:
            pending.owner.take(pending.measure())
        except BaseException as error:  # noqa: BLE001 - no caller could handle it
            if self.open:  # else it was dropped
                _log_failure(pending.label, error)
        finally:
            _discard(pending)

    def _next(self) -> Pending:
        with self._changed:
            while True:
                pending, wait_s = self.next_due()
                if pending is not None:
                    self._waiting.remove(pending)
                    self._current = pending
                    self._changed.notify_all()
                    return pending
                self._changed.wait(wait_s)


def not_measured(labels: Sequence[str], why: str) -> str:
    """Return a message that names some of the calls that were not measured, and why."""
    shown = (label if len(label) <= _LONGEST else f"{label[: _LONGEST - 1]}…" for label in labels[:_NAMED])
    named = ", ".join(shown)
    more = f" and {len(labels) - _NAMED} more" if len(labels) > _NAMED else ""
    return f"not measured {why}: {named}{more}"


def _log_failure(label: str, error: BaseException) -> None:
    """Log that a call was not measured; log an error that would affect all calls only once."""
    if isinstance(error, ProfkitError) or not isinstance(error, Exception):
        LOG.warning("%s was not measured: %s", label, str(error) or type(error).__name__)
    else:
        LOG.debug("profkit failed", exc_info=error)
        say_once(str(explained(error, "measuring calls")))


def _discard(pending: Pending) -> None:
    if pending.payload is not None:
        pending.payload.close()
