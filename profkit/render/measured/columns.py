"""The columns that say which order a row of a table is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from profkit.render.escape import short
from profkit.render.measured.rows import OrderRow
from profkit.render.measured.variants import variants
from profkit.render.page import Page
from profkit.render.text.layout import GAP, Column, middle_cut, room_left, table
from profkit.render.text.palette import FAINT, TONES
from profkit.render.words import Tone

_LONGEST, _SHORTEST = 60, 8
"""Cells of a label."""
_ENOUGH = 36
"""Cells that suffice to tell orders apart."""


def order_table(
    rows: Sequence[OrderRow],
    marks: Sequence[Text],
    figures: Mapping[str, Column],
    optional: Sequence[str],
    page: Page,
) -> Table:
    """Marks, label, what else tells the orders apart, threads, and figures.

    Of the `optional` figures the last ones go first, until there is room to tell the orders apart.
    """
    labels = [short(row.run.info.label, _LONGEST) for row in rows]
    told = [short(text, _LONGEST) for text in variants([row.run for row in rows])]
    before, after = [Column("", marks)] if any(marks) else [], _threads(rows)
    wanted = min(_ENOUGH, _width(labels, "order") + GAP + _width(told))
    shown = dict(figures)
    for name in reversed(optional):
        room = room_left([*before, *after, *shown.values()], page)
        if room is None or room >= wanted:
            break
        shown.pop(name, None)
    left = room_left([*before, *after, *shown.values()], page)
    return table([*before, *_names(labels, told, left), *after, *shown.values()])


def _width(texts: Sequence[str], head: str = "") -> int:
    return max(map(cell_len, (*texts, head)))


def _names(labels: Sequence[str], told: Sequence[str], room: int | None) -> list[Column]:
    label_width, told_width = _widths(_width(labels, "order"), _width(told), room)
    shown = [Column("order", [Text(middle_cut(label, label_width)) for label in labels], "left")]
    if told_width:
        shown.append(Column("", [Text(middle_cut(text, told_width), style=FAINT) for text in told], "left"))
    return shown


def failed_cell(row: OrderRow) -> Text:
    """What stands where a figure would."""
    if row.run.info.error is not None:
        return Text("failed", style=TONES[Tone.BAD])
    return Text("nothing", style=FAINT)


def _threads(rows: Sequence[OrderRow]) -> list[Column]:
    threads = [row.run.info.order.num_threads for row in rows]
    if len(set(threads)) == 1:
        return []
    return [Column("threads", [Text(str(number), style=FAINT) for number in threads])]


def _widths(label_width: int, told_width: int, room: int | None) -> tuple[int, int]:
    """Labels and variants share the room; where both do not fit, variants have at most two fifths."""
    if room is None or label_width + GAP + (told_width + GAP if told_width else 0) <= room:
        return label_width, told_width
    if not told_width:
        return max(_SHORTEST, room - GAP), 0
    told_width = min(told_width, max(room * 2 // 5, room - label_width - 2 * GAP))
    if room - told_width - 2 * GAP < _SHORTEST:
        return max(_SHORTEST, room - GAP), 0
    return min(label_width, room - told_width - 2 * GAP), told_width
