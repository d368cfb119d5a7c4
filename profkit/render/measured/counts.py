"""The instruction counts of measured runs: one order in lines, several in a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from profkit.model.measurement import INSTRUCTIONS, InstructionCounts
from profkit.render.escape import short
from profkit.render.facts import Fact
from profkit.render.measured.columns import failed_cell, order_table
from profkit.render.measured.rows import OrderRow
from profkit.render.measured.trust import marks_of_counts
from profkit.render.measured.words import count_text, counts_alike
from profkit.render.page import Page
from profkit.render.text.header import fact_grid
from profkit.render.text.layout import Column, section
from profkit.render.text.palette import FAINT, TITLE, TONES
from profkit.render.words import Part, Tone, count, percent

CYCLES = "cycles"
"""The name of the estimate among the simulated events."""
_MOST_REPEATS = 6
_OPTIONAL = ("repeats", "cycles", "baseline", "number", "raw")
"""Columns of the table that go where the page is narrow, the last ones first."""


def counts_block(rows: Sequence[OrderRow], page: Page) -> Iterator[RenderableType]:
    """Instructions raw, without the loop, and without memory allocators; events that were simulated."""
    counted = [row for row in rows if row.counts is not None or _should_be(row)]
    known = [row.counts for row in counted if row.counts is not None]
    if not known:
        return
    yield section("Instructions", "of one execution, but raw")
    if len(rows) == 1:
        yield fact_grid(_facts(known[0]))
    else:
        figures = _figures([row.counts for row in counted], [failed_cell(row) for row in counted])
        yield order_table(counted, [marks_of_counts(row) for row in counted], figures, _OPTIONAL, page)


def _should_be(row: OrderRow) -> bool:
    """What both modes failed at is told among the times."""
    mode = row.run.info.order.mode
    return mode.counts and not mode.times


def _facts(counts: InstructionCounts) -> list[Fact]:
    executions = f"{count(counts.number, 'execution')} each, with the loop around them"
    allocators = counts.net - counts.stripped
    share = f" ({percent(allocators / counts.net, 1000)})" if counts.net >= 1 and allocators > 0 else ""
    facts = [
        Fact("raw", (*_raw(counts.raw), Part(executions))),
        Fact("baseline", (Part(count_text(counts.baseline)), Part("the same loop around `pass`"))),
        Fact("net", (Part(count_text(counts.net), Tone.STRONG), Part("raw without the baseline"))),
        Fact("stripped", (
            Part(count_text(counts.stripped), Tone.STRONG),
            Part(f"net without memory allocators{share}"),
        )),
    ]  # fmt: skip
    events = [event for event in counts.events if event[0] != INSTRUCTIONS]
    parts = [Part(f"{short(name, 20)} {count_text(value)}") for name, value in events if name != CYCLES]
    cycles = [Part(count_text(value)) for name, value in events if name == CYCLES]
    facts += [Fact("events", tuple(parts))] if parts else []
    return facts + ([Fact("cycles", (*cycles, Part("as KCachegrind estimates them")))] if cycles else [])


def _raw(raw: Sequence[int]) -> list[Part]:
    if len(raw) == 1:
        return [Part(count(raw[0])), Part("1 repeat: nothing to compare it with", Tone.FAINT)]
    if len(set(raw)) == 1:
        return [Part(count(raw[0])), Part(f"{count(len(raw), 'repeat')} agree")]
    shown = ", ".join(map(count, raw[:_MOST_REPEATS])) + (", …" if len(raw) > _MOST_REPEATS else "")
    return [Part(shown or "no repeats"), *([Part(_apart(raw), Tone.WARN)] if raw else [])]


def _apart(raw: Sequence[int]) -> str:
    """By how much repeats differ."""
    part = (max(raw) - min(raw)) / min(raw) if min(raw) > 0 else None
    return "the repeats differ" if part is None else f"the repeats differ by {percent(part, 1000)}"


def _figures(rows: Sequence[InstructionCounts | None], instead: Sequence[Text]) -> dict[str, Column]:
    # The same decimals in both columns, so that all their figures compare.
    both = counts_alike(
        [row.stripped if row else None for row in rows] + [row.net if row else None for row in rows]
    )
    stripped = [
        Text(text, style=TITLE) if text else other for text, other in zip(both, instead, strict=False)
    ]
    baselines = counts_alike([row.baseline if row else None for row in rows])
    cycles = counts_alike([None if row is None else dict(row.events).get(CYCLES) for row in rows])
    columns = {
        "stripped": Column("stripped", stripped),
        "net": Column("net", [Text(text) for text in both[len(rows) :]]),
        "cycles": Column("cycles", [Text(text) for text in cycles]),
        "baseline": Column("baseline", [Text(text, style=FAINT) for text in baselines]),
        "repeats": Column("repeats", [_agreement(row) for row in rows], "left"),
        "number": Column("number", [Text(count(row.number) if row else "", style=FAINT) for row in rows]),
        "raw": Column("raw", [_raw_cell(row) for row in rows]),
    }
    if not any(cycles):
        del columns["cycles"]
    return columns


def _agreement(counts: InstructionCounts | None) -> Text:
    if counts is None or not counts.raw:
        return Text()
    if len(counts.raw) == 1:
        return Text("1", style=FAINT)
    if len(set(counts.raw)) == 1:
        return Text(f"{len(counts.raw)} agree", style=FAINT)
    return Text(f"{len(counts.raw)} differ", style=TONES[Tone.WARN])


def _raw_cell(counts: InstructionCounts | None) -> Text:
    if counts is None or not counts.raw:
        return Text()
    least, most = min(counts.raw), max(counts.raw)
    return Text(count(least) if least == most else f"{count(least)} – {count(most)}", style=FAINT)
