"""Windows: sessions of a fixed duration, one after the other; when the next starts, and if they overlap."""

from __future__ import annotations

from dataclasses import replace

from profkit.errors import SamplerError
from profkit.process.guard import reraise_signal_error
from profkit.samplers.options import SamplerOptions
from profkit.session import activity
from profkit.session.session import Session

_EARLY_S = 0.5
"""How much earlier than its duration a window may end: sessions are looked at once a second."""


def is_over(session: Session, now_s: float) -> bool:
    """Return whether another session is to follow this one now."""
    window_s = session.options.window_s
    return window_s is not None and session.open and now_s - session.started_s >= window_s - _EARLY_S


def must_resume(session: Session) -> bool:
    """Return whether a session has ended early, but whole segments belong to regions that do not start again.

    Such regions are whole programs, which have a single call.
    """
    return session.options.window_s is not None and not session.open and bool(session.active)


def fits(session: Session, options: SamplerOptions) -> bool:
    """Return whether a region with these options is sampled as they say in a session.

    How long windows are is of no importance to it.
    """
    own = session.options
    return own == options or (
        own.window_s != options.window_s and own == replace(options, window_s=own.window_s)
    )


def may_overlap(session: Session) -> bool:
    """Return whether another sampler may start before this session's one is stopped."""
    return session.plan.sampler in ("cpython", "pyspy") and not session.plan.blocking


def follow(following: Session, before: Session) -> None:
    """Sample on with another session, and end the one before.

    No time is without samples if their samplers may overlap. Calls do not wait for the sampler's start: until
    then they are counted in the session before, and those still under way afterwards in the one that follows.
    Raises as `begin_segment`.
    """
    following.active = list(before.active)
    try:
        if not may_overlap(before):
            _stop_sampler(before)
        following.begin_segment(following.policy)
    finally:
        before.end()
    covering = {cover.region for cover in following.active}
    for counters in before.counters:
        if counters.region.id in covering:
            following.mention(counters)
    for counters in activity.under_way(before.counters):
        if not counters.owns_segments:
            following.join(counters, counters.policy)


def _stop_sampler(session: Session) -> None:
    """Stop the sampler; a failure ends the session, but not the windows after it."""
    try:
        session.end_segment(session.policy)
    except SamplerError as failure:
        reraise_signal_error(failure)
        session.fallbacks.refuse(failure)
        session.end(str(failure))
