"""Documents: what a report says, without its layout. Views make them; printers write them in a format."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from profkit.model.profile import Node
from profkit.render.formatting import Part, Tone, count


@dataclass(frozen=True, slots=True)
class Fact:
    """A named line of a header; several notes or links have the same name. Its parts are escaped."""

    name: str
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        """Parts in one string."""
        return " · ".join(part.text for part in self.parts)


class Cell(NamedTuple):
    """A cell of a table; its text is raw."""

    text: str = ""
    tone: Tone = Tone.PLAIN
    heat: float | None = None
    """Share by which the cell is coloured, if its tone is plain."""
    more: str = ""
    """Addition that matters less, such as an uncertainty."""
    mark: str = ""
    """Sign of the tone, for formats without colours."""


class Call(NamedTuple):
    """A cell of a tree: a call with its depth, parents before children."""

    name: str
    where: str
    depth: int
    last: bool
    """Whether it is the last of its siblings."""
    tone: Tone = Tone.PLAIN
    heat: float | None = None
    mark: str = ""


class Curve(NamedTuple):
    """A cell with values over time, which are drawn as wide as there is room."""

    values: Sequence[float]


class Bounds(NamedTuple):
    """A cell that draws a value with its interval, at parts of the column's width; only pages have them."""

    value: float
    low: float | None = None
    high: float | None = None
    zero: float | None = None
    """Place of a line to which the value is compared."""
    tone: Tone = Tone.PLAIN


class Role(enum.Enum):
    """Content of a column, by which printers align, cut and mark its cells."""

    FIGURE = "figure"
    WORDS = "words"
    DRAWING = "drawing"
    """Bars and distributions of characters."""
    NAME = "name"
    """Name from a program; cut in the middle."""
    ASIDE = "aside"
    """What distinguishes equal names; cut in the middle, or left out."""
    PLACE = "place"
    """File and line; cut on the left, or left out."""
    SOURCE = "source"
    """Line of source; cut on the right, or left out."""
    PROSE = "prose"
    """Sentences, which continue on further lines."""
    CALL = "call"
    """Calls of a tree."""
    CURVE = "curve"
    BOUNDS = "bounds"


AnyCell: TypeAlias = Cell | Call | Curve | Bounds


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: its heading and one cell per row."""

    head: str
    cells: Sequence[AnyCell]
    role: Role = Role.FIGURE
    width: int = 0
    """Minimum width of a terminal that shows it."""
    below: int = 0
    """If not 0, the width from which on another column shows more instead."""
    optional: int = 0
    """If not 0, it is left out if names need the room; the highest number first."""
    brief: bool = True
    """Whether brief formats show it."""
    names_rows: bool = False
    """Whether pages show it first, as the headings of the rows; columns of names are so anyway."""


@dataclass(frozen=True, slots=True)
class Title:
    """Title of a document: the label of a run, test or comparison, and its identity."""

    label: str
    identity: str = ""
    kind: str = ""
    """Words before the label, for formats in which it has a line of its own."""
    is_name: bool = True
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """Heading of a section, with a remark on its content."""

    title: str
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Sentences:
    """Sentences, the most important one first; names in them are raw."""

    texts: Sequence[str]
    tone: Tone = Tone.STRONG
    """Tone of the first one."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts, as a grid or a list; `gap` separates them from what is above."""

    rows: Sequence[Fact]
    gap: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table; all columns have as many cells."""

    columns: Sequence[Column]
    orders: Sequence[int] = ()
    """Measured orders by row, for formats that can open their reports."""


@dataclass(frozen=True, slots=True)
class Remark:
    """A line about what is above; its text is raw."""

    text: str
    tone: Tone = Tone.FAINT
    gap: bool = False


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines that keep their indentation, such as a stack, below a headline; the middle can be left out."""

    head: str
    lines: Sequence[Cell]
    tone: Tone = Tone.STRONG
    gap: bool = False
    whole: bool = False
    """Whether no line is left out."""


@dataclass(frozen=True, slots=True)
class Flame:
    """A call tree in which each call is as wide as its share, below its caller."""

    root: Node
    total: int
    """Weight of which shares are parts."""
    is_library: Callable[[str], bool]


class TrendPoint(NamedTuple):
    """A value with its interval, if that is known."""

    name: str
    value: float
    low: float | None
    high: float | None
    words: str
    """All that is known of it, in one line."""
    warned: bool


@dataclass(frozen=True, slots=True)
class Trend:
    """Plot of values by commit, oldest first, for pages; the next table has their rows, newest first."""

    title: str
    summary: str
    points: Sequence[TrendPoint]
    is_time: bool


class Times(NamedTuple):
    """Times per execution, block by block."""

    name: str
    processes: Sequence[Sequence[float]]
    """Times of blocks by process; those of a program are executions, all in one sequence."""
    zygotes: Sequence[int]
    """Zygote of each process."""
    median_s: float
    low_s: float | None
    high_s: float | None


@dataclass(frozen=True, slots=True)
class Distribution:
    """Plot of times, for pages: of one order, or of both sides of a comparison on one scale."""

    sides: Sequence[Times]
    is_program: bool = False


@dataclass(frozen=True, slots=True)
class Nested:
    """Another document within this one; folded ones are only for formats that can fold up."""

    blocks: Iterable[Block]
    folded: str = ""


Block: TypeAlias = (
    Title | Section | Sentences | Facts | Table | Remark | Lines | Flame | Trend | Distribution | Nested
)
Document: TypeAlias = Iterable[Block]


def cells(texts: Iterable[str], tone: Tone = Tone.PLAIN) -> list[Cell]:
    """Return cells of one tone."""
    return [Cell(text, tone) for text in texts]


def shares(texts: Iterable[str], heats: Iterable[float]) -> list[Cell]:
    """Return cells that are coloured by their shares."""
    return [Cell(text, heat=heat) for text, heat in zip(texts, heats, strict=True)]


def more_than(shown: int, found: int, noun: str) -> Sequence[Remark]:
    """Return the remark on rows that are left out: `… and 3 more functions`; none if there are none."""
    return [Remark(f"… and {count(found - shown, f'more {noun}')}")] if found > shown else []


def folded_remarks(blocks: Sequence[Block], warnings: int, notes: int) -> Sequence[Nested]:
    """Return warnings and notes below a line with their numbers, for pages; none if there are none."""
    numbers = ((warnings, "warning"), (notes, "note"))
    title = ", ".join(count(number, noun) for number, noun in numbers if number)
    return [Nested(blocks, title)] if title else []
