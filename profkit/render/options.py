"""Options of reports (sorting, limits, thread, source root); width and colours of the terminal."""

from __future__ import annotations

import enum
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from profkit.model.profile import Value


class Sort(enum.Enum):
    """Order of the hottest functions and lines; values are those of the command line."""

    SELF = "self"
    TOTAL = "total"
    NAME = "name"


class Activity(enum.Enum):
    """Samples to show: all, or those in which a thread worked, or waited."""

    ALL = "all"
    WORKING = "working"
    WAITING = "waiting"


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """Options of a report; None is the renderer's default: JSON has everything, text the top rows."""

    sort: Sort = Sort.SELF
    limit: int | None = None
    """Maximum number of rows per table."""
    min_share: float | None = None
    """Share of all samples below which calls are summed in the tree."""
    depth: int | None = None
    """Maximum number of levels of the tree."""
    thread: str | None = None
    """Name or system id of the only thread to show."""
    activity: Activity = Activity.ALL
    show_all: bool = False
    """Whether the tree shows library frames and long straight chains in full."""
    source_root: Path | None = None
    """Folder whose source files are shown, also for runs that were not recorded here."""
    value: Value | None = None
    """Value of a memory run to show; None is its main one, at the peak."""
    functions: bool = True
    """Whether JSON of measured runs lists the counted functions, which are most of its size."""
    brief: bool = False
    """Whether the report is for a pull request or a language model, with fewer rows by default."""
    whole: bool = False
    """Whether the report is a page: it has plots, and all rows by default."""

    def rows(self, usual: int, brief: int) -> int:
        """Return the limit of rows, by default one of these."""
        if self.limit is not None:
            return self.limit
        return sys.maxsize if self.whole else brief if self.brief else usual


DEFAULTS = ReportOptions()

_NARROWEST = 40


@dataclass(frozen=True, slots=True)
class Terminal:
    """Layout of text: `width` in cells, None for unlimited (pipes, files)."""

    width: int | None = None
    color: bool = False


PIPE = Terminal()


def terminal_of(stream: TextIO | None, environ: Mapping[str, str]) -> Terminal:
    """Return the layout for a stream, None if it is closed; only text for a terminal is cut to a width.

    NO_COLOR (https://no-color.org) wins over FORCE_COLOR (https://force-color.org), both over the terminal.
    """
    if stream is None:
        return PIPE
    is_terminal = stream.isatty()
    return Terminal(_width() if is_terminal else None, _wants_color(is_terminal, environ))


def _width() -> int:
    import shutil  # imports much itself

    return max(_NARROWEST, shutil.get_terminal_size().columns)


def _wants_color(is_terminal: bool, environ: Mapping[str, str]) -> bool:
    if environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return is_terminal and environ.get("TERM") != "dumb"
