"""Orders that failed: the error with the worker's traceback and output, indented, never interpreted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from profkit.render.escape import short, visible
from profkit.render.measured.rows import OrderRow
from profkit.render.measured.variants import names
from profkit.render.text.layout import section
from profkit.render.text.palette import TONES
from profkit.render.words import Tone, count

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
