"""Trial of timing: an isolated worker that times a statement."""

from __future__ import annotations

from collections.abc import Callable

from profkit.clock import SYSTEM_CLOCK, Clock
from profkit.doctor.messages import without_fix
from profkit.errors import ProfkitError
from profkit.measuring.api import measure
from profkit.model.checkup import Check, Group, Status
from profkit.model.measurement import Measurement
from profkit.units import format_duration

_STATEMENT = "pass"
_TIMEOUT_S = 20.0


def timed_statement() -> Measurement:
    """Time a statement in one worker process; nothing is kept. Raises ProfkitError."""
    return measure(_STATEMENT, quick=True, processes=1, timeout_s=_TIMEOUT_S, keep=False)


def worker_check(time: Callable[[], object] = timed_statement, clock: Clock = SYSTEM_CLOCK) -> Check:
    """Try a worker, and return the check of it."""
    started_s = clock.monotonic_s()
    try:
        time()
    except (ProfkitError, OSError) as error:
        return _failure(error, clock.monotonic_s() - started_s)
    took_s = clock.monotonic_s() - started_s
    found = f"timed a statement; it started and ended within {format_duration(took_s)}"
    return Check(Group.MEASURING, "isolated worker", Status.OK, found, took_s=took_s)


def _failure(error: Exception, took_s: float) -> Check:
    message, fix = without_fix(error)
    cost = "nothing can be timed or counted"
    advice = fix or f"profkit measure {_STATEMENT}"
    return Check(Group.MEASURING, "isolated worker", Status.FAILED, message, cost, advice, took_s)
