"""Times and instruction counts of measured runs: facts about one order, columns for several."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from profkit.model.measurement import (
    INSTRUCTIONS,
    InstructionCounts,
    MeasuredRun,
    Timing,
    WarningCode,
    relative_range,
)
from profkit.render.document import Bounds, Cell, Column, Distribution, Fact, Role, Times, cells
from profkit.render.escape import short
from profkit.render.formatting import (
    Part,
    Tone,
    count,
    count_text,
    counts_alike,
    percent,
    range_of,
    spread,
    switches,
    time_text,
    times_alike,
)
from profkit.render.views.measured import EXACT, OrderRow, TimeRow, time_row, uncertainty
from profkit.render.views.measured_header import usage_facts
from profkit.transforms.counts import CYCLES

_CELLS, _CELLS_OF_TABLE = 16, 8


def time_facts(row: TimeRow, order: OrderRow) -> list[Fact]:
    """Return the times of one order; those of a program are of its executions, which are processes."""
    is_program = row.usage is not None
    cpu = _tone(order, WarningCode.CPU_SHARE) if not is_program else Tone.PLAIN
    return [
        Fact("min", (Part(time_text(row.min_s), Tone.STRONG),)),
        Fact("median", (Part(time_text(row.median_s), Tone.STRONG), *_interval(row))),
        *(_of_executions(row) if is_program else _of_blocks(row)),
        Fact("CPU", (
            Part(f"{_cpu(row.cpu_share)} of the wall time", cpu),
            Part(switches(row.involuntary_switches), _tone(order, WarningCode.SWITCHES)),
        )),
    ]  # fmt: skip


def _of_blocks(row: TimeRow) -> list[Fact]:
    minima = f"{time_text(row.min_s)} {spread(row.minima_s, _CELLS)} {time_text(max(row.minima_s))}"
    processes = range_of([row.processes], "process")
    interpreters = f"of {processes} from {count(row.zygotes, 'interpreter')}"
    blocks = _distribution(row, f"{processes} × {count(row.blocks, 'block')}")
    return [
        Fact("minima", (Part(minima), Part(interpreters))),
        Fact("blocks", (*blocks, Part(f"{count(row.number, 'execution')} each"))),
    ]


def _of_executions(row: TimeRow) -> list[Fact]:
    executions = _distribution(row, count(row.processes, "execution"))
    return [Fact("executions", tuple(executions)), *(usage_facts(row.usage) if row.usage is not None else ())]


def _distribution(row: TimeRow, of: str) -> list[Part]:
    """Return the spread of all times, and the number of processes or executions behind it."""
    usual = _usual(row.all_s)
    drawn = Part(f"{time_text(usual[0])} {spread(usual, _CELLS)} {time_text(usual[-1])}")
    if len(usual) == len(row.all_s):
        return [drawn, Part(f"of {of}")]
    return [drawn, Part(f"95 % of {of}"), Part(f"longest {time_text(max(row.all_s))}")]


def _interval(row: TimeRow) -> list[Part]:
    if row.interval_s is None:
        return [Part("no interval from fewer than 6 processes", Tone.FAINT)]
    low, high = times_alike(row.interval_s)
    margin = uncertainty(row)
    return [*([Part(margin)] if margin else []), Part(f"95 % interval {low} to {high}")]


def _usual(all_s: Sequence[float]) -> list[float]:
    """Return the shortest 95 %, since one disturbed block would squeeze the others into a single column."""
    return sorted(all_s)[: len(all_s) - len(all_s) // 20]


def time_columns(orders: Sequence[OrderRow], *, is_drawn: bool = False) -> list[Column]:
    """Return the columns of the times of several orders; narrow terminals leave out optional ones.

    If they are drawn, as in a page, a picture of the intervals replaces those of characters.
    """
    rows = [order.times for order in orders]
    known = [row for row in rows if row is not None]
    # Both columns have one unit, so that all their figures compare.
    both = times_alike(
        [row.min_s if row else None for row in rows] + [row.median_s if row else None for row in rows]
    )
    minima = [
        Cell(text, Tone.STRONG) if text else failed_cell(order)
        for text, order in zip(both, orders, strict=False)
    ]
    have_intervals = any(row.interval_s for row in known)
    columns = {
        "min": Column("min", minima),
        "median": Column("median", cells(both[len(rows) :])),
        "±": Column("±", [_uncertainty_cell(order) for order in orders]),
        "interval": _faint("95 % interval", [_bounds(row) for row in rows], 8),
        "picture": bounds_column("", [_bounded(row) for row in rows]) if is_drawn else Column("", ()),
        "minima": _drawn("minima", [row.minima_s if row else () for row in rows], 6),
        "spread": _drawn("blocks", [_usual(row.all_s) if row else () for row in rows], 2),
        "CPU": Column("CPU", [_cpu_cell(order) for order in orders], optional=1),
        "switches": Column("switches", [_switches_cell(order) for order in orders], optional=3),
        "number": _faint("number", [count(row.number) if row else "" for row in rows], 4),
        "blocks": _faint(
            "processes × blocks", [f"{row.processes} × {row.blocks}" if row else "" for row in rows], 5
        ),
        "interpreters": _faint("interpreters", [str(row.zygotes) if row else "" for row in rows], 7),
    }
    shown = {
        "±": have_intervals,
        "picture": is_drawn,
        "minima": not is_drawn,
        "spread": not is_drawn,
        "interval": have_intervals,
        "interpreters": len({row.zygotes for row in known}) > 1,
        "blocks": len({(row.processes, row.blocks) for row in known}) > 1,
    }
    return [column for name, column in columns.items() if shown.get(name, True)]


def pooled(runs: Sequence[MeasuredRun]) -> Timing | None:
    """Return the times of all runs together, as those of one; None if none was timed."""
    timings = [run.measurement.timing for run in runs if run.measurement and run.measurement.timing]
    if not timings:
        return None
    return replace(timings[0], processes=tuple(one for timing in timings for one in timing.processes))


def distribution(sides: Sequence[tuple[str, Timing | None]]) -> Sequence[Distribution]:
    """Return the plot of the times of named sides, for pages; none if no block was measured."""
    found = [(name, timing, time_row(timing)) for name, timing in sides if timing is not None]
    plots = [_times(name, timing, row) for name, timing, row in found if row is not None]
    is_program = any(row is not None and row.usage is not None for *_, row in found)
    return [Distribution(plots, is_program)] if plots else []


def _times(name: str, timing: Timing, row: TimeRow) -> Times:
    low_s, high_s = row.interval_s or (None, None)
    known = [process for process in timing.processes if process.times_s]
    each = [row.all_s] if row.usage is not None else [one.times_s for one in known]
    zygotes = [0] if row.usage is not None else [one.zygote for one in known]
    times_s = [[float(f"{time_s:.{_EXACT}g}") for time_s in times] for times in each]
    return Times(name, times_s, zygotes, row.median_s, low_s, high_s)


class Interval(NamedTuple):
    """A value with its interval, if that is known."""

    value: float
    low: float | None
    high: float | None
    tone: Tone = Tone.PLAIN


_EXACT = 8
"""Digits of times that are plotted."""
_FAR_APART = 20
"""Ratio of values above which their scale is logarithmic."""
_MARGIN = 0.05


def bounds_column(head: str, rows: Sequence[Interval | None], zero: float | None = None) -> Column:
    """Return a column that draws intervals on one scale, for pages; ratios are compared to `zero`.

    The scale is logarithmic for ratios, so that half and double are equally far from 1, and for values that
    are far apart.
    """
    ends = [end for row in rows if row for end in (row.value, row.low, row.high) if end and end > 0]
    ends += [zero] if zero else []
    is_log = zero is not None or max(ends, default=1.0) > _FAR_APART * min(ends, default=1.0)
    scale: Callable[[float], float] = math.log if is_log else float
    least, most = (scale(end(ends, default=1.0)) for end in (min, max))

    def at(value: float | None) -> float | None:
        if value is None or value <= 0:
            return None
        part = (scale(value) - least) / (most - least) if most > least else 0.5
        return _MARGIN + (1 - 2 * _MARGIN) * part

    drawn = [
        Cell()
        if row is None or (place := at(row.value)) is None
        else Bounds(place, at(row.low), at(row.high), at(zero), row.tone)
        for row in rows
    ]
    return Column(head, drawn, Role.BOUNDS, optional=1)


def _faint(head: str, texts: Sequence[str], optional: int) -> Column:
    return Column(head, cells(texts, Tone.FAINT), optional=optional)


def _bounded(row: TimeRow | None) -> Interval | None:
    return None if row is None else Interval(row.median_s, *(row.interval_s or (None, None)))


def _drawn(head: str, each_s: Sequence[Sequence[float]], optional: int) -> Column:
    drawn = cells(spread(times_s, _CELLS_OF_TABLE) if times_s else "" for times_s in each_s)
    return Column(head, drawn, Role.DRAWING, optional=optional, brief=False)


def failed_cell(row: OrderRow) -> Cell:
    """Return the cell of an order without figures."""
    return Cell("nothing", Tone.FAINT) if row.run.info.error is None else Cell("failed", Tone.BAD)


def numbers_text(rows: Sequence[TimeRow]) -> str:
    """Return the numbers of processes, blocks and zygotes of all times."""
    processes = range_of([row.processes for row in rows], "process")
    blocks, zygotes = [row.blocks for row in rows], [row.zygotes for row in rows]
    return f"{processes} × {range_of(blocks, 'block')} from {range_of(zygotes, 'interpreter')}"


def _bounds(row: TimeRow | None) -> str:
    if row is None or row.interval_s is None:
        return ""
    low, high = times_alike(row.interval_s)
    figure, _, unit = low.rpartition(" ")
    return f"{figure if high.endswith(f' {unit}') else low} – {high}"


def _cpu(share: float) -> str:
    return f"{share * 100:.0f} %"


def _uncertainty_cell(order: OrderRow) -> Cell:
    return _flagged(uncertainty(order.times)[1:] if order.times else "", order, WarningCode.SPREAD)


def _cpu_cell(order: OrderRow) -> Cell:
    return _flagged(_cpu(order.times.cpu_share) if order.times else "", order, WarningCode.CPU_SHARE)


def _switches_cell(order: OrderRow) -> Cell:
    text = count(order.times.involuntary_switches) if order.times else ""
    return _flagged(text, order, WarningCode.SWITCHES)


def _flagged(text: str, order: OrderRow, code: WarningCode) -> Cell:
    return Cell(text, _tone(order, code, Tone.FAINT))


def _tone(order: OrderRow, code: WarningCode, otherwise: Tone = Tone.PLAIN) -> Tone:
    return Tone.WARN if any(warning.code is code for warning in order.warnings) else otherwise


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
