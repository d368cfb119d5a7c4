"""Options of reports: sorting, limits, thread, source root."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from pathlib import Path


class Sort(enum.Enum):
    """Order of the hottest functions and lines; values are those of the command line."""

    SELF = "self"
    TOTAL = "total"
    NAME = "name"


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """Options of a report; None is the renderer's default: JSON has everything, text the top rows."""

    sort: Sort = Sort.SELF
    limit: int | None = None
    """Maximum number of rows per table."""
    min_share: float | None = None
    """Share of all samples below which calls are summed in the tree."""
    thread: str | None = None
    """Name or system id of the only thread to show."""
    show_all: bool = False
    """Whether the tree shows library frames and long straight chains in full."""
    source_root: Path | None = None
    """Folder whose source files are shown, also for runs that were not recorded here."""
    functions: bool = True
    """Whether JSON of measured runs lists the counted functions, which are most of its size."""


DEFAULTS = ReportOptions()
