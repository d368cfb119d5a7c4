"""Printer of documents as GitHub's Markdown, bounded in length, for pull requests and language models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from profkit.render.cells import guides
from profkit.render.document import (
    AnyCell,
    Block,
    Call,
    Cell,
    Column,
    Document,
    Facts,
    Lines,
    Nested,
    Remark,
    Role,
    Section,
    Sentences,
    Table,
    Title,
)
from profkit.render.escape import code, code_block, plain, short, table
from profkit.render.formatting import Tone, count

_LONGEST = 400
"""Longest sentence, in characters."""
_MAX_LINES, _MAX_CALLS = 20, 40
"""Most lines of a text such as a traceback, and most rows of a tree."""
_LONGEST_CALL = 80
"""Longest name or file in a tree, in characters; names of C++ templates can have a thousand."""


def print_markdown(document: Document) -> str:
    """Return a document as Markdown, bounded in length."""
    return "\n\n".join(_parts(document, 1))


def _parts(blocks: Document, level: int) -> Iterator[str]:
    for block in blocks:
        yield from filter(None, _of_block(block, level))


def _of_block(block: Block, level: int) -> Iterator[str]:
    match block:
        case Title(label, identity, kind, is_name, mark):
            words = filter(None, (mark, kind, code(label) if is_name else plain(label)))
            yield f"{'#' * level} {' '.join(words)}"
            yield f"{plain(identity[0].upper() + identity[1:])}." if identity else ""
        case Section(title, remark):
            yield f"{'#' * (level + 1)} {plain(title)}"
            yield f"{plain(remark[0].upper() + remark[1:], _LONGEST)}." if remark else ""
        case Sentences(texts):
            first, *others = (plain(text, _LONGEST) for text in texts)
            yield " ".join([f"**{first}**", *others])
        case Facts(rows):
            yield "\n".join(f"- {fact.name}: {plain(fact.text, _LONGEST)}" for fact in rows)
        case Table(columns):
            yield _table([one for one in columns if one.brief])
        case Remark(text, tone):
            yield f"**{plain(text, _LONGEST)}**" if tone is Tone.STRONG else plain(text, _LONGEST)
        case Lines():
            yield from _lines(block)
        case Nested(blocks, folded):
            inner = _parts(blocks, level + 1)
            yield "\n\n".join(inner) if not folded else _folded(folded, "\n\n".join(inner))


def _folded(title: str, report: str) -> str:
    return f"<details><summary>{plain(title)}</summary>\n\n{report}\n\n</details>"


def _lines(block: Lines) -> Iterator[str]:
    yield f"**{plain(block.head, _LONGEST)}**" if block.head else ""
    listed = block.lines if block.whole else block.lines[:_MAX_LINES]
    shown = [f"{line.text}  {line.more}".rstrip() for line in listed]
    yield code_block(shown) if shown else ""


def _table(columns: Sequence[Column]) -> str:
    if any(one.role is Role.CALL for one in columns):
        return _tree(columns)
    figures = (Role.FIGURE, Role.CURVE)
    heads = [f"{plain(one.head)}{':' if one.role in figures else ''}" for one in columns]
    cells = [[_cell(cell, one.role) for cell in one.cells] for one in columns]
    return table(heads, zip(*cells, strict=True))


def _cell(cell: AnyCell, role: Role) -> str:
    assert isinstance(cell, Cell)
    if not cell.text:
        return ""
    if role in (Role.NAME, Role.PLACE, Role.SOURCE):
        shown = code(cell.text)
        shown = f"**{shown}**" if cell.tone is Tone.STRONG else shown
        return f"{shown} {plain(cell.more)}" if cell.more else shown
    text = " ".join(filter(None, (cell.mark, cell.text, cell.more)))
    return text if role is Role.FIGURE else plain(text, _LONGEST)


def _tree(columns: Sequence[Column]) -> str:
    """Return a table with a tree as a code block, in which calls are below their callers."""
    figures = [one for one in columns if one.role is not Role.CALL]
    (calls,) = (one for one in columns if one.role is Role.CALL)
    rows = [row for row in calls.cells if isinstance(row, Call)]
    listed = rows[:_MAX_CALLS]
    drawn = [
        calls.head,
        *(f"{guide}{_call(row)}" for row, guide in zip(listed, guides(listed, None), strict=True)),
    ]
    lines = []
    texts = [[one.head, *map(_figure, one.cells[:_MAX_CALLS])] for one in figures]
    widths = [max(map(len, column)) for column in texts]
    for *numbers, call in zip(*texts, drawn, strict=True):
        aligned = (number.rjust(width) for number, width in zip(numbers, widths, strict=True))
        lines.append("  ".join([*aligned, call]).rstrip())
    more = len(rows) - len(listed)
    return code_block([*lines, *([f"… and {count(more, 'more row')}"] if more else [])])


def _figure(cell: AnyCell) -> str:
    assert isinstance(cell, Cell)
    return cell.text


def _call(row: Call) -> str:
    mark = f" {row.mark}" if row.mark else ""
    return f"{short(row.name, _LONGEST_CALL)}{mark}  {short(row.where, _LONGEST_CALL)}".rstrip()
