"""Text report of a comparison of measured runs: sentences for one order, tables for several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from profkit.model.comparison import MeasuredComparison, OrderCompared
from profkit.model.measurement import MeasuredRun
from profkit.model.notes import Finding
from profkit.render.escape import short
from profkit.render.formatting import Part, Tone, change, count, times_alike
from profkit.render.options import DEFAULTS, PIPE, ReportOptions, Terminal
from profkit.render.text.compared_counts import counts_table, deltas_block
from profkit.render.text.layout import FAINT, TITLE, TONES, Column, compose, fact_grid, section, table, title
from profkit.render.views.findings import finding_text
from profkit.render.views.header import Fact
from profkit.render.views.measured_comparison import (
    TONES_OF,
    SideWarning,
    design_text,
    remarks_of,
    sentences,
    side_fact,
    side_names,
    times_of,
    verdict_words,
    warning_parts,
    warnings_of,
)
from profkit.render.views.measured_header import measured_facts

_LONGEST = 60
_SHARED = (
    "statement",
    "setup",
    "global setup",
    "labels",
    "mode",
    "timed in",
    "counted in",
    "entered by",
    "env",
)
"""Facts about the runs of both sides that the header shows if they are equal."""


def measured_comparison_text(
    comparison: MeasuredComparison, options: ReportOptions = DEFAULTS, terminal: Terminal = PIPE
) -> str:
    """Return the report of a comparison."""
    return compose(_blocks(comparison, options, terminal), terminal)


def _blocks(
    comparison: MeasuredComparison, options: ReportOptions, terminal: Terminal
) -> Iterator[RenderableType]:
    a, b = side_names(comparison)
    orders = comparison.orders
    yield from title(f"{a} → {b}", "" if len(orders) == 1 else count(len(orders), "statement"), terminal)
    yield fact_grid(_header_facts(comparison, a, b))
    if len(orders) == 1:
        yield section("B against A", "per execution")
        yield fact_grid([Fact(name, (Part(text, tone),)) for name, text, tone in sentences(orders[0])])
    else:
        yield from _times_table(orders)
        yield from counts_table(comparison)
        failed = [_obstacle(order.name, order.obstacle) for order in orders if order.obstacle is not None]
        if failed:
            yield Text()
            yield fact_grid(failed)
    yield from deltas_block(comparison, options, terminal)
    yield from _warnings_and_notes(comparison)


def _header_facts(comparison: MeasuredComparison, a: str, b: str) -> list[Fact]:
    orders = comparison.orders
    sides = [run for order in orders for run in order.a], [run for order in orders for run in order.b]
    if len(orders) == 1:
        facts = [side_fact(side, runs, name) for side, runs, name in zip("AB", sides, (a, b), strict=True)]
    else:
        facts = [_batch_fact(side, runs, name) for side, runs, name in zip("AB", sides, (a, b), strict=True)]
    design = design_text(comparison)
    facts += [Fact("timed", (Part(design),))] if design else []
    shared = measured_facts([*sides[0], *sides[1]])
    return facts + [fact for fact in shared if fact.name in _SHARED]


def _batch_fact(side: str, runs: Sequence[MeasuredRun], name: str) -> Fact:
    batches = dict.fromkeys(run.info.batch for run in runs)
    parts = [Part(name, Tone.STRONG), Part(count(len(runs), "run"))]
    return Fact(
        side, (*parts, Part(f"measurement {', '.join(short(batch, 40) for batch in batches)}", Tone.FAINT))
    )


def _times_table(orders: Sequence[OrderCompared]) -> Iterator[RenderableType]:
    timed = [order for order in orders if order.times is not None]
    if not timed:
        return
    yield section("Times", "per execution; B against A")
    sides = [times_of(order.a) for order in timed], [times_of(order.b) for order in timed]
    both = times_alike([row.median_s if row else None for side in sides for row in side])
    yield table(
        [
            Column("name", [Text(short(order.name, _LONGEST)) for order in timed], "left"),
            Column("A", [Text(text) for text in both[: len(timed)]]),
            Column("B", [Text(text) for text in both[len(timed) :]]),
            Column("change", [_change_cell(order) for order in timed]),
            Column("interval", [_interval_cell(order) for order in timed]),
            Column("verdict", [_verdict_cell(order) for order in timed], "left"),
        ]
    )


def _change_cell(order: OrderCompared) -> Text:
    assert order.times is not None
    return Text(change(order.times.ratio), style=TONES[TONES_OF[order.times.verdict]] or TITLE)


def _interval_cell(order: OrderCompared) -> Text:
    times = order.times
    if times is None or times.low is None or times.high is None:
        return Text()
    return Text(f"{change(times.low)} to {change(times.high)}", style=FAINT)


def _verdict_cell(order: OrderCompared) -> Text:
    assert order.times is not None
    return Text(verdict_words(order.times))


def _obstacle(name: str, obstacle: Finding) -> Fact:
    reason = Part(short(finding_text(obstacle)), Tone.WARN)
    return Fact("not compared", (Part(short(name, _LONGEST), Tone.STRONG), reason))


def _tone(found: SideWarning) -> Tone:
    return Tone.FAINT if found.is_allowed_for else Tone.WARN


def _warnings_and_notes(comparison: MeasuredComparison) -> Iterator[RenderableType]:
    facts = [
        Fact(heading, (Part(found.about, Tone.STRONG), Part(reason, _tone(found))))
        for found in warnings_of(comparison)
        for heading, reason in [warning_parts(found)]
    ]
    facts += [Fact("note", (Part(text),)) for text in remarks_of(comparison)]
    if facts:
        yield Text()
        yield fact_grid(facts)
