"""Flame graph of `profkit top`: colours, labels, and keys to move and zoom; `live.flame` lays it out."""

from __future__ import annotations

from typing import ClassVar
from zlib import crc32

from rich.cells import set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.events import Click, Resize
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from profkit.cli.top.showing import Showing, cut
from profkit.live.flame import Cell, Path, below, existing, lay_out, next_to
from profkit.live.rows import tree_of
from profkit.model.profile import Frame, Node
from profkit.render.escape import short
from profkit.transforms.origin import is_library_file, is_native_file

_OWN = ("bright_yellow", "yellow")
_LIBRARY = ("bright_cyan", "cyan")
_NATIVE = ("bright_green", "green")
"""Backgrounds of the program's own code, of libraries, and of machine code; the text is black on each."""


class FlameView(ScrollView, can_focus=True):
    """Calls of the chosen samples; the width of a call is its share."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "go_up", show=False),
        Binding("down", "go_down", show=False),
        Binding("left", "go_aside(-1)", show=False),
        Binding("right", "go_aside(1)", show=False),
        Binding("enter", "zoom_in", show=False),
        Binding("backspace", "zoom_out", show=False),
        Binding("home", "zoom_to_all", show=False),
    ]

    class Moved(Message):
        """Another call is selected."""

    def __init__(self, showing: Showing) -> None:
        super().__init__(id="flame")
        self._showing = showing
        self._tree = Node(Frame("", ""), 0, 0)
        self._rows: list[list[Cell]] = []
        self._zoom: Path = ()
        self._at: Path = ()

    @property
    def selected(self) -> Node:
        """The call that is selected."""
        return self._cell().node if self._rows else self._tree

    @property
    def whole(self) -> int:
        """Weight of all chosen samples."""
        return self._tree.total_weight

    @property
    def zoomed(self) -> Path:
        """Path of the call that is as wide as the graph; empty for all calls."""
        return self._zoom

    def refresh_rows(self) -> None:
        """Show the samples as they are now; the selection stays where its call still is."""
        showing = self._showing
        self._tree = tree_of(showing.samples.tables, showing.shown, showing.chosen)
        self._lay_out()

    def action_go_up(self) -> None:
        """Select the caller."""
        self._select(self._at[:-1])

    def action_go_down(self) -> None:
        """Select the heaviest call that the selected one makes."""
        self._select(below(self._rows, self._at))

    def action_go_aside(self, step: int) -> None:
        """Select the call to the left or to the right."""
        self._select(next_to(self._rows, self._at, step))

    def action_zoom_in(self) -> None:
        """Make the selected call as wide as the graph."""
        self._zoom = self._at
        self._lay_out()

    def action_zoom_out(self) -> None:
        """Go back to the caller."""
        self._zoom = self._zoom[:-1]
        self._at = self._zoom if len(self._at) > len(self._zoom) + 1 else self._at
        self._lay_out()

    def action_zoom_to_all(self) -> None:
        """Show all calls."""
        self._zoom = self._at = ()
        self._lay_out()

    def on_resize(self, _: Resize) -> None:
        """Use the new width."""
        self._lay_out()

    def on_click(self, event: Click) -> None:
        """Select the clicked call; zoom into it if it was selected."""
        row = event.y + self.scroll_offset.y
        hit = next((cell for cell in self._rows[row] if cell.left <= event.x < cell.right), None) \
            if 0 <= row < len(self._rows) else None  # fmt: skip
        if hit is not None and hit.path == self._at:
            self.action_zoom_in()
        elif hit is not None:
            self._select(hit.path)

    def render_line(self, y: int) -> Strip:
        """Draw a row."""
        row, width = y + self.scroll_offset.y, self.size.width
        cells = self._rows[row] if row < len(self._rows) else []
        segments, end = [], 0
        for cell in cells:
            if cell.left > end:
                segments.append(Segment(" " * (cell.left - end), self.rich_style))
            segments.append(Segment(self._label(cell), self._style(cell)))
            end = cell.right
        return Strip(segments, end).adjust_cell_length(width, self.rich_style)

    def _lay_out(self) -> None:
        self._zoom = existing(self._tree, self._zoom)
        self._at = existing(self._tree, self._at)
        width = max(1, self.scrollable_content_region.width)
        self._rows = lay_out(self._tree, width, self._zoom)
        while self._at and not any(cell.path == self._at for row in self._rows for cell in row):
            self._at = self._at[:-1]  # too narrow to be drawn
        self.virtual_size = Size(width, len(self._rows))
        self._select(self._at)

    def _select(self, path: Path) -> None:
        self._at = path
        self.scroll_to_region(Region(0, len(path), 1, 1), animate=False)
        self.refresh()
        self.post_message(self.Moved())

    def _cell(self) -> Cell:
        found = (cell for row in self._rows for cell in row if cell.path == self._at)
        return next(found, self._rows[0][0])

    def _label(self, cell: Cell) -> str:
        name = short(cell.node.frame.name) if cell.path else "all"
        inside = cell.width - 1
        text = cut(name, inside) if inside > 1 else ""
        return set_cell_size(f"▏{text}", cell.width)

    def _style(self, cell: Cell) -> Style:
        is_selected = cell.path == self._at
        if not cell.path:
            return Style(reverse=True, bold=is_selected)
        name, file, _ = cell.node.frame
        colors = _NATIVE if is_native_file(file) else _LIBRARY if is_library_file(file) else _OWN
        color = colors[crc32(f"{name} {file}".encode("utf-8", "replace")) % len(colors)]
        if is_selected:
            return Style(color="bright_white", bgcolor="magenta", bold=True, reverse=self.app.no_color)
        is_hit = self._showing.text and self._showing.text.casefold() in name.casefold()
        return Style(color="black", bgcolor="bright_magenta" if is_hit else color)
