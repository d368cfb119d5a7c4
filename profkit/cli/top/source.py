"""Source of one function in `profkit top`, with the samples of each line."""

from __future__ import annotations

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static

from profkit.cli.top.showing import FAINT, Showing, share_text
from profkit.live.rows import LineRow, line_rows
from profkit.render.escape import short, visible

_CONTEXT = 5
"""Lines before the first and after the last line with samples."""
_HOT = 0.1
"""Share of the function's own samples from which a line is emphasized."""


class SourceView(VerticalScroll, can_focus=True):
    """Lines of the function that was chosen in the table."""

    def __init__(self, showing: Showing) -> None:
        super().__init__(id="source")
        self._showing = showing
        self._text = Static(id="lines")
        self._function: int | None = None

    def compose(self) -> ComposeResult:
        """Return the content."""
        yield self._text

    def open(self, function: int) -> None:
        """Show a function, at its hottest line."""
        self._function = function
        self.refresh_rows()
        rows = self._rows()
        if rows:
            hottest = max(rows.values(), key=lambda row: (row.total, row.own)).number
            first = max(1, min(rows) - _CONTEXT)
            self.scroll_to(y=max(0, hottest - first - self.size.height // 2), animate=False)

    def refresh_rows(self) -> None:
        """Show the samples as they are now."""
        self._text.update(self._content())

    def _rows(self) -> dict[int, LineRow]:
        showing = self._showing
        if self._function is None:
            return {}
        return line_rows(showing.samples.tables, showing.shown, self._function, showing.chosen)

    def _content(self) -> Text:
        showing = self._showing
        if self._function is None:
            return Text("Select a function in the table, and press Enter.", FAINT)
        name, file = showing.samples.tables.functions[self._function]
        head = Text(no_wrap=True)
        head.append(short(name), "bold")
        head.append(f"  {showing.place(file)}\n", FAINT)
        rows = self._rows()
        if not rows:
            return head.append(f"no sample of it {showing.span()}", FAINT)
        lines = showing.source.lines(file)
        if not lines:
            head.append("its source is not available, or has changed since the process began\n", FAINT)
        whole = showing.whole(showing.shown)
        head.append(f"{'self %':>7} {'total %':>7}\n", FAINT)
        numbers = range(max(1, min(rows) - _CONTEXT), max(rows) + _CONTEXT + 1) if lines else sorted(rows)
        for number in numbers:
            if not lines or number <= len(lines):
                source = lines[number - 1].expandtabs(4) if lines else ""
                head.append_text(_line(number, rows.get(number), source, whole))
        return head


def _line(number: int, row: LineRow | None, source: str, whole: int) -> Text:
    own, total = (share_text(row.own, whole), share_text(row.total, whole)) if row is not None else ("", "")
    is_hot = row is not None and row.own >= _HOT * whole
    text = Text(f"{own:>7} {total:>7} ", "bold red" if is_hot else "", no_wrap=True)
    text.append(f"{number:>5} ", FAINT)
    text.append(f"{visible(source)}\n", "bold" if is_hot else "" if row is not None else FAINT)
    return text
