"""Table of functions in `profkit top`: its columns and cursor; `live.rows` filters and sorts."""

from __future__ import annotations

from dataclasses import dataclass

from rich.text import Text
from textual.message import Message
from textual.widgets import DataTable

from profkit.cli.top.showing import FAINT, Showing, cut, right, seconds_text, share_text
from profkit.live.rows import FunctionRow, Order, function_rows
from profkit.render.cells import left_cut
from profkit.render.escape import short

_MOST_ROWS = 200
_NARROW, _WIDE = 60, 90
"""Widths of the screen below which times, and places, are left out."""
_NUMBER = 8
"""Width of a column of numbers."""

_ORDERS = {
    "self %": Order.RECENT_SELF, "total %": Order.RECENT_TOTAL, "self s": Order.SELF,
    "total s": Order.TOTAL, "function": Order.NAME,
}  # fmt: skip
_NUMBERS = ("self %", "total %", "self s", "total s")


@dataclass(frozen=True, slots=True)
class _Column:
    name: str
    width: int
    is_sorted: bool

    @property
    def label(self) -> Text:
        """Title; that of the order is marked."""
        justify = "right" if self.name in _NUMBERS else "left"
        mark = "▼" if self.is_sorted else ""
        return Text(f"{mark}{self.name}", justify="right" if justify == "right" else "left", no_wrap=True)


class FunctionTable(DataTable[Text]):
    """Functions with samples, in the chosen order; Enter shows one's source."""

    class Opened(Message):
        """A function's source is wanted."""

        def __init__(self, function: int) -> None:
            self.function = function
            super().__init__()

    class OrderWanted(Message):
        """Another order is wanted."""

        def __init__(self, order: Order) -> None:
            self.order = order
            super().__init__()

    def __init__(self, showing: Showing) -> None:
        super().__init__(cursor_type="row", id="functions")
        self._showing = showing
        self._rows_shown: list[FunctionRow] = []
        self._laid_out: tuple[_Column, ...] = ()
        self.found = 0
        """Number of functions, also of those that are not shown."""

    @property
    def function(self) -> int | None:
        """The function under the cursor."""
        rows = self._rows_shown
        return rows[self.cursor_row].number if 0 <= self.cursor_row < len(rows) else None

    def refresh_rows(self) -> None:
        """Show the samples as they are now; the cursor stays on its function unless that is the first."""
        followed = self.function if self.cursor_row else None
        showing, recent = self._showing, self._showing.recent
        rows = function_rows(showing.samples, recent, showing.chosen, showing.order, showing.text)
        self.found, self._rows_shown = len(rows), rows[:_MOST_ROWS]
        self._lay_out()
        whole = showing.whole(recent)
        for place, row in enumerate(self._rows_shown):
            cells = self._cells(row, whole)
            if place >= self.row_count:
                self.add_row(*cells, key=str(place))
                continue
            for column, cell in zip(self._laid_out, cells, strict=True):
                self.update_cell(str(place), column.name, cell)
        for place in range(len(self._rows_shown), self.row_count):
            self.remove_row(str(place))
        self._follow(followed)

    def on_resize(self) -> None:
        """Use the new width."""
        self.refresh_rows()

    def on_data_table_row_selected(self) -> None:
        """Enter, or a click on the row under the cursor."""
        if self.function is not None:
            self.post_message(self.Opened(self.function))

    def on_data_table_header_selected(self, event: DataTable.HeaderSelected) -> None:
        """Sort by the column whose title was clicked."""
        order = _ORDERS.get(self._laid_out[event.column_index].name)
        if order is not None:
            self.post_message(self.OrderWanted(order))

    def _follow(self, function: int | None) -> None:
        for place, row in enumerate(self._rows_shown if function is not None else ()):
            if row.number == function and place != self.cursor_row:
                self.move_cursor(row=place)

    def _lay_out(self) -> None:
        """Make the columns again if the width or the order changed."""
        columns = tuple(self._columns_for(max(30, self.size.width or self.app.size.width)))
        if columns == self._laid_out:
            return
        cursor = self.cursor_row
        self._laid_out = columns
        self.clear(columns=True)
        for column in columns:
            self.add_column(column.label, width=column.width, key=column.name)
        self.call_after_refresh(self.move_cursor, row=cursor)

    def _columns_for(self, width: int) -> list[_Column]:
        padding = 2 * self.cell_padding
        names = _NUMBERS if width >= _NARROW else _NUMBERS[:2]
        left = width - len(names) * (_NUMBER + padding) - padding - self.styles.scrollbar_size_vertical
        widths = dict.fromkeys(names, _NUMBER)
        if width >= _WIDE:
            widths |= {"function": (left - padding) // 2, "place": left - padding - (left - padding) // 2}
        else:
            widths["function"] = left
        order = self._showing.order
        return [_Column(name, cells, _ORDERS.get(name) is order) for name, cells in widths.items()]

    def _cells(self, row: FunctionRow, whole: int) -> list[Text]:
        second = self._showing.second_of_weight()
        recent, overall = row.recent, row.overall
        style = FAINT if 2 * overall.waiting > overall.own else ""
        texts = {
            "self %": share_text(recent.own, whole),
            "total %": share_text(recent.total, whole),
            "self s": seconds_text(overall.own * second),
            "total s": seconds_text(overall.total * second),
        }
        found = []
        for column in self._laid_out:
            if column.name == "function":
                found.append(Text(cut(short(row.name), column.width), style=style, no_wrap=True))
            elif column.name == "place":
                place = left_cut(self._showing.place(row.file), column.width)
                found.append(Text(place, style=FAINT, no_wrap=True))
            else:
                found.append(right(texts[column.name], style))
        return found
