"""Table of threads in `profkit top`: how much they worked, what they do now; Enter shows only one of them."""

from __future__ import annotations

from rich.text import Text
from textual.message import Message
from textual.widgets import DataTable

from profkit.cli.top.showing import FAINT, Showing, cut, right, share_text
from profkit.live.rows import ThreadRow, thread_rows
from profkit.render.escape import short

_NARROW = 70
"""Width of the screen below which ids and functions are left out."""
_MARK = "● "
"""Marks what is chosen."""
_ALL = "all"
"""Key of the row that stands for all threads."""


class ThreadTable(DataTable[Text]):
    """Threads with samples in the span that is shown."""

    class Chosen(Message):
        """Only this thread is wanted; None for all."""

        def __init__(self, thread: int | None) -> None:
            self.thread = thread
            super().__init__()

    def __init__(self, showing: Showing) -> None:
        super().__init__(cursor_type="row", id="threads")
        self._showing = showing
        self._threads: list[int] = []
        self._titles: tuple[str, ...] = ()

    def refresh_rows(self) -> None:
        """Show the samples as they are now."""
        showing, shown = self._showing, self._showing.shown
        rows = thread_rows(showing.samples, shown)
        followed = self._threads[self.cursor_row - 1] if 0 < self.cursor_row <= len(self._threads) else None
        self._threads = [row.number for row in rows]
        self._lay_out()
        self._put(_ALL, self._summary(rows))
        for place, row in enumerate(rows):
            self._put(str(place), self._cells(row))
        for place in range(len(rows), self.row_count - 1):
            self.remove_row(str(place))
        if followed in self._threads:
            self.move_cursor(row=self._threads.index(followed) + 1)

    def on_resize(self) -> None:
        """Use the new width."""
        self.refresh_rows()

    def on_data_table_row_selected(self) -> None:
        """Choose the thread under the cursor."""
        row = self.cursor_row
        self.post_message(self.Chosen(self._threads[row - 1] if 0 < row <= len(self._threads) else None))

    def _put(self, key: str, cells: list[Text]) -> None:
        if key not in self.rows:
            self.add_row(*cells, key=key)
            return
        for title, cell in zip(self._titles, cells, strict=True):
            self.update_cell(key, title, cell, update_width=True)

    def _lay_out(self) -> None:
        wide = (self.size.width or self.app.size.width) >= _NARROW
        titles = ["seen %", "working %", "now"] if not self._showing.plan.gil else ["seen %", "GIL %"]
        titles += ["thread", "tid", "most in"] if wide else ["thread"]
        if tuple(titles) == self._titles:
            return
        self._titles = tuple(titles)
        self.clear(columns=True)
        for title in titles:
            self.add_column(Text(title, justify="right" if title.endswith("%") else "left"), key=title)

    def _cells(self, row: ThreadRow) -> list[Text]:
        thread, showing = row.thread, self._showing
        rounds, is_chosen = showing.shown.rounds, showing.chosen.thread == row.number
        style = "bold" if is_chosen else FAINT if row.waits_now else ""
        now = "" if row.waits_now is None else "waiting" if row.waits_now else "working"
        of_child = f" of {thread.pid}" if thread.pid not in (0, showing.process.pid) else ""
        texts = {
            "seen %": right(share_text(row.samples, rounds), style),
            "working %": right(share_text(row.working, row.samples) or "0", style),
            "GIL %": right(share_text(row.samples, showing.whole(showing.shown)), style),
            "now": Text(now, style),
            "thread": Text(f"{_MARK if is_chosen else ''}{showing.thread_name(row.number)}", style),
            "tid": Text(f"{thread.tid}{of_child}", style),
            "most in": Text(cut(short(row.function), 40), FAINT),
        }
        return [texts[title] for title in self._titles]

    def _summary(self, rows: list[ThreadRow]) -> list[Text]:
        samples, working = sum(row.samples for row in rows), sum(row.working for row in rows)
        is_chosen = self._showing.chosen.thread is None
        style = "bold" if is_chosen else ""
        texts = {
            "working %": right(share_text(working, samples) or "0"),
            "thread": Text(f"{_MARK if is_chosen else ''}all {len(rows)} threads", style),
        }
        return [texts.get(title, Text("")) for title in self._titles]
