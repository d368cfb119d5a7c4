"""Report of a checkup: the verdict, then a table for each group, with cost and fix below each shortfall."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from profkit.model.checkup import Check, Checkup, Group, Status
from profkit.render.document import Cell, Column, Document, Role, Section, Sentences, Table
from profkit.render.formatting import Tone, count
from profkit.render.options import DEFAULTS, ReportOptions

TITLES = {
    Group.PYTHON: ("Python", ""),
    Group.SAMPLERS: ("Samplers", "each tried on a program of its own"),
    Group.PERMISSIONS: ("Permissions", "of a sampler on programs of this user"),
    Group.MEASURING: ("Measuring", ""),
    Group.STORAGE: ("Storage", ""),
    Group.NOISE: ("Noise", "what changes times"),
}
"""Title of each group, and a remark on it."""
_MARKS = {
    Status.OK: Cell("✓"),
    Status.NOT_APPLICABLE: Cell("–", Tone.FAINT),
    Status.SHORTFALL: Cell("!", Tone.WARN),
    Status.FAILED: Cell("✗", Tone.BAD),
}


def checkup(found: Checkup, _options: ReportOptions = DEFAULTS) -> Document:
    """Yield the verdict, and all checks by group."""
    yield Sentences([verdict(found)], Tone.STRONG if found.works else Tone.BAD)
    width = max((len(check.name) for check in found.checks), default=0)
    for group, (title, remark) in TITLES.items():
        if checks := found.of(group):
            yield Section(title, remark)
            yield _table(checks, width)


def _table(checks: Sequence[Check], width: int) -> Table:
    """Return the table of a group; names are as wide in each, so that all tables align."""
    marks, names, texts = zip(*(row for check in checks for row in _rows(check, width)), strict=True)
    return Table(
        [Column("", marks, Role.WORDS), Column("", names, Role.WORDS), Column("", texts, Role.PROSE)]
    )


def _rows(check: Check, width: int) -> Iterator[tuple[Cell, Cell, Cell]]:
    mark = _MARKS[check.status]
    yield mark, Cell(check.name.ljust(width)), Cell(check.found, mark.tone)
    for name, text in (("cost", check.cost), ("fix", check.fix)):
        if text:
            yield Cell(), Cell(name.rjust(width), Tone.FAINT), Cell(text)


def verdict(found: Checkup) -> str:
    """Return whether the main uses work, in one sentence."""
    shortfalls = found.count(Status.SHORTFALL)
    if found.works:
        rest = f"with {count(shortfalls, 'shortfall')}" if shortfalls else "and nothing is missing"
        return f"Sampling and timing work here, {rest}."
    number = found.count(Status.FAILED)
    failed = f"see the {'failed check' if number == 1 else f'{number} failed checks'}"
    if not found.sampling and not found.timing:
        return f"Neither sampling nor timing works here: {failed}."
    works, fails = ("Timing", "sampling") if found.timing else ("Sampling", "timing")
    return f"{works} works here, but {fails} does not: {failed}."
