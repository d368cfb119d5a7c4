"""What `profkit top` shows: samples, their selection by time span, thread and activity; texts of cells."""

from __future__ import annotations

from dataclasses import dataclass, field

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from profkit.live.rows import Chosen, Order, weight_of
from profkit.live.samples import LiveSamples, Weights
from profkit.model.session import ProcessInfo, SamplerPlan
from profkit.render.escape import short, visible
from profkit.render.formatting import short_path
from profkit.render.options import Activity
from profkit.render.views.source import SourceLines

WINDOWS_S = (1.0, 2.0, 5.0, 10.0, 30.0, 60.0)
"""Lengths of the last seconds that can be chosen."""
_ACTIVITIES = (Activity.ALL, Activity.WORKING, Activity.WAITING)
FAINT = "dim"


@dataclass(slots=True)
class Showing:
    """Samples and their selection; the widgets read it, and the screen's actions change it."""

    samples: LiveSamples
    process: ProcessInfo
    plan: SamplerPlan
    source: SourceLines
    chosen: Chosen = field(default_factory=Chosen)
    order: Order = Order.RECENT_SELF
    window_s: float = 5.0
    since_start: bool = False
    """Whether flame graph, threads and source show all samples, not only those of the last seconds."""
    text: str = ""
    """Filter of functions."""

    @property
    def recent(self) -> Weights:
        """Sums of the last seconds."""
        return self.samples.recent(self.window_s)

    @property
    def shown(self) -> Weights:
        """Sums of the span that flame graph, threads and source show."""
        return self.samples.overall if self.since_start else self.recent

    def whole(self, weights: Weights) -> int:
        """Return the number of chosen samples in a span."""
        return weight_of(self.samples.tables, weights, self.chosen)

    def second_of_weight(self) -> float:
        """Return the time that a sample stands for."""
        rate_hz = self.samples.overall.achieved_hz or self.plan.rate_hz
        return 1 / rate_hz if rate_hz else 0.0

    def change_window(self, step: int) -> None:
        """Choose the next longer window, or with -1 the next shorter one."""
        place = WINDOWS_S.index(self.window_s) + step
        self.window_s = WINDOWS_S[min(max(place, 0), len(WINDOWS_S) - 1)]

    def next_activity(self) -> None:
        """Show working threads, then waiting ones, then both."""
        place = _ACTIVITIES.index(self.chosen.activity) + 1
        self.chosen = Chosen(self.chosen.thread, _ACTIVITIES[place % len(_ACTIVITIES)])

    def choose_thread(self, thread: int | None) -> None:
        """Show only a thread, or all of them."""
        self.chosen = Chosen(thread, self.chosen.activity)

    def thread_name(self, number: int) -> str:
        """Return the name of a thread."""
        thread = self.samples.tables.threads[number]
        return short(thread.name or f"thread {thread.tid}", 30)

    def place(self, file: str) -> str:
        """Return a file's path as reports show it."""
        return visible(short_path(file, self.process.cwd))

    def span(self) -> str:
        """Describe the span that is shown."""
        return "since the start" if self.since_start else f"last {self.window_s:g} s"

    def selection(self) -> str:
        """Describe the selection of samples, if it is not all."""
        parts = []
        if self.chosen.thread is not None:
            parts.append(f"thread {self.thread_name(self.chosen.thread)}")
        if self.chosen.activity is not Activity.ALL:
            parts.append(f"{self.chosen.activity.value} only")
        return " · ".join(parts)


def share_text(weight: int, whole: int) -> str:
    """Format a share for a column: `43.2`, `100`, `<0.1`; empty for nothing."""
    if not weight or not whole:
        return ""
    value = 100 * weight / whole
    return "<0.1" if value < 0.05 else f"{value:.1f}" if value < 99.95 else "100"


def seconds_text(duration_s: float) -> str:
    """Format a time for a column: `0.04`, `12.3`, `1,234`."""
    digits = 2 if duration_s < 9.995 else 1 if duration_s < 99.95 else 0
    return f"{duration_s:,.{digits}f}" if duration_s else ""


def right(text: str, style: str = "") -> Text:
    """Return a cell that is aligned to the right."""
    return Text(text, style=style, justify="right", no_wrap=True)


def cut(text: str, width: int) -> str:
    """Return the text in at most so many cells."""
    if cell_len(text) <= width:
        return text
    return f"{set_cell_size(text, width - 1)}…" if width > 0 else ""
