"""Help with all keys."""

from __future__ import annotations

from typing import ClassVar

from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

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
