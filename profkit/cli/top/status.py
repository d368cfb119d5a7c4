"""Text of `profkit top` beside its views: lines about the process, the sampler and the view, and the help."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from profkit.cli.top.showing import FAINT, Showing, share_text
from profkit.live.source import LiveSource, State, Status
from profkit.model.profile import Node
from profkit.render.escape import short, visible
from profkit.render.formatting import count, rate
from profkit.units import format_bytes

_LATE_S = 8.0
"""Age of the newest samples from which it is shown: more than the longest segment of py-spy."""
_NARROW = 60
"""Width below which only the current view has its title, and the table of functions no times."""
_STYLES = {State.SAMPLING: "green", State.PAUSED: "yellow", State.ENDED: "bold red", State.FAILED: "bold red"}


def process_line(source: LiveSource) -> Text:
    """Return the process, and whether it is being sampled."""
    process, status = source.target.process, source.status
    text = Text(short(source.target.name), "bold")
    python = f" · Python {process.python}" if process.python else ""
    text.append(f" · pid {process.pid}{python} · ", FAINT)
    text.append(status.state.value, _STYLES.get(status.state, ""))
    if status.problem:
        text.append(f": {visible(status.problem)}", "red")
    elif status.state is State.ENDED:
        text.append("; its samples are here until you quit, and k keeps them as a run", FAINT)
    text.append_text(_use(status))
    return text


def _use(status: Status) -> Text:
    point = status.resources
    if point is None or status.state is State.ENDED:
        return Text()
    cpu = f" · CPU {100 * status.cpu_share:.0f} %" if status.cpu_share is not None else ""
    return Text(f"{cpu} · {format_bytes(point.rss_bytes)} · {count(point.threads, 'thread')}")


def sampler_line(source: LiveSource, showing: Showing, now_s: float) -> Text:
    """Return the sampler, its rate in the last seconds, and what was lost."""
    plan, recent, overall = source.plan, showing.recent, showing.samples.overall
    name = "py-spy" if plan.sampler == "pyspy" else plan.sampler
    text = Text(f"{name} {source.sampler_version or ''}".strip(), FAINT)
    achieved = recent.achieved_hz
    if achieved is None:
        text.append(f" · {rate(plan.rate_hz)} requested", FAINT)
    else:
        is_slow = achieved < 0.8 * plan.rate_hz
        text.append(f" · {rate(achieved)} of {rate(plan.rate_hz)}", "yellow" if is_slow else FAINT)
    text.append(f" · {count(overall.samples, 'sample')}", FAINT)
    text.append(f" · {count(overall.errors, 'error')}", "yellow" if _is_lossy(showing) else FAINT)
    if plan.may_tear:
        text.append(" · may be torn", FAINT)
    age_s = now_s - (showing.samples.until_s or now_s)
    if source.status.state is State.SAMPLING and age_s > _LATE_S:
        text.append(f" · no samples for {age_s:.0f} s", "yellow")
    return text


def _is_lossy(showing: Showing) -> bool:
    overall = showing.samples.overall
    return overall.errors * 50 > max(1, overall.rounds)


def views_line(titles: Sequence[str], current: int, showing: Showing, width: int) -> Text:
    """Return the titles of the views, and what they show."""
    text = Text(no_wrap=False)
    for place, title in enumerate(titles):
        is_current = place == current
        named = f" {title}" if is_current or width >= _NARROW else ""
        text.append(f" {place + 1}{named} ", "reverse bold" if is_current else "")
        text.append(" ")
    parts = [showing.span() if current else f"% last {showing.window_s:g} s, s since the start"]
    if current == 0 and width < _NARROW:
        parts = [showing.span().replace("since the start", f"last {showing.window_s:g} s")]
    parts += filter(None, (showing.selection(), f"filter {showing.text!r}" if showing.text else ""))
    text.append(" · ".join(parts), FAINT)
    return text


def call_line(node: Node, whole: int, showing: Showing, *, is_zoomed: bool) -> Text:
    """Return the call that is selected in the flame graph."""
    if not whole:
        return Text(f"no samples {showing.span()}", FAINT)
    text = Text(short(node.frame.name) if node.frame.name else "all", "bold")
    text.append(f"  total {share_text(node.total_weight, whole) or '0'} %", "")
    text.append(f"  self {share_text(node.self_weight, whole) or '0'} %", "")
    if node.frame.file:
        line = f":{node.frame.line}" if node.frame.line else ""
        text.append(f"  {showing.place(node.frame.file)}{line}", FAINT)
    if is_zoomed:
        text.append("  (zoomed; Backspace goes back)", FAINT)
    return text


KEYS = (
    ("1 2 3 4", "functions, flame graph, threads, source; Tab shows the next one"),
    ("↑ ↓ ← →", "move; in the flame graph to the caller, a callee, or the call beside"),
    ("Enter", "functions: show the source; flame graph: zoom in; threads: show only this one"),
    ("Backspace", "flame graph: zoom out; Home shows all calls"),
    ("s t", "sort by self or total share of the last seconds"),
    ("S T", "sort by self or total time since the start"),
    ("n", "sort by name"),
    ("/", "filter functions by name or file; Escape clears it"),
    ("w", "show working threads only, then waiting ones, then both"),
    ("a", "show all threads again"),
    ("o", "flame graph, threads, source: all samples, or those of the last seconds"),
    ("+ -", "more or fewer seconds"),
    ("p Space", "pause: nothing is sampled until it continues"),
    ("r", "reset: forget all samples"),
    ("k", "keep all samples since the start, or the last reset, as a run"),
    ("c", "colors: the terminal's for dark or light, or a theme of its own"),
    ("? h", "this help"),
    ("q", "quit; Ctrl-C too, and Ctrl-Z suspends"),
)
"""Keys, and what they do."""

_NOTES = (
    "Shares are of all samples that are chosen; times are those of all chosen threads together. Dim "
    "functions mostly wait. Escape closes this help."
)


class HelpScreen(ModalScreen[None]):
    """List of the keys; any of them closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,h,enter,space", "dismiss", show=False),
        Binding("ctrl+c", "app.quit", show=False),
    ]

    def compose(self) -> ComposeResult:
        """Return the content."""
        table = Table(box=None, show_header=False, padding=(0, 1), expand=True)
        table.add_column(no_wrap=True, style="bold")
        table.add_column(ratio=1)
        for keys, effect in KEYS:
            table.add_row(keys, effect)
        with VerticalScroll(id="help"):
            yield Static(Text("Keys", "bold underline"))
            yield Static(table)
            yield Static(Text(_NOTES, "dim"))
