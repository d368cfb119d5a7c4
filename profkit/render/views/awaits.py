"""Words of the section about suspended calls and tasks."""

from __future__ import annotations

from profkit.model.region import RegionKind
from profkit.model.run import RunInfo
from profkit.transforms.suspension import AwaitShare


def await_titles(info: RunInfo) -> tuple[str, str]:
    """Return the section's title, and what its figures mean."""
    if info.region.kind is RegionKind.PROGRAM:
        return "Suspended tasks, by await", "mean number of tasks at each line"
    return "Suspended, by await", "shares are of the wall time of all calls"


def mean_tasks(line: AwaitShare) -> str:
    """Format a mean number of tasks: `10.2`, `0.04`."""
    return f"{line.share:.1f}" if line.share >= 1 else f"{line.share:.2f}"
