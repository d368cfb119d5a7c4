"""The difference of two call graphs as a tree: what text and Markdown share, and the text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from profkit.model.comparison import CallDelta
from profkit.render.compared.measured.words import signed_alike
from profkit.render.escape import short
from profkit.render.markup import code_block
from profkit.render.measured.words import counts_alike
from profkit.render.page import Page
from profkit.render.text.layout import Column, remark, room_left, section, table
from profkit.render.text.palette import FAINT, TONES
from profkit.render.text.tables import names_and_places
from profkit.render.text.tree import guides
from profkit.render.words import Tone, count
from profkit.transforms.origin import standard_file

WHAT = "instructions of one execution with all that is called, without memory allocators"
_ROOM_FOR_ALL = 90
_LONGEST = 80
"""Of a function in Markdown, which has no width; templates have names of a thousand characters."""


def calls_block(calls: Sequence[CallDelta], whose: str, limit: int, page: Page) -> Iterator[RenderableType]:
    """The calls in which both sides differ, callers first; nothing where none are known."""
    rows = calls[:limit]
    if not rows:
        return
    yield section(f"Difference by call{whose}", WHAT)
    deltas, before, after = _figures(rows)
    figures = [
        Column("Δ", [Text(text, style=TONES[_tone(row)]) for text, row in zip(deltas, rows, strict=True)]),
        Column("A", [Text(text, style=FAINT) for text in before]),
        Column("B", [Text(text, style=FAINT) for text in after]),
    ]
    room = room_left(figures, page)
    # On a narrow page the names need all that the lines before them leave.
    narrow = room is not None and room < _ROOM_FOR_ALL
    drawn = [
        f"{guide}{row.name}{'' if narrow else _through(row)}"
        for guide, row in zip(guides(rows, room), rows, strict=True)
    ]
    places = ["" if narrow else short(standard_file(row.file)) for row in rows]
    yield table([*figures, *names_and_places(drawn, [""] * len(rows), places, room)])
    if len(calls) > len(rows):
        yield remark(f"… and {count(len(calls) - len(rows), 'more call')}")


def calls_markdown(calls: Sequence[CallDelta], limit: int) -> str:
    """The same as a block of code; empty where no calls are known."""
    rows = calls[:limit]
    if not rows:
        return ""
    columns = [[head, *cells] for head, cells in zip(("Δ", "A", "B"), _figures(rows), strict=True)]
    widths = [max(map(len, column)) for column in columns]
    calls_drawn = [
        f"{guide}{short(row.name, _LONGEST)}{_through(row)}  {short(standard_file(row.file), _LONGEST)}"
        for guide, row in zip(guides(rows, None), rows, strict=True)
    ]
    lines = [
        "  ".join([*(cell.rjust(width) for cell, width in zip(cells, widths, strict=True)), call]).rstrip()
        for *cells, call in zip(*columns, ["call", *calls_drawn], strict=True)
    ]
    more = [f"… and {count(len(calls) - len(rows), 'more call')}"] if len(calls) > len(rows) else []
    return code_block([*lines, *more])


def _figures(rows: Sequence[CallDelta]) -> tuple[list[str], list[str], list[str]]:
    both = counts_alike([row.a for row in rows] + [row.b for row in rows])
    return signed_alike([row.delta for row in rows]), both[: len(rows)], both[len(rows) :]


def _through(row: CallDelta) -> str:
    return f" (through {count(row.through, 'call')})" if row.through else ""


def _tone(row: CallDelta) -> Tone:
    return Tone.BAD if row.delta > 0 else Tone.STRONG
