"""Polling loop that waits for a sampler's state: PREPARING → RUNNING → PROCESSING → SUCCESS."""

from __future__ import annotations

from profkit.clock import Clock
from profkit.errors import SamplerTimeout
from profkit.model.session import SessionState
from profkit.samplers.base import Attachment

_ORDER = (
    SessionState.PREPARING,
    SessionState.RUNNING,
    SessionState.PROCESSING,
    SessionState.SUCCESS,
    SessionState.FAILED,
)


def await_state(
    attachment: Attachment,
    target: SessionState,
    timeout_s: float,
    clock: Clock,
    option: str,
    sampler: str = "the sampler",
) -> SessionState:
    """Poll until the sampler is in the wanted state or past it, and return the state.

    Polls at least once, and once more at the deadline. Raises `SamplerTimeout`, whose message names `option`
    as the limit to raise, and any `SamplerError` of a poll.
    """
    deadline_s = clock.monotonic_s() + timeout_s
    attempt = 0
    while True:
        state = attachment.poll()
        if _ORDER.index(state) >= _ORDER.index(target):
            return state
        left_s = deadline_s - clock.monotonic_s()
        if left_s <= 0:
            raise SamplerTimeout(sampler, target.value, timeout_s, option)
        clock.sleep(min(attachment.poll_interval_s(attempt), left_s))
        attempt += 1


def kill_stopped(attachment: Attachment) -> None:
    """Kill the rest of a sampler that was asked to stop, even if a signal handler interrupts this call."""
    try:
        attachment.kill()
    except BaseException:
        attachment.kill()
        raise


def backed_off_s(attempt: int, first_s: float, growth: float, longest_s: float) -> float:
    """Return the pause after an attempt: `first_s`, times `growth` per attempt, up to `longest_s`."""
    # After 500 attempts any growth has reached the maximum, and a larger power would overflow.
    return float(min(longest_s, first_s * growth ** min(attempt, 500)))
