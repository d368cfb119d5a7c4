"""What a reader may ask of a report."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from pathlib import Path


class Sort(enum.Enum):
    """What the hottest functions and lines are ordered by; the value is what the command line takes."""

    SELF = "self"
    TOTAL = "total"
    NAME = "name"


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """What a report shows; None leaves it to the renderer: people get the top, programs get all."""

    sort: Sort = Sort.SELF
    limit: int | None = None
    """Rows of each table."""
    min_share: float | None = None
    """Calls with a smaller part of all samples are summed up in the tree."""
    thread: str | None = None
    """Only this thread: its name or its system id."""
    show_all: bool = False
    """Library frames stay in the tree, and long straight chains stay whole."""
    source_root: Path | None = None
    """Source files below this folder are shown, also for runs that were not recorded here."""
    functions: bool = True
    """JSON of measured runs lists the functions that were counted, which are most of it."""


DEFAULTS = ReportOptions()
