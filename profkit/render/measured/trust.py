"""How far measured numbers are to be trusted: a mark beside them, and the reasons in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set

from rich.console import RenderableType
from rich.text import Text

from profkit.model.measurement import Doubt, Flag
from profkit.render.escape import short, visible
from profkit.render.facts import Fact
from profkit.render.measured.rows import OrderRow
from profkit.render.measured.variants import names
from profkit.render.measured.words import DISTRUSTED, RELATIVE
from profkit.render.text.header import fact_grid
from profkit.render.text.palette import TONES
from profkit.render.words import Part, Tone

_MARKED, _MARKED_RELATIVE = "!", "~"
_ABOUT_COUNTS = frozenset((Flag.COUNTS_DIFFER,))
_ABOUT_BOTH = frozenset((Flag.CHANGES_STATE,))
_LONGEST_NAME = 60
_MOST_NAMES = 3
_MOST_ALIKE = 3
"""Sentences about one flag."""


def marks_of_times(row: OrderRow) -> Text:
    """`!` beside times not to be trusted, `~` where they are only relative, else nothing."""
    return _mark({doubt.flag for doubt in row.doubts} - _ABOUT_COUNTS)


def marks_of_counts(row: OrderRow) -> Text:
    """`!` beside counts not to be trusted; how times were measured is nothing to them."""
    return _mark({doubt.flag for doubt in row.doubts} & (_ABOUT_COUNTS | _ABOUT_BOTH))


def _mark(flags: Set[Flag]) -> Text:
    if not flags:
        return Text()
    return Text(_MARKED_RELATIVE if flags == {Flag.QUICK} else _MARKED, style=TONES[Tone.WARN])


def doubts_block(rows: Sequence[OrderRow]) -> Iterator[RenderableType]:
    """Each reason once, with the orders that it is about where there are several."""
    about: dict[Doubt, list[str]] = {}
    for row, name in zip(rows, names([row.run for row in rows]), strict=True):
        for doubt in dict.fromkeys(row.doubts):
            about.setdefault(doubt, []).append(short(name, _LONGEST_NAME))
    # What is not to be trusted at all comes first.
    flags = sorted(dict.fromkeys(doubt.flag for doubt in about), key=lambda flag: flag is Flag.QUICK)
    if flags:
        yield Text()
        yield fact_grid([fact for flag in flags for fact in _facts(flag, about, len(rows))])


def _facts(flag: Flag, about: Mapping[Doubt, Sequence[str]], of: int) -> Iterator[Fact]:
    """The sentences of one flag; of many, which differ in their figures alone, the first ones."""
    sentences = [(doubt.why, found) for doubt, found in about.items() if doubt.flag is flag]
    word = RELATIVE if flag is Flag.QUICK else DISTRUSTED
    if of == 1:
        yield from (Fact(word, (Part(visible(why), Tone.WARN),)) for why, _ in sentences)
        return
    marked = f"{_MARKED_RELATIVE if flag is Flag.QUICK else _MARKED} {word}"
    shown = sentences if len(sentences) <= _MOST_ALIKE + 1 else sentences[:_MOST_ALIKE]
    for why, found in shown:
        yield Fact(marked, (Part(_orders(found, of), Tone.STRONG), Part(visible(why), Tone.WARN)))
    if others := [name for _, found in sentences[len(shown) :] for name in found]:
        yield Fact(marked, (Part("likewise", Tone.WARN), Part(", ".join(others), Tone.STRONG)))


def _orders(found: Sequence[str], of: int) -> str:
    if len(found) == of:
        return "all orders"
    return ", ".join(found) if len(found) <= _MOST_NAMES else f"{len(found)} orders"
