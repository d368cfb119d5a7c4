"""Which of a run's threads a reader means."""

from __future__ import annotations

from profkit.errors import UsageError
from profkit.model.profile import Profile
from profkit.render.escape import short


def wanted_threads(profile: Profile, wanted: str) -> tuple[int, ...]:
    """The indexes of the threads of that name or system id; raises `UsageError` where there are none."""
    meant = [n for n, thread in enumerate(profile.threads) if wanted in (thread.name, str(thread.tid))]
    if not meant:
        there = ", ".join(f"{short(thread.name)} ({thread.tid})" for thread in profile.threads) or "none"
        raise UsageError(f"no samples of a thread {wanted!r}", f"the run has samples of: {there}")
    return tuple(meant)
