"""Text of measured runs' times: lines for one order, a table for several."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.cells import cell_len
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from profkit.model.measurement import WarningCode
from profkit.render.cells import middle_cut
from profkit.render.escape import short
from profkit.render.formatting import Part, Tone, count, range_of, spread, switches, time_text, times_alike
from profkit.render.options import Terminal
from profkit.render.text.layout import FAINT, GAP, TITLE, TONES, Column, fact_grid, room_left, section, table
from profkit.render.text.warnings import marks_of_times
from profkit.render.views.header import Fact
from profkit.render.views.measured import OrderRow, TimeRow, uncertainty, variants
from profkit.render.views.measured_header import usage_facts

_LONGEST, _SHORTEST = 60, 8
"""Limits of a label's width, in cells."""
_ENOUGH_CELLS = 36
"""Cells that suffice to distinguish orders."""


def order_table(
    rows: Sequence[OrderRow],
    marks: Sequence[Text],
    figures: Mapping[str, Column],
    optional: Sequence[str],
    terminal: Terminal,
) -> Table:
    """Build a table of marks, labels, variants, threads and figures.

    Omit `optional` figures, the last ones first, until there is room to distinguish the orders.
    """
    labels = [short(row.run.info.label, _LONGEST) for row in rows]
    variant_texts = [short(text, _LONGEST) for text in variants([row.run for row in rows])]
    before, after = [Column("", marks)] if any(marks) else [], _threads(rows)
    wanted = min(_ENOUGH_CELLS, _width(labels, "name") + GAP + _width(variant_texts))
    columns = dict(figures)
    for name in reversed(optional):
        room = room_left([*before, *after, *columns.values()], terminal)
        if room is None or room >= wanted:
            break
        columns.pop(name, None)
    left = room_left([*before, *after, *columns.values()], terminal)
    return table([*before, *_name_columns(labels, variant_texts, left), *after, *columns.values()])


def _width(texts: Sequence[str], head: str = "") -> int:
    return max(map(cell_len, (*texts, head)))


def _name_columns(labels: Sequence[str], variant_texts: Sequence[str], room: int | None) -> list[Column]:
    label_width, variant_width = _widths(_width(labels, "name"), _width(variant_texts), room)
    columns = [Column("name", [Text(middle_cut(label, label_width)) for label in labels], "left")]
    if variant_width:
        cells = [Text(middle_cut(text, variant_width), style=FAINT) for text in variant_texts]
        columns.append(Column("", cells, "left"))
    return columns


def failed_cell(row: OrderRow) -> Text:
    """Return the cell of an order without figures."""
    if row.run.info.error is not None:
        return Text("failed", style=TONES[Tone.BAD])
    return Text("nothing", style=FAINT)


def _threads(rows: Sequence[OrderRow]) -> list[Column]:
    threads = [row.run.info.order.num_threads for row in rows]
    if len(set(threads)) == 1:
        return []
    return [Column("threads", [Text(str(number), style=FAINT) for number in threads])]


def _widths(label_width: int, variant_width: int, room: int | None) -> tuple[int, int]:
    """Divide the room between labels and variants; if both do not fit, variants get at most two fifths."""
    if room is None or label_width + GAP + (variant_width + GAP if variant_width else 0) <= room:
        return label_width, variant_width
    if not variant_width:
        return max(_SHORTEST, room - GAP), 0
    variant_width = min(variant_width, max(room * 2 // 5, room - label_width - 2 * GAP))
    if room - variant_width - 2 * GAP < _SHORTEST:
        return max(_SHORTEST, room - GAP), 0
    return min(label_width, room - variant_width - 2 * GAP), variant_width


_CELLS, _CELLS_OF_TABLE = 16, 8
_OPTIONAL = ("cpu", "spread", "switches", "number", "blocks", "minima", "zygotes", "interval")
"""Columns of the table that narrow terminals omit, the last ones first."""


def times_block(rows: Sequence[OrderRow], terminal: Terminal) -> Iterator[RenderableType]:
    """Yield the minimum, the median with its interval, the numbers of measurements, and distributions."""
    timed = [row for row in rows if row.times is not None or _expects_times(row)]
    known = [row.times for row in timed if row.times is not None]
    if not known:
        return
    if len(rows) == 1:
        yield section("Time", "per execution")
        yield fact_grid((_facts if known[0].usage is None else _program_facts)(known[0], rows[0]))
    else:
        yield section("Times", f"per execution; {_numbers_text(known)}")
        yield order_table(timed, [marks_of_times(row) for row in timed], _columns(timed), _OPTIONAL, terminal)


def _expects_times(row: OrderRow) -> bool:
    return row.run.info.order.mode.times and row.counts is None


def _facts(row: TimeRow, order: OrderRow) -> list[Fact]:
    shortest, longest = time_text(row.min_s), time_text(max(row.minima_s))
    return [
        Fact("min", (Part(shortest, Tone.STRONG),)),
        Fact("median", (Part(time_text(row.median_s), Tone.STRONG), *_interval(row))),
        Fact("minima", (
            Part(f"{shortest} {spread(row.minima_s, _CELLS)} {longest}"),
            Part(f"of {range_of([row.processes], 'process')} from {count(row.zygotes, 'interpreter')}"),
        )),
        Fact("blocks", (*_blocks(row), Part(f"{count(row.number, 'execution')} each"))),
        Fact("CPU", (
            Part(f"{_cpu(row.cpu_share)} of the wall time", _tone(order, WarningCode.CPU_SHARE)),
            Part(switches(row.involuntary_switches), _tone(order, WarningCode.SWITCHES)),
        )),
    ]  # fmt: skip


def _program_facts(row: TimeRow, order: OrderRow) -> list[Fact]:
    """Return the times of a program's executions, each of which is a process."""
    usual = _usual(row.all_s)
    number = count(row.processes, "execution")
    all_of_them = [Part(f"{time_text(usual[0])} {spread(usual, _CELLS)} {time_text(usual[-1])}")]
    if len(usual) == len(row.all_s):
        all_of_them.append(Part(f"of {number}"))
    else:
        all_of_them += [Part(f"95 % of {number}"), Part(f"longest {time_text(max(row.all_s))}")]
    return [
        Fact("min", (Part(time_text(row.min_s), Tone.STRONG),)),
        Fact("median", (Part(time_text(row.median_s), Tone.STRONG), *_interval(row))),
        Fact("executions", tuple(all_of_them)),
        *(usage_facts(row.usage) if row.usage is not None else ()),
        Fact("CPU", (
            Part(f"{_cpu(row.cpu_share)} of the wall time"),
            Part(switches(row.involuntary_switches), _tone(order, WarningCode.SWITCHES)),
        )),
    ]  # fmt: skip


def _interval(row: TimeRow) -> list[Part]:
    if row.interval_s is None:
        return [
            Part(
                "no interval from fewer than 6 processes",
                Tone.FAINT,
            )
        ]
    low, high = times_alike(row.interval_s)
    margin = uncertainty(row)
    return [*([Part(margin)] if margin else []), Part(f"95 % interval {low} to {high}")]


def _blocks(row: TimeRow) -> list[Part]:
    usual = _usual(row.all_s)
    source = f"of {range_of([row.processes], 'process')} × {count(row.blocks, 'block')}"
    parts = [Part(f"{time_text(usual[0])} {spread(usual, _CELLS)} {time_text(usual[-1])}")]
    if len(usual) == len(row.all_s):
        return [*parts, Part(source)]
    return [*parts, Part(f"95 % {source}"), Part(f"longest {time_text(max(row.all_s))}")]


def _usual(all_s: Sequence[float]) -> list[float]:
    """Return the shortest 95 %, since one disturbed block would squeeze the others into a single column."""
    return sorted(all_s)[: len(all_s) - len(all_s) // 20]


def _columns(orders: Sequence[OrderRow]) -> dict[str, Column]:
    rows, fallbacks = [order.times for order in orders], [failed_cell(order) for order in orders]
    # Both columns have one unit, so that all their figures compare.
    both = times_alike(
        [row.min_s if row else None for row in rows] + [row.median_s if row else None for row in rows]
    )
    minima = [Text(text, style=TITLE) if text else cell for text, cell in zip(both, fallbacks, strict=False)]
    medians = [Text(text) for text in both[len(rows) :]]
    columns = {
        "min": Column("min", minima),
        "median": Column("median", medians),
        "uncertainty": Column("±", [_uncertainty_cell(order) for order in orders]),
        "interval": Column("95 % interval", [_bounds(row) for row in rows]),
        "minima": Column("minima", [_spread(row.minima_s if row else ()) for row in rows], "left"),
        "spread": Column("blocks", [_spread(_usual(row.all_s) if row else ()) for row in rows], "left"),
        "cpu": Column("CPU", [_cpu_cell(order) for order in orders]),
        "switches": Column("switches", [_switches_cell(order) for order in orders]),
        "number": Column("number", [_faint(row.number if row else None) for row in rows]),
    }
    known = [row for row in rows if row is not None]
    if len({(row.processes, row.blocks) for row in known}) > 1:
        cells = [_faint(f"{row.processes} × {row.blocks}" if row else "") for row in rows]
        columns["blocks"] = Column("processes × blocks", cells)
    if not any(row.interval_s for row in known):
        del columns["uncertainty"], columns["interval"]
    if len({row.zygotes for row in known}) > 1:
        columns["zygotes"] = Column("interpreters", [_faint(row.zygotes if row else None) for row in rows])
    return columns


def _numbers_text(rows: Sequence[TimeRow]) -> str:
    """Return the numbers of processes, blocks and zygotes of all times."""
    processes = range_of([row.processes for row in rows], "process")
    blocks, zygotes = [row.blocks for row in rows], [row.zygotes for row in rows]
    return f"{processes} × {range_of(blocks, 'block')} from {range_of(zygotes, 'interpreter')}"


def _faint(value: str | int | None) -> Text:
    return Text(count(value) if isinstance(value, int) else value or "", style=FAINT)


def _bounds(row: TimeRow | None) -> Text:
    if row is None or row.interval_s is None:
        return Text()
    low, high = times_alike(row.interval_s)
    figure, _, unit = low.rpartition(" ")
    return _faint(f"{figure if high.endswith(f' {unit}') else low} – {high}")


def _spread(times_s: Sequence[float]) -> Text:
    return Text(spread(times_s, _CELLS_OF_TABLE) if times_s else "")


def _cpu(share: float) -> str:
    return f"{share * 100:.0f} %"


def _uncertainty_cell(order: OrderRow) -> Text:
    return _flagged(uncertainty(order.times)[1:] if order.times else "", order, WarningCode.SPREAD)


def _cpu_cell(order: OrderRow) -> Text:
    return _flagged(_cpu(order.times.cpu_share) if order.times else "", order, WarningCode.CPU_SHARE)


def _switches_cell(order: OrderRow) -> Text:
    text = count(order.times.involuntary_switches) if order.times else ""
    return _flagged(text, order, WarningCode.SWITCHES)


def _flagged(text: str, order: OrderRow, code: WarningCode) -> Text:
    return Text(text, style=TONES[_tone(order, code, Tone.FAINT)])


def _tone(order: OrderRow, code: WarningCode, otherwise: Tone = Tone.PLAIN) -> Tone:
    return Tone.WARN if any(warning.code is code for warning in order.warnings) else otherwise
