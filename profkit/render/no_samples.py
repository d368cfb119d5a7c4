"""Why a run has no samples, and what would give it some."""

from __future__ import annotations

from profkit.model.run import Run
from profkit.model.session import SessionState
from profkit.render.words import count, rate
from profkit.units import format_duration


def why_no_samples(run: Run) -> str:
    """One sentence for a reader who expected samples."""
    info = run.info
    if info.imported is not None:
        return "There are no samples in the file that was imported."
    if info.links and run.profile is None:
        return f"{info.plan.sampler} keeps the samples itself: see the links above."
    if info.error is not None:
        return "There are no samples: the sampler failed, see the error above."
    if info.state is not SessionState.SUCCESS:
        return "There are no samples yet: a sampler writes them when its segment ends, or the session."
    if info.traced_away and not info.calls:
        return "There are no samples: every call was compiled away. Profile the caller of the compiled code."
    if info.torn:
        return f"There are no whole samples: all {count(info.torn)} are torn. blocking=True gives whole ones."
    expected = info.wall_s * (info.achieved_hz or info.plan.rate_hz)
    return (
        f"There are no samples: {format_duration(info.wall_s)} of calls at {rate(info.plan.rate_hz)} give "
        f"{expected:.1f} samples on average. Call it longer or more often, or raise `rate`."
    )
