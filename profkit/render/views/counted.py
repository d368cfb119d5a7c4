"""Instruction counts of measured runs: facts about one order, columns for several."""

from __future__ import annotations

from collections.abc import Sequence

from profkit.model.measurement import INSTRUCTIONS, InstructionCounts, relative_range
from profkit.render.document import Cell, Column, Fact, Role, cells
from profkit.render.escape import short
from profkit.render.formatting import Part, Tone, count, count_text, counts_alike, percent
from profkit.render.views.measured import EXACT, OrderRow
from profkit.render.views.timed import failed_cell
from profkit.transforms.counts import CYCLES

_MAX_REPEATS = 6


def count_facts(counts: InstructionCounts, *, is_program: bool) -> list[Fact]:
    """Return the counts of one order; in a program there is no loop to subtract."""
    raw = _raw(counts.raw)
    if is_program:
        return [Fact("raw", tuple(raw)), _stripped(counts, "raw"), *_event_facts(counts)]
    executions = f"{count(counts.number, 'execution')} each, including the loop"
    net = (Part(count_text(counts.net), Tone.STRONG), Part("raw per execution, minus the baseline"))
    return [
        Fact("raw", (*raw, Part(executions))),
        Fact("baseline", (Part(count_text(counts.baseline)), Part("the same loop with `pass`"))),
        Fact("net", net),
        _stripped(counts, "net"),
        *_event_facts(counts),
    ]


def _stripped(counts: InstructionCounts, of: str) -> Fact:
    allocators = counts.net - counts.stripped
    share = f" ({percent(allocators / counts.net, EXACT)})" if counts.net >= 1 and allocators > 0 else ""
    text = f"{of} without memory allocators{share}"
    return Fact("stripped", (Part(count_text(counts.stripped), Tone.STRONG), Part(text)))


def _event_facts(counts: InstructionCounts) -> list[Fact]:
    events = [event for event in counts.events if event[0] != INSTRUCTIONS]
    parts = [Part(f"{short(name, 20)} {count_text(value)}") for name, value in events if name != CYCLES]
    cycles = [Part(count_text(value)) for name, value in events if name == CYCLES]
    facts = [Fact("events", tuple(parts))] if parts else []
    return facts + ([Fact("cycles", (*cycles, Part("as KCachegrind estimates them")))] if cycles else [])


def _raw(raw: Sequence[int]) -> list[Part]:
    if len(raw) == 1:
        return [Part(count(raw[0])), Part("1 repeat, so agreement is not known", Tone.FAINT)]
    if len(set(raw)) == 1:
        return [Part(count(raw[0])), Part(f"{count(len(raw), 'repeat')} agree")]
    repeats = ", ".join(map(count, raw[:_MAX_REPEATS])) + (", …" if len(raw) > _MAX_REPEATS else "")
    difference = relative_range(raw) if raw else 0.0
    by = f" by {percent(difference, EXACT)}" if difference else ""
    return [Part(repeats or "no repeats"), *([Part(f"the repeats differ{by}", Tone.WARN)] if raw else [])]


def count_columns(orders: Sequence[OrderRow]) -> list[Column]:
    """Return the columns of the counts of several orders; narrow terminals leave out optional ones."""
    rows = [order.counts for order in orders]
    # Both columns have the same decimals, so that all their figures compare.
    both = counts_alike(
        [row.stripped if row else None for row in rows] + [row.net if row else None for row in rows]
    )
    stripped = [
        Cell(text, Tone.STRONG) if text else failed_cell(order)
        for text, order in zip(both, orders, strict=False)
    ]
    baselines = counts_alike([row.baseline if row else None for row in rows])
    cycles = counts_alike([None if row is None else dict(row.events).get(CYCLES) for row in rows])
    numbers = cells((count(row.number) if row else "" for row in rows), Tone.FAINT)
    columns = [
        Column("stripped", stripped),
        Column("net", cells(both[len(rows) :])),
        Column("cycles", cells(cycles), optional=2),
        Column("baseline", cells(baselines, Tone.FAINT), optional=3),
        Column("repeats", [_agreement(row) for row in rows], Role.WORDS, optional=1),
        Column("number", numbers, optional=4),
        Column("raw", [_raw_cell(row) for row in rows], optional=5, brief=False),
    ]
    return [column for column in columns if column.head != "cycles" or any(cycles)]


def _agreement(counts: InstructionCounts | None) -> Cell:
    if counts is None or not counts.raw:
        return Cell()
    if len(counts.raw) == 1:
        return Cell("1", Tone.FAINT)
    if len(set(counts.raw)) == 1:
        return Cell(f"{len(counts.raw)} agree", Tone.FAINT)
    return Cell(f"{len(counts.raw)} differ", Tone.WARN)


def _raw_cell(counts: InstructionCounts | None) -> Cell:
    if counts is None or not counts.raw:
        return Cell()
    least, most = min(counts.raw), max(counts.raw)
    return Cell(count(least) if least == most else f"{count(least)} – {count(most)}", Tone.FAINT)
