"""Warnings about measured runs as text: marks beside numbers, reasons, and work orders that failed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from profkit.model.measurement import COUNT_WARNINGS, MeasurementWarning, WarningCode
from profkit.render.escape import short, visible
from profkit.render.formatting import Part, Tone, count
from profkit.render.text.layout import TONES, fact_grid, section
from profkit.render.views.header import Fact
from profkit.render.views.measured import RELATIVE, WARNED, OrderRow, names
from profkit.render.views.measurement_warnings import sentence

_MARKED, _MARKED_RELATIVE = "!", "~"
_ABOUT_BOTH = frozenset((WarningCode.CHANGES_STATE,))
_LONGEST_NAME = 60
_MOST_NAMES = 3
_MOST_ALIKE = 3
"""Sentences about one code."""


def marks_of_times(row: OrderRow) -> Text:
    """`!` beside times not to be trusted, `~` where they are only relative, else nothing."""
    return _mark({warning.code for warning in row.warnings} - COUNT_WARNINGS)


def marks_of_counts(row: OrderRow) -> Text:
    """`!` beside counts not to be trusted; how times were measured is nothing to them."""
    return _mark({warning.code for warning in row.warnings} & (COUNT_WARNINGS | _ABOUT_BOTH))


def _mark(codes: Set[WarningCode]) -> Text:
    if not codes:
        return Text()
    return Text(_MARKED_RELATIVE if codes == {WarningCode.QUICK} else _MARKED, style=TONES[Tone.WARN])


def warnings_block(rows: Sequence[OrderRow]) -> Iterator[RenderableType]:
    """Each reason once, with the orders that it is about where there are several."""
    about: dict[MeasurementWarning, list[str]] = {}
    for row, name in zip(rows, names([row.run for row in rows]), strict=True):
        for warning in dict.fromkeys(row.warnings):
            about.setdefault(warning, []).append(short(name, _LONGEST_NAME))
    # What is not to be trusted at all comes first.
    codes = sorted(
        dict.fromkeys(warning.code for warning in about), key=lambda code: code is WarningCode.QUICK
    )
    if codes:
        yield Text()
        yield fact_grid([fact for code in codes for fact in _facts(code, about, len(rows))])


def _facts(code: WarningCode, about: Mapping[MeasurementWarning, Sequence[str]], of: int) -> Iterator[Fact]:
    """The sentences of one code; of many, which differ in their figures alone, the first ones."""
    sentences = [(sentence(warning), found) for warning, found in about.items() if warning.code is code]
    word = RELATIVE if code is WarningCode.QUICK else WARNED
    if of == 1:
        yield from (Fact(word, (Part(visible(why), Tone.WARN),)) for why, _ in sentences)
        return
    marked = f"{_MARKED_RELATIVE if code is WarningCode.QUICK else _MARKED} {word}"
    shown = sentences if len(sentences) <= _MOST_ALIKE + 1 else sentences[:_MOST_ALIKE]
    for why, found in shown:
        yield Fact(marked, (Part(_orders(found, of), Tone.STRONG), Part(visible(why), Tone.WARN)))
    if others := [name for _, found in sentences[len(shown) :] for name in found]:
        yield Fact(marked, (Part("likewise", Tone.WARN), Part(", ".join(others), Tone.STRONG)))


def _orders(found: Sequence[str], of: int) -> str:
    if len(found) == of:
        return "all orders"
    return ", ".join(found) if len(found) <= _MOST_NAMES else f"{len(found)} orders"


_ENDS = 40
"""Lines at each end of a longer error that are shown; JSON has them all."""
_INDENT, _MOST_INDENT = 4, 20


def failures(rows: Sequence[OrderRow]) -> Iterator[RenderableType]:
    """A section for each order that has an error."""
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
    """A line with its own indentation, which holds where it is folded."""
    text = line.lstrip(" ")
    margin = max(_INDENT, min(len(line) - len(text), _MOST_INDENT))
    return Padding(Text(text, overflow="fold"), (0, 0, 0, margin))
