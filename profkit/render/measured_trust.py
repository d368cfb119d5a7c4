"""How far measured numbers are to be trusted: a mark beside them, and the reasons in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from profkit.model.measurement import Flag
from profkit.render.escape import short, visible
from profkit.render.facts import Fact
from profkit.render.measured_rows import OrderRow
from profkit.render.measured_variants import names
from profkit.render.measured_words import RELATIVE, warning
from profkit.render.palette import TONES
from profkit.render.text_header import fact_grid
from profkit.render.words import Part, Tone

_MARKED, _MARKED_RELATIVE = "!", "~"
_LONGEST_NAME = 60
_MOST_NAMES = 3


def mark(row: OrderRow) -> Text:
    """`!` beside numbers not to be trusted, `~` where they are only relative, else nothing."""
    flags = {doubt.flag for doubt in row.doubts}
    if not flags:
        return Text()
    return Text(_MARKED_RELATIVE if flags == {Flag.QUICK} else _MARKED, style=TONES[Tone.WARN])


def doubts_block(rows: Sequence[OrderRow]) -> Iterator[RenderableType]:
    """Each reason once, with the orders that it is about where there are several."""
    about: dict[tuple[str, str], list[str]] = {}
    for row, name in zip(rows, names([row.run for row in rows]), strict=True):
        for doubt in dict.fromkeys(row.doubts):
            about.setdefault(warning(doubt), []).append(short(name, _LONGEST_NAME))
    if about:
        yield Text()
        # What is not to be trusted at all comes first.
        ordered = sorted(about.items(), key=lambda reason: reason[0][0] == RELATIVE)
        yield fact_grid([_fact(word, why, found, len(rows)) for (word, why), found in ordered])


def _fact(word: str, why: str, found: Sequence[str], of: int) -> Fact:
    if of == 1:
        return Fact(word, (Part(visible(why), Tone.WARN),))
    marked = f"{_MARKED_RELATIVE if word == RELATIVE else _MARKED} {word}"
    return Fact(marked, (Part(_orders(found, of), Tone.STRONG), Part(visible(why), Tone.WARN)))


def _orders(found: Sequence[str], of: int) -> str:
    if len(found) == of:
        return "all orders"
    return ", ".join(found) if len(found) <= _MOST_NAMES else f"{len(found)} orders"
