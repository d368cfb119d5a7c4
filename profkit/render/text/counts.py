"""Text of measured runs' instruction counts: totals, and tables by function."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from profkit.model.measurement import INSTRUCTIONS, InstructionCounts, relative_range
from profkit.render.escape import short
from profkit.render.formatting import Part, Tone, bar, count, count_text, counts_alike, percent, short_path
from profkit.render.options import ReportOptions, Sort, Terminal
from profkit.render.text.layout import (
    FAINT,
    TITLE,
    TONES,
    Column,
    fact_grid,
    heat,
    remark,
    room_left,
    section,
    table,
)
from profkit.render.text.tables import names_and_places
from profkit.render.text.times import failed_cell, order_table
from profkit.render.text.warnings import marks_of_counts
from profkit.render.views.header import Fact
from profkit.render.views.measured import EXACT, FunctionRow, OrderRow, names, python_remark
from profkit.transforms.counts import CYCLES

_MAX_REPEATS = 6
_OPTIONAL = ("repeats", "cycles", "baseline", "number", "raw")
"""Columns of the table that narrow terminals omit, the last ones first."""


def counts_block(rows: Sequence[OrderRow], terminal: Terminal) -> Iterator[RenderableType]:
    """Yield instructions raw, without the loop, and without memory allocators, with simulated events."""
    counted = [row for row in rows if row.counts is not None or _only_counted(row)]
    known = [row.counts for row in counted if row.counts is not None]
    if not known:
        return
    is_program = all(row.run.info.order.program is not None for row in counted)
    yield section("Instructions", "per execution" if is_program else "per execution, except raw")
    if len(rows) == 1:
        yield fact_grid((_run_facts if is_program else _facts)(known[0]))
    else:
        figures = _count_columns([row.counts for row in counted], [failed_cell(row) for row in counted])
        yield order_table(counted, [marks_of_counts(row) for row in counted], figures, _OPTIONAL, terminal)


def _only_counted(row: OrderRow) -> bool:
    # If both modes failed, the table of times says so.
    mode = row.run.info.order.mode
    return mode.counts and not mode.times


def _facts(counts: InstructionCounts) -> list[Fact]:
    executions = f"{count(counts.number, 'execution')} each, including the loop"
    return [
        Fact("raw", (*_raw(counts.raw), Part(executions))),
        Fact("baseline", (Part(count_text(counts.baseline)), Part("the same loop with `pass`"))),
        Fact("net", (
            Part(count_text(counts.net), Tone.STRONG),
            Part("raw per execution, minus the baseline"),
        )),
        _stripped(counts, "net"),
        *_event_facts(counts),
    ]  # fmt: skip


def _run_facts(counts: InstructionCounts) -> list[Fact]:
    """Return the counts of a program, in which there is no loop to subtract."""
    return [Fact("raw", tuple(_raw(counts.raw))), _stripped(counts, "raw"), *_event_facts(counts)]


def _stripped(counts: InstructionCounts, of: str) -> Fact:
    allocators = counts.net - counts.stripped
    share = f" ({percent(allocators / counts.net, 1000)})" if counts.net >= 1 and allocators > 0 else ""
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
    return [Part(repeats or "no repeats"), *([Part(_disagreement(raw), Tone.WARN)] if raw else [])]


def _disagreement(raw: Sequence[int]) -> str:
    difference = relative_range(raw)
    return f"the repeats differ by {percent(difference, 1000)}" if difference else "the repeats differ"


def _count_columns(rows: Sequence[InstructionCounts | None], fallbacks: Sequence[Text]) -> dict[str, Column]:
    # Both columns have the same decimals, so that all their figures compare.
    both = counts_alike(
        [row.stripped if row else None for row in rows] + [row.net if row else None for row in rows]
    )
    stripped = [
        Text(text, style=TITLE) if text else other for text, other in zip(both, fallbacks, strict=False)
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


_LIMIT = 15
_LIMIT_OF_FEW, _FEW = 5, 4
"""Rows of each table for at most `_FEW` orders; more orders have tables only if a limit is given."""
_BAR = 6
_MIN_WIDTHS = {"exclusive": 60, "bar": 76, "inclusive": 96, "calls": 110}
"""Minimum terminal widths for these columns."""
_ADDRESS = re.compile(r"^0x0+(?=[0-9a-f])")


def functions_block(
    rows: Sequence[OrderRow], options: ReportOptions, terminal: Terminal
) -> Iterator[RenderableType]:
    """Yield a table for each order that has counts; none for many orders unless a limit is given."""
    named = zip(rows, names([row.run for row in rows]), strict=True)
    counted = [(row, name) for row, name in named if row.functions or row.python]
    if options.limit is None and len(counted) > _FEW:
        yield Text()
        yield remark("Hottest functions are hidden for several orders: report one order, or set a limit.")
        return
    limit = _LIMIT if len(rows) == 1 else _LIMIT_OF_FEW
    limit = limit if options.limit is None else options.limit
    for row, name in counted:
        owner = "" if len(rows) == 1 else f" of {short(name, 60)}"
        kinds = [("native ", row.functions, row.functions_found)]
        if row.python:
            kinds.insert(0, ("Python ", row.python, row.python_found))
        for kind, functions, found in kinds:
            yield section(f"Hottest {kind if row.python else ''}functions{owner}", _ORDERED[options.sort])
            yield _function_table(functions[:limit], row.run.info.process.cwd, terminal)
            hidden = found - min(limit, len(functions))
            if hidden:
                yield remark(f"… and {count(hidden, 'more function')}")
            if row.counts is not None and kind == "Python ":
                yield remark(python_remark(row.counts))
        if not row.python and row.counts is not None and (why := python_remark(row.counts)):
            yield remark(why)


_ORDERED = {
    Sort.SELF: "by self instructions",
    Sort.TOTAL: "by instructions including callees",
    Sort.NAME: "by name",
}


def _function_table(rows: Sequence[FunctionRow], cwd: str, terminal: Terminal) -> RenderableType:
    columns = _function_columns(rows, terminal)
    function_names, places = [_name(row) for row in rows], [_where(row, cwd) for row in rows]
    styles = [heat(row.exclusive_share, "") for row in rows]
    return table([*columns, *names_and_places(function_names, styles, places, room_left(columns, terminal))])


def _function_columns(rows: Sequence[FunctionRow], terminal: Terminal) -> list[Column]:
    most = max((row.exclusive_share for row in rows), default=0.0) or 1.0
    selves = [row.exclusive_share for row in rows]
    # Both columns have the same decimals, so that all their figures compare.
    both = counts_alike([row.exclusive for row in rows] + [row.inclusive for row in rows])
    calls = counts_alike([row.calls or None for row in rows])
    columns = {
        "self": Column("self", [_share(share) for share in selves]),
        "bar": Column("", [Text(bar(share / most, _BAR), style=heat(share)) for share in selves], "left"),
        "exclusive": Column("exclusive", [Text(text) for text in both[: len(rows)]]),
        "total": Column("total", [_share(row.inclusive_share) for row in rows]),
        "inclusive": Column("inclusive", [Text(text) for text in both[len(rows) :]]),
        "calls": Column("calls", [Text(text, style=FAINT) for text in calls]),
    }
    width = terminal.width
    return [column for name, column in columns.items() if width is None or width >= _MIN_WIDTHS.get(name, 0)]


def _share(share: float) -> Text:
    # A share is slightly below 0 if the baseline executed more of the function.
    return Text(percent(0.0 if -0.0005 < share < 0 else share, EXACT), style=heat(share))


def _name(row: FunctionRow) -> str:
    """Return the function's name, or its address `0x4fee40` if it has none."""
    return _ADDRESS.sub("0x", row.name)


def _where(row: FunctionRow, cwd: str) -> str:
    """Return the short path of the function's file, or its shared object if the file is unknown."""
    if not row.file:
        return short(f"[{posixpath.basename(row.object)}]") if row.object else ""
    # The end of a path identifies sources built elsewhere: `/build/python3.11/./Python/ceval.c`.
    path = short_path(posixpath.normpath(row.file), cwd)
    if row.line:
        return short(f"{path}:{row.line}")
    return short("/".join(path.split("/")[-2:]) if path.startswith("/") else path)
