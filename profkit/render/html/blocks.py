"""Documents as data of HTML pages, whose script draws one block after the other."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace

from profkit.render.document import (
    AnyCell,
    Block,
    Bounds,
    Call,
    Cell,
    Column,
    Curve,
    Document,
    Facts,
    Flame,
    Nested,
    Role,
    Table,
    Title,
)
from profkit.render.escape import short, visible
from profkit.render.formatting import sparkline
from profkit.render.html.document import Columns, html_page
from profkit.render.options import ReportOptions

_LONGEST = 400
"""Maximum number of characters of a cell; names of C++ templates can fill pages."""
_CURVE = 60
"""Characters of a cell's curve."""
_DIGITS = 4
"""Decimals of places and of shares that are drawn."""
_NO_RUNS = {"functions": {"name": [], "file": [], "line": [], "package": []}, "packages": [], "runs": []}


def document_html(document: Document, name: str) -> str:
    """Return the page of a document, which has no graph; `name` is its title if it does not have one."""
    return html_page({"kind": "document", **_NO_RUNS, **document_head(document, name)}, Columns())


def whole(options: ReportOptions) -> ReportOptions:
    """Return the options of a page's document."""
    return replace(options, whole=True)


def document_head(document: Document, name: str = "") -> dict[str, object]:
    """Return the title, the identity and the blocks of a document for the head of a page."""
    blocks = list(document)
    title = blocks.pop(0) if blocks and isinstance(blocks[0], Title) else Title(name)
    assert isinstance(title, Title)
    label = " ".join(filter(None, (title.mark, title.kind, short(title.label, _LONGEST))))
    return {
        "title": f"{label} – profkit",
        "identity": visible(title.identity),
        "blocks": page_blocks(blocks),
    }


def page_blocks(document: Document) -> list[dict[str, object]]:
    """Return the blocks of a document, without views of call trees: pages have graphs instead."""
    return [_packed(block) for block in document if not (isinstance(block, Flame) or _is_empty(block))]


def _is_empty(block: Block) -> bool:
    return isinstance(block, Facts) and not block.rows


def _packed(block: Block) -> dict[str, object]:
    """Return the name and the members of a block."""
    name = type(block).__name__.lower()
    if isinstance(block, Table):
        shown = [_column(column) for column in block.columns if _is_shown(column)]
        return {"is": name, "columns": shown, "orders": list(block.orders)}
    if isinstance(block, Nested):
        return {"is": name, "folded": visible(block.folded), "blocks": page_blocks(block.blocks)}
    return {"is": name, **{one.name: _plain(getattr(block, one.name)) for one in fields(block)}}


def _plain(value: object) -> object:
    """Return a value as JSON has it: members of parts and of cells are lists."""
    if value is None or isinstance(value, int | float):
        return value
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, enum.Enum):
        return value.value
    assert is_dataclass(value)
    return [_plain(getattr(value, one.name)) for one in fields(value)]


def _is_shown(column: Column) -> bool:
    """Return whether a page has a column: bars have their shares, and narrow columns a wider alternative."""
    return not column.below and (column.role is not Role.DRAWING or bool(column.head))


def _column(column: Column) -> dict[str, object]:
    """Return a column with the members of its cells as lists; without those in which no cell differs."""
    cells = list(map(_cell, column.cells))
    is_figure = column.role is Role.FIGURE
    tones = [cell.tone.value for cell in cells]
    lists: dict[str, Sequence[object]] = {
        "heats": [None if cell.heat is None else round(cell.heat, _DIGITS) for cell in cells if is_figure],
        "mores": [visible(cell.more) for cell in cells],
        "marks": [visible(cell.mark) for cell in cells],
        "depths": [cell.depth for cell in column.cells if isinstance(cell, Call)],
        "bounds": [_places(cell) if isinstance(cell, Bounds) else None for cell in column.cells],
    }
    return {
        "head": column.head,
        "role": column.role.value,
        "texts": [short(cell.text.strip(), _LONGEST) for cell in cells],
        "tones": tones if len(set(tones)) > 1 else tones[:1],
        **({"names_rows": True} if column.names_rows else {}),
        **{name: values for name, values in lists.items() if any(one not in (None, "") for one in values)},
    }


def _cell(cell: AnyCell) -> Cell:
    """Return a cell with a text: that of a call has its place as an addition."""
    match cell:
        case Call(name, where, _, _, tone, heat, mark):
            return Cell(name, tone, heat, where, mark)
        case Curve(values):
            return Cell(sparkline(values, _CURVE))
        case Bounds():
            return Cell(tone=cell.tone)
    return cell


def _places(bounds: Bounds) -> list[float | None]:
    places = (bounds.value, bounds.low, bounds.high, bounds.zero)
    return [None if one is None else round(one, _DIGITS) for one in places]
