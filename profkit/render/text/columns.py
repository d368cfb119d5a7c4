"""Colours of text reports, by tone and share; columns in terminal cells: which are shown, and how wide."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from rich.cells import cell_len
from rich.text import Text

from profkit.render.cells import guides, left_cut, middle_cut
from profkit.render.document import AnyCell, Call, Cell, Column, Curve, Role
from profkit.render.escape import MAX_NAME, short, visible
from profkit.render.formatting import Tone, sparkline
from profkit.render.options import Terminal

STYLES = {
    Tone.PLAIN: "",
    Tone.STRONG: "bold",
    Tone.FAINT: "dim",
    Tone.WARN: "color(172)",
    Tone.BAD: "bold color(160)",
    Tone.GOOD: "bold color(34)",
    Tone.ASIDE: "italic",
}
TITLE, FAINT = "bold", "dim"
GAP = 2
"""Spaces between columns."""
GLUE = "\ue000"
"""Placeholder of a non-breaking space; a private-use character, which names contain only escaped."""

_HEAT = ((0.3, "bold color(197)"), (0.15, "color(202)"), (0.05, "color(172)"), (0.01, ""))
_FILLS = ((0.3, 209), (0.1, 215), (0.0, 222))
_LIBRARY_FILL = 152


def heat(share: float, cold: str = FAINT) -> str:
    """Return the style for a share of all samples: hot, warm, plain, or `cold` below 1 %."""
    return next((style for least, style in _HEAT if share >= least), cold)


class Fill(NamedTuple):
    """Styles of an area: its text, and its filling, which is invisible in colour."""

    text: str
    area: str


def filled(share: float, *, library: bool) -> Fill:
    """Return the styles of a call's area: warm by its share for the user's code, cool for a library's."""
    fill = _LIBRARY_FILL if library else next(color for least, color in _FILLS if share >= least)
    return Fill(f"color(16) on color({fill})", f"color({fill}) on color({fill})")


_FLEXIBLE = frozenset((Role.NAME, Role.ASIDE, Role.PLACE, Role.SOURCE, Role.CALL, Role.CURVE))
_LEFT = _FLEXIBLE | {Role.WORDS, Role.DRAWING, Role.PROSE}
_UNIT = re.compile(r"(?<=\d) (?=(?:[KMGT]iB|B|[mµn]?s|min|Hz|%)(?:\W|$))")
"""Space between a number and its unit, at which no line breaks."""
_ENOUGH = 36
"""Cells of names that suffice to distinguish rows, before optional columns are left out."""
_MIN_NAME, _MIN_PLACE, _MIN_SOURCE, _WIDEST_SOURCE = 8, 12, 10, 120
_WIDEST_CURVE, _MIN_CURVE = 60, 10


@dataclass(frozen=True, slots=True)
class Drawn:
    """A column as text: its heading and one cell per row."""

    head: str
    cells: Sequence[Text]
    justify: Literal["left", "right"] = "left"
    folds: bool = False
    """Whether its cells continue on further lines."""

    @property
    def width(self) -> int:
        """Width of the widest entry, in cells."""
        return max((cell_len(self.head), *(cell.cell_len for cell in self.cells)))


def drawn_columns(columns: Sequence[Column], terminal: Terminal) -> list[Drawn]:
    """Return the columns that fit, in their order; flexible ones share what the others leave."""
    shown = {n: one for n, one in enumerate(columns) if _fits(one, terminal.width)}
    flexible = {n: one for n, one in shown.items() if one.role in _FLEXIBLE}
    drawn = {n: _fixed(one) for n, one in shown.items() if n not in flexible}
    wanted = min(_ENOUGH, sum(_longest(one) + GAP for one in flexible.values()) - GAP)
    for n in sorted((n for n in drawn if shown[n].optional), key=lambda n: -shown[n].optional):
        room = _room(drawn, terminal)
        if room is not None and room < wanted:
            del drawn[n]
    drawn |= _fitted(flexible, _room(drawn, terminal))
    return [drawn[n] for n in sorted(drawn)]


def _fits(column: Column, width: int | None) -> bool:
    if width is None:
        return not column.below
    return column.width <= width and (not column.below or width < column.below)


def _room(drawn: Mapping[int, Drawn], terminal: Terminal) -> int | None:
    """Return the cells that the terminal has beside these columns; None if its width is unlimited."""
    if terminal.width is None:
        return None
    return max(0, terminal.width - sum(one.width + GAP for one in drawn.values()))


def _fixed(column: Column) -> Drawn:
    if column.role is Role.PROSE:
        texts = [
            (_UNIT.sub(GLUE, visible(one.text)), one.tone) for one in column.cells if isinstance(one, Cell)
        ]
        return Drawn(column.head, [Text(text, style=STYLES[tone]) for text, tone in texts], folds=True)
    made = [_text(cell) for cell in column.cells]
    added = max((cell_len(cell.more) for cell in column.cells if isinstance(cell, Cell)), default=0)
    if not added:
        return Drawn(column.head, made, "left" if column.role in _LEFT else "right")
    # Numbers stay aligned if what is added to them differs in length.
    for text, cell in zip(made, column.cells, strict=True):
        if isinstance(cell, Cell) and cell.text:
            text.append(f" {cell.more:<{added}}", style=FAINT)
    return Drawn(f"{column.head}{' ' * (added + 1)}", made, "right")


def _text(cell: AnyCell) -> Text:
    assert isinstance(cell, Cell)
    return Text(visible(cell.text), style=STYLES[cell.tone] if cell.heat is None else heat(cell.heat))


def _longest(column: Column) -> int:
    return max(
        map(cell_len, (column.head, *(short(cell.text) for cell in column.cells if isinstance(cell, Cell))))
    )


def _fitted(columns: Mapping[int, Column], room: int | None) -> dict[int, Drawn]:
    """Return the flexible columns: names and places, places and sources, or one alone."""
    if not columns:
        return {}
    (n, first), *others = columns.items()
    if first.role is Role.CALL:
        return {n: _calls(first, room)}
    if first.role is Role.CURVE:
        return _curves(n, first, dict(others), room)
    if not others:
        return {n: _cut(first, None if room is None else max(20, room))}
    second_n, second = others[0]
    width, left = _SHARING[second.role](_longest(first), _longest(second), room)
    return {n: _cut(first, width)} | ({} if left == 0 else {second_n: _cut(second, left)})


def _name_and_place(name: int, place: int, room: int | None) -> tuple[int | None, int | None]:
    """Return the widths of names and places of these lengths; 0 leaves places out, None is unlimited."""
    if room is None:
        return None, None
    width = min(name, max(room * 11 // 20, room - GAP - place))
    left = room - width - GAP
    return (width, left) if left >= min(_MIN_PLACE, place) else (min(name, room), 0)


def _name_and_aside(name: int, aside: int, room: int | None) -> tuple[int | None, int | None]:
    """Return the widths of names and asides, which get at most two fifths if both do not fit."""
    if room is None or name + aside + 2 * GAP <= room:
        return None, None
    width = min(aside, max(room * 2 // 5, room - name - 2 * GAP))
    left = room - width - 2 * GAP
    return (min(name, left), width) if left >= _MIN_NAME else (max(_MIN_NAME, room - GAP), 0)


def _place_and_source(place: int, source: int, room: int | None) -> tuple[int | None, int | None]:
    """Return the widths of places and of source, which gets the rest, and at least half of the room."""
    if room is None:
        return None, _WIDEST_SOURCE
    width = min(place, room // 2)
    left = room - width - GAP
    return width, left if left >= _MIN_SOURCE else 0


_SHARING = {
    Role.PLACE: _name_and_place,
    Role.ASIDE: _name_and_aside,
    Role.SOURCE: _place_and_source,
}
"""How names, or places, share the room with the column after them."""


def _cut(column: Column, width: int | None) -> Drawn:
    return Drawn(column.head, [_cut_cell(cell, column.role, width) for cell in column.cells])


def _cut_cell(cell: AnyCell, role: Role, width: int | None) -> Text:
    assert isinstance(cell, Cell)
    style = STYLES[cell.tone] if cell.heat is None else heat(cell.heat, "")
    if role is Role.SOURCE:
        text = Text(visible(cell.text), style=style)
        text.truncate(min(width or _WIDEST_SOURCE, _WIDEST_SOURCE), overflow="ellipsis")
        return text
    shown = short(cell.text)
    if role is Role.PLACE:
        return Text(left_cut(shown, width), style=style)
    if width is not None and cell_len(shown) > width:
        shown = middle_cut(shown.replace(".<locals>", ""), width)
    text = Text(shown, style=style)
    left = None if width is None else width - text.cell_len - GAP
    if cell.more and (left is None or left >= min(_MIN_PLACE, cell_len(cell.more))):
        text.append(f"  {left_cut(visible(cell.more), left)}", style=FAINT)
    return text


def _curves(n: int, curve: Column, others: Mapping[int, Column], room: int | None) -> dict[int, Drawn]:
    """Return a column of curves beside names, which are not cut."""
    drawn = {number: _cut(one, None) for number, one in others.items()}
    left = _WIDEST_CURVE if room is None else room - sum(one.width + GAP for one in drawn.values()) - GAP
    width = max(_MIN_CURVE, min(_WIDEST_CURVE, left))
    lines = [Text(sparkline(cell.values, width)) for cell in curve.cells if isinstance(cell, Curve)]
    return {n: Drawn(curve.head, lines), **drawn}


def _calls(column: Column, room: int | None) -> Drawn:
    rows = [cell for cell in column.cells if isinstance(cell, Call)]
    drawn = zip(rows, guides(rows, room), strict=True)
    return Drawn(column.head, [_call(row, guide, room) for row, guide in drawn])


def _call(row: Call, guide: str, room: int | None) -> Text:
    left = None if room is None else max(_MIN_NAME, room - len(guide))
    name = short(row.name) if left is None else middle_cut(row.name, min(left, MAX_NAME))
    style = STYLES[row.tone] if row.heat is None else heat(row.heat)
    text = Text(guide, style=FAINT).append(
        name, style=style if row.tone is Tone.FAINT else f"not dim {style}"
    )
    left = None if left is None else left - cell_len(name) - GAP
    where = short(row.where)
    if where and (left is None or left >= min(_MIN_PLACE, cell_len(where))):
        text.append(f"  {left_cut(where, left)}")
    return text
