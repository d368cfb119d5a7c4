"""Text of measured runs' warnings: marks beside numbers, reasons, and failed work orders."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from profkit.model.measurement import COUNT_WARNINGS, MeasurementWarning, WarningCode
from profkit.render.escape import short, visible
from profkit.render.formatting import Part, Tone, count
from profkit.render.text.layout import TONES, fact_grid, section
from profkit.render.views.causes import by_cause
from profkit.render.views.header import Fact
from profkit.render.views.measured import RELATIVE, WARNED, OrderRow, headed_warnings, names
from profkit.render.views.measurement_warnings import warning_text

_MARKED, _MARKED_RELATIVE = "!", "~"
_ABOUT_BOTH = frozenset((WarningCode.CHANGES_STATE,))
_LONGEST_NAME = 60
_MAX_NAMES = 3
_MAX_ALIKE = 3
"""Sentences per warning code."""


def marks_of_times(row: OrderRow) -> Text:
    """Return `!` beside unreliable times, `~` beside times that are only relative, else nothing."""
    return _mark({warning.code for warning in row.warnings} - COUNT_WARNINGS)


def marks_of_counts(row: OrderRow) -> Text:
    """Return `!` beside unreliable counts, else nothing; ignore warnings about times."""
    return _mark({warning.code for warning in row.warnings} & (COUNT_WARNINGS | _ABOUT_BOTH))


def _mark(codes: Set[WarningCode]) -> Text:
    if not codes:
        return Text()
    return Text(_MARKED_RELATIVE if codes == {WarningCode.QUICK} else _MARKED, style=TONES[Tone.WARN])


def warnings_block(rows: Sequence[OrderRow]) -> Iterator[RenderableType]:
    """Yield each reason once, with its orders if there are several."""
    if len(rows) == 1:
        yield from _of_one(rows[0])
        return
    about: dict[MeasurementWarning, list[str]] = {}
    for row, name in zip(rows, names([row.run for row in rows]), strict=True):
        for warning in dict.fromkeys(row.warnings):
            about.setdefault(warning, []).append(short(name, _LONGEST_NAME))
    # Unreliable numbers come before relative ones, and those of one cause are together.
    grouped = [warning.code for group in by_cause(about) for warning in group]
    codes = sorted(dict.fromkeys(grouped), key=lambda code: code is WarningCode.QUICK)
    if codes:
        yield Text()
        yield fact_grid([fact for code in codes for fact in _facts(code, about, len(rows))])


def _of_one(row: OrderRow) -> Iterator[RenderableType]:
    """Yield the warnings of a single order by cause; unreliable numbers come before relative ones."""
    found = sorted(headed_warnings(dict.fromkeys(row.warnings)), key=lambda headed: headed[0] == RELATIVE)
    if found:
        yield Text()
        yield fact_grid([Fact(word, (Part(visible(reason), Tone.WARN),)) for word, reason in found])


def _facts(
    code: WarningCode, about: Mapping[MeasurementWarning, Sequence[str]], total: int
) -> Iterator[Fact]:
    """Yield the sentences of one code; if there are many, which differ only in figures, the first ones."""
    sentences = [(warning_text(warning), orders) for warning, orders in about.items() if warning.code is code]
    word = RELATIVE if code is WarningCode.QUICK else WARNED
    marked = f"{_MARKED_RELATIVE if code is WarningCode.QUICK else _MARKED} {word}"
    listed = sentences if len(sentences) <= _MAX_ALIKE + 1 else sentences[:_MAX_ALIKE]
    for reason, orders in listed:
        yield Fact(marked, (Part(_orders_text(orders, total), Tone.STRONG), Part(visible(reason), Tone.WARN)))
    if others := [name for _, orders in sentences[len(listed) :] for name in orders]:
        yield Fact(marked, (Part("the same", Tone.WARN), Part(", ".join(others), Tone.STRONG)))


def _orders_text(orders: Sequence[str], total: int) -> str:
    if len(orders) == total:
        return "all orders"
    return ", ".join(orders) if len(orders) <= _MAX_NAMES else f"{len(orders)} orders"


_ENDS = 40
"""Lines listed at each end of a longer error; JSON has all lines."""
_INDENT, _MAX_INDENT = 4, 20


def failures(rows: Sequence[OrderRow]) -> Iterator[RenderableType]:
    """Yield a section for each order that has an error."""
    for row, name in zip(rows, names([row.run for row in rows]), strict=True):
        error = row.run.info.error
        if error is None:
            continue
        yield section("Failed", "" if len(rows) == 1 else short(name))
        message, *lines = error.expandtabs(8).splitlines() or [""]
        yield Text(visible(message), style=TONES[Tone.BAD], overflow="fold")
        yield from map(_indented, _ends(lines))


def _ends(lines: Sequence[str]) -> list[str]:
    if len(lines) <= 2 * _ENDS:
        return [visible(line) for line in lines]
    hidden = f"{' ' * _INDENT}… {count(len(lines) - 2 * _ENDS, 'more line')}"
    return [*map(visible, lines[:_ENDS]), hidden, *map(visible, lines[-_ENDS:])]


def _indented(line: str) -> Padding:
    """Return a line that keeps its indentation when it is folded."""
    text = line.lstrip(" ")
    margin = max(_INDENT, min(len(line) - len(text), _MAX_INDENT))
    return Padding(Text(text, overflow="fold"), (0, 0, 0, margin))
