"""Tables of a sampled run's text report: hottest functions, hottest lines, threads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.console import RenderableType
from rich.text import Text

from profkit.render.cells import left_cut, middle_cut
from profkit.render.escape import short, visible
from profkit.render.formatting import alike, bar, cost_word, count, percent, place, weight_text
from profkit.render.options import Activity, Sort, Terminal
from profkit.render.text.layout import FAINT, GAP, Column, heat, remark, room_left, section, table
from profkit.render.views.costs import CostRow, Scale, plus_minus
from profkit.render.views.sampled import Report
from profkit.render.views.tables import HotRow, LineRow, Tables
from profkit.render.views.threads import ThreadGroup, thread_groups
from profkit.units import Unit

_BAR = 6
_WIDEST = 110
_MIN_WIDTHS = {"time": 60, "bar": 76, "total time": 96, "samples": _WIDEST}
"""Minimum terminal widths for these columns."""


def cost_columns(rows: Sequence[HotRow], scale: Scale, terminal: Terminal, spare: int = 0) -> list[Column]:
    """Return columns of own and total cost, as many as fit if other columns need `spare` more cells.

    If any row has waiting, the own cost is shown in two columns, working and waiting.
    """
    selves = [row.self_share for row in rows]
    most = max(selves, default=0.0) or 1.0
    # Both columns of times have one unit, so that all their figures compare.
    times = alike([*(row.self_s for row in rows), *(row.total_s for row in rows)])
    pairs = zip(rows, times, strict=False)
    waits = any(row.waiting_samples for row in rows)
    working = [own_share(row.self_samples - row.waiting_samples, scale) for row in rows]
    waiting = [own_share(row.waiting_samples, scale) for row in rows]
    omitted = (*_omitted_columns(scale), *(() if waits else ("waiting",)))
    columns = {
        "self": Column(f"{'working' if waits else 'self':<9}", working),
        "waiting": Column("waiting  ", waiting),
        "bar": Column("", [Text(bar(share / most, _BAR), style=heat(share)) for share in selves], "left"),
        "time": Column("time", [Text(time if row.self_samples else "") for row, time in pairs]),
        "samples": Column(scale.unit.value, [_weight(row.self_samples, scale) for row in rows]),
        "total": Column("total", [share_text(row.total_share, scale) for row in rows]),
        "total time": Column("time", [Text(time) for time in times[len(rows) :]]),
    }
    width = _WIDEST if terminal.width is None else terminal.width - spare
    # Weights that are not times take the place of times.
    min_widths = _MIN_WIDTHS if scale.weight_s is not None else _MIN_WIDTHS | {"samples": _MIN_WIDTHS["time"]}
    return [
        column for name, column in columns.items() if name not in omitted and width >= min_widths.get(name, 0)
    ]


def _omitted_columns(scale: Scale) -> tuple[str, ...]:
    """Return the columns that would be empty or redundant."""
    if scale.weight_s is None:
        return ("time", "total time")
    return ("samples",) if scale.unit is Unit.NANOSECONDS else ()


def share_text(share: float, scale: Scale) -> Text:
    """Return a share, coloured by its size."""
    return Text(percent(share, scale.total), style=heat(share))


def own_share(weight: int, scale: Scale) -> Text:
    """Return the share of a weight with its uncertainty in points, `43 % ±6`; empty for 0."""
    if not weight:
        return Text()
    text = share_text(scale.share(weight), scale)
    return text.append(f" {plus_minus(weight, scale):<4}", style=FAINT)


def _weight(weight: int, scale: Scale) -> Text:
    return Text(weight_text(weight, scale.unit) if weight else "")


_MIN_PLACE = 12
_SPARE = 20
"""Additional cells that source lines need compared with names."""
_MIN_SOURCE, _WIDEST_SOURCE = 10, 120


def function_table(report: Report, tables: Tables, terminal: Terminal) -> Iterator[RenderableType]:
    """Yield the hottest functions with their own cost, their cost including callees, and their places."""
    rows = tables.functions
    columns = cost_columns(rows, report.scale, terminal)
    styles = [FAINT if report.is_library(row.file) else heat(row.self_share, "") for row in rows]
    names = [row.name for row in rows]
    columns += names_and_places(names, styles, _places(rows, report), room_left(columns, terminal))
    yield section("Hottest functions", _order_remark(report))
    yield table(columns)
    yield from _omitted_remark(tables.functions_found - len(rows), "function")


def line_table(report: Report, tables: Tables, terminal: Terminal) -> Iterator[RenderableType]:
    """Yield the hottest lines with their source."""
    rows = tables.lines
    if not rows:
        return
    columns = cost_columns(rows, report.scale, terminal, spare=_SPARE)
    columns += _places_and_sources(rows, report, room_left(columns, terminal))
    charged = "" if report.options.show_all else "; library calls count towards the calling line"
    yield section("Hottest lines", _order_remark(report) + charged)
    yield table(columns)
    yield from _omitted_remark(tables.lines_found - len(rows), "line")
    if tables.lines_elsewhere:
        share = percent(report.scale.share(tables.lines_elsewhere), report.scale.total)
        yield remark(f"{share} of the samples have no line of your code; --show-all shows theirs")
    if tables.changed_files:
        files = count(len(tables.changed_files), "file")
        yield remark(f"{files} changed after the run began; source of such files is not shown")


def thread_table(report: Report) -> Iterator[RenderableType]:
    """Yield the threads, those with most samples first; nothing if there is only one.

    Threads of a pool are one row, unless everything is shown.
    """
    if len(report.threads) < 2:
        return
    grouped = thread_groups(report.threads)
    everything = tuple(ThreadGroup(row.name, (row,)) for row in report.threads)
    groups = everything if report.options.show_all else grouped
    rows = groups[: report.options.limit]
    samples = sum(row.samples for row in report.threads)
    columns = [
        Column("share", [Text(percent(row.share, samples), style=heat(row.share)) for row in rows]),
        *_thread_costs(rows, report.scale),
        *_thread_states(rows),
        Column("tid", [Text(_tid(row), style=FAINT) for row in rows]),
        Column("thread", [Text(short(row.name)) for row in rows], "left"),
    ]
    if len({row.pid for row in report.threads}) > 1:
        columns.insert(-2, Column("pid", [Text(str(row.threads[0].pid), style=FAINT) for row in rows]))
    yield section("Threads")
    yield table(columns)
    yield from _omitted_remark(sum(len(group.threads) for group in groups[len(rows) :]), "thread")


def _tid(group: ThreadGroup) -> str:
    first, *others = group.threads
    return count(len(group.threads), "thread") if others else str(first.tid)


def _thread_costs(rows: Sequence[ThreadGroup], scale: Scale) -> list[Column]:
    """Return the columns of times, of weights, or of both, without empty or redundant ones."""
    times = Column("time", [Text(time) for time in alike([row.seconds for row in rows])])
    weights = Column(scale.unit.value, [Text(weight_text(row.samples, scale.unit)) for row in rows])
    if scale.weight_s is None:
        return [weights]
    return [times] if scale.unit is Unit.NANOSECONDS else [times, weights]


def _thread_states(rows: Sequence[ThreadGroup]) -> list[Column]:
    """Return the columns of the parts of each thread's time, without empty ones."""
    parts = {"worked": [row.working_share for row in rows], "GIL": [row.gil_share for row in rows]}
    return [
        Column(
            name,
            [
                Text("" if share is None else percent(share, row.samples))
                for share, row in zip(shares, rows, strict=True)
            ],
        )
        for name, shares in parts.items()
        if any(shares)
    ]


def _places(rows: Sequence[CostRow], report: Report) -> list[str]:
    cwd = report.run.info.process.cwd
    return [short(place(row.file, row.line, cwd)) for row in rows]


def names_and_places(
    names: Sequence[str], styles: Sequence[str], places: Sequence[str], room: int | None
) -> list[Column]:
    """Return columns of function names and places that fit into `room`; if it is too small, only names.

    Escape names; places are escaped already.
    """
    names = [short(name) for name in names]
    name_width = longest = max(map(cell_len, names), default=0)
    if room is not None:
        name_width = min(longest, max(room * 11 // 20, room - GAP - max(map(cell_len, places), default=0)))
    fitting = [name if cell_len(name) <= name_width else name.replace(".<locals>", "") for name in names]
    name_cells = [
        Text(middle_cut(name, name_width), style=style) for name, style in zip(fitting, styles, strict=True)
    ]
    place_width = None if room is None else room - name_width - GAP
    if place_width is not None and place_width < _MIN_PLACE:
        return [Column("function", name_cells, "left")]
    where = [Text(left_cut(at, place_width), style=FAINT) for at in places]
    return [Column("function", name_cells, "left"), Column("where", where, "left")]


def _places_and_sources(rows: Sequence[LineRow], report: Report, room: int | None) -> list[Column]:
    """Return columns of places and sources; sources get the rest of `room`, and at least half of it."""
    places, sources = _places(rows, report), [visible(row.source or "") for row in rows]
    longest = max(map(cell_len, places))
    place_width = longest if room is None else min(longest, room // 2 if any(sources) else room)
    columns = [Column("line", [Text(left_cut(at, place_width), style=FAINT) for at in places], "left")]
    left = _WIDEST_SOURCE if room is None else room - place_width - GAP
    if any(sources) and left >= _MIN_SOURCE:
        source_cells = [Text(source) for source in sources]
        for text in source_cells:
            text.truncate(min(left, _WIDEST_SOURCE), overflow="ellipsis")
        columns.append(Column("source", source_cells, "left"))
    return columns


def _order_remark(report: Report) -> str:
    cost = cost_word(report.scale.unit)
    by_work = "working" if report.is_by_work else "self"
    order = {
        Sort.SELF: f"by {by_work} {cost}",
        Sort.TOTAL: f"by {cost} including callees",
        Sort.NAME: "by name",
    }[report.options.sort]
    activity = report.options.activity
    if activity is Activity.ALL:
        return order
    total = report.activity.working + report.activity.waiting
    return f"{order}; only {activity.value}, {percent(report.scale.total / total, total)} of all samples"


def _omitted_remark(hidden: int, noun: str) -> Iterator[Text]:
    if hidden > 0:
        yield remark(f"… and {count(hidden, f'more {noun}')}")
