"""The one loop that waits for a sampler: PREPARING → RUNNING → PROCESSING → SUCCESS."""

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
    wanted: SessionState,
    timeout_s: float,
    clock: Clock,
    option: str,
    sampler: str = "the sampler",
) -> SessionState:
    """Poll until the sampler is in the wanted state or past it, and return the state.

    Looks at least once, and once more at the deadline. Raises `SamplerTimeout`, whose message names
    `option` as what to raise, and whatever `SamplerError` a poll raises.
    """
    deadline_s = clock.monotonic_s() + timeout_s
    attempt = 0
    while True:
        state = attachment.poll()
        if _ORDER.index(state) >= _ORDER.index(wanted):
            return state
        left_s = deadline_s - clock.monotonic_s()
        if left_s <= 0:
            raise SamplerTimeout(sampler, wanted.value, timeout_s, option)
        clock.sleep(min(attachment.poll_interval_s(attempt), left_s))
        attempt += 1


def kill_stopped(attachment: Attachment) -> None:
    """Kill what is left of a sampler that was asked to stop, also if a signal handler interrupts it."""
    try:
        attachment.kill()
    except BaseException:
        attachment.kill()
        raise


def backed_off_s(attempt: int, first_s: float, growth: float, longest_s: float) -> float:
    """`first_s`, then `growth` times longer at each attempt, up to `longest_s`."""
    # Past 500 attempts any growth has reached its cap, and a power would overflow.
    return float(min(longest_s, first_s * growth ** min(attempt, 500)))
