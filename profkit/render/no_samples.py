"""Why a run has no samples, and what would give it some."""

from __future__ import annotations

from profkit.model.run import Run, RunInfo
from profkit.model.session import SessionState
from profkit.render.facts import run_notes
from profkit.render.words import count, rate
from profkit.units import format_duration

_MANY = 10
"""If so many samples are expected, chance does not explain that there are none."""


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
    return _all_torn(info) if info.torn else _none_seen(info, bool(run_notes(run)))


def _all_torn(info: RunInfo) -> str:
    """Why no stack fits the function, and what is known all the same."""
    if not info.plan.blocking:
        return (
            f'There are no samples: all {count(info.torn)} were inconsistent ("torn"). Pass blocking=True to '
            "stop the program for each sample."
        )
    native = "" if info.plan.native else " native=True shows the machine code that runs."
    return (
        f"There are no samples: all {count(info.torn)} have no frame of the function itself, as when its "
        f"code is compiled. Calls and times are right all the same.{native}"
    )


def _none_seen(info: RunInfo, noted: bool) -> str:
    expected = info.wall_s * (info.achieved_hz or info.plan.rate_hz)
    given = (
        f"There are no samples: {format_duration(info.wall_s)} of calls at {rate(info.plan.rate_hz)} give "
        f"{expected:.1f} samples on average."
    )
    if expected < _MANY:
        return f"{given} Call it longer or more often, or raise `rate`."
    if noted:
        return f"{given} The notes above say what may have been lost."
    if not info.plan.idle:
        return f"{given} The calls waited, and idle=False leaves out waiting."
    return f"{given} None of those taken was in a call; the sampler may have lost some."
