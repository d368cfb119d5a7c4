"""Report of measured runs: header, times, instruction counts, warnings, hottest functions, failures."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence, Set

from profkit.model.measurement import COUNT_WARNINGS, MeasuredRun, MeasurementWarning, WarningCode
from profkit.render.document import (
    Block,
    Cell,
    Column,
    Document,
    Fact,
    Facts,
    Lines,
    Remark,
    Role,
    Section,
    Table,
    Title,
    cells,
    more_than,
    shares,
)
from profkit.render.escape import short, visible
from profkit.render.formatting import Part, Tone, bar, counts_alike, percent, short_path
from profkit.render.options import DEFAULTS, ReportOptions, Sort
from profkit.render.views.measured import (
    EXACT,
    RELATIVE,
    WARNED,
    FunctionRow,
    OrderRow,
    headed_warnings,
    names,
    order_rows,
    python_remark,
    variants,
)
from profkit.render.views.measured_figures import (
    count_columns,
    count_facts,
    distribution,
    numbers_text,
    pooled,
    time_columns,
    time_facts,
)
from profkit.render.views.measured_header import measured_facts
from profkit.render.views.measurement_warnings import by_cause, warning_text
from profkit.units import short_id

_LONGEST = 60
"""Longest label of a table or a list, in characters."""


def measured(runs: Sequence[MeasuredRun], options: ReportOptions = DEFAULTS) -> Document:
    """Yield the report of measured runs, in their order; raise `UsageError` if a thread is selected."""
    return measured_blocks(order_rows(runs, options), options)


def measured_blocks(rows: Sequence[OrderRow], options: ReportOptions) -> Iterator[Block]:
    """Yield the report of orders; that of several in a page is about their figures alone."""
    if not rows:
        yield Remark("Nothing was measured.", Tone.PLAIN)
        return
    runs = [row.run for row in rows]
    yield _title(runs)
    yield Facts(measured_facts(runs, options))
    yield from _times(rows, options)
    yield from _counts(rows)
    yield from _warnings(rows)
    if len(rows) == 1 or not options.whole:
        yield from _functions(rows, options)
        yield from _failures(rows)
    if len(rows) == 1 and rows[0].times is None and rows[0].counts is None and runs[0].info.error is None:
        yield Remark("There are no numbers: it ended before a block was measured.", Tone.PLAIN, gap=True)


def _title(runs: Sequence[MeasuredRun]) -> Title:
    infos = [run.info for run in runs]
    if len(infos) == 1:
        return Title(infos[0].label, f"run {short_id(infos[0].id)}" if infos[0].id else "", "Measured:")
    labels, batches = ({info.label for info in infos}, {info.batch for info in infos})
    label = f"{labels.pop()}: {len(infos)} runs" if len(labels) == 1 else f"{len(infos)} statements"
    identity = f"measurement {short(batches.pop(), 40)}" if len(batches) == 1 else ""
    return Title(label, identity, "Measured:", is_name=False)


def _times(rows: Sequence[OrderRow], options: ReportOptions) -> Iterator[Block]:
    """Yield the minimum, the median with its interval, the numbers of measurements, and distributions."""
    timed = [
        row for row in rows if row.times is not None or (row.run.info.order.mode.times and row.counts is None)
    ]
    known = [row.times for row in timed if row.times is not None]
    if not known:
        return
    if len(rows) == 1:
        yield Section("Time", "per execution")
        yield Facts(time_facts(known[0], rows[0]))
        yield from distribution([(rows[0].run.info.label, pooled([rows[0].run]))] if options.whole else [])
    else:
        yield Section("Times", f"per execution; {numbers_text(known)}")
        marks = [_mark({warning.code for warning in row.warnings} - COUNT_WARNINGS) for row in timed]
        yield _order_table(timed, marks, time_columns(timed, is_drawn=options.whole), rows)


def _counts(rows: Sequence[OrderRow]) -> Iterator[Block]:
    """Yield instructions raw, without the loop, and without memory allocators, with simulated events."""
    counted = [row for row in rows if row.counts is not None or _only_counted(row)]
    known = [row.counts for row in counted if row.counts is not None]
    if not known:
        return
    is_program = all(row.run.info.order.program is not None for row in counted)
    yield Section("Instructions", "per execution" if is_program else "per execution, except raw")
    if len(rows) == 1:
        yield Facts(count_facts(known[0], is_program=is_program))
    else:
        about = COUNT_WARNINGS | {WarningCode.CHANGES_STATE}
        marks = [_mark({warning.code for warning in row.warnings} & about) for row in counted]
        yield _order_table(counted, marks, count_columns(counted), rows)


def _only_counted(row: OrderRow) -> bool:
    # If both modes failed, the table of times says so.
    mode = row.run.info.order.mode
    return mode.counts and not mode.times


def _mark(codes: Set[WarningCode]) -> Cell:
    """Return `!` beside unreliable numbers, `~` beside times that are only relative, else nothing."""
    if not codes:
        return Cell()
    return Cell("~" if codes == {WarningCode.QUICK} else "!", Tone.WARN)


def _order_table(
    rows: Sequence[OrderRow], marks: Sequence[Cell], figures: Sequence[Column], among: Sequence[OrderRow]
) -> Table:
    """Return a table of marks, labels, variants, threads and figures of orders among all of a report."""
    numbers = {id(row): number for number, row in enumerate(among)}
    runs = [row.run for row in rows]
    labels = [short(run.info.label, _LONGEST) for run in runs]
    asides = [short(text, _LONGEST) for text in variants(runs)]
    threads = [str(run.info.order.num_threads) for run in runs]
    hosts = [short(run.info.process.host) for run in runs]
    return Table(
        [
            *([Column("", marks)] if any(mark.text for mark in marks) else []),
            Column("name", cells(labels), Role.NAME),
            *([Column("", cells(asides, Tone.FAINT), Role.ASIDE)] if any(asides) else []),
            *([Column("threads", cells(threads, Tone.FAINT))] if len(set(threads)) > 1 else []),
            *([Column("machine", cells(hosts, Tone.FAINT), Role.WORDS)] if len(set(hosts)) > 1 else []),
            *figures,
        ],
        [numbers[id(row)] for row in rows],
    )


_MAX_NAMES = 3
_MAX_ALIKE = 3
"""Sentences per warning code."""


def _warnings(rows: Sequence[OrderRow]) -> Iterator[Block]:
    """Yield each reason once, with its orders if there are several; relative numbers come last."""
    if len(rows) == 1:
        headed = sorted(headed_warnings(dict.fromkeys(rows[0].warnings)), key=lambda one: one[0] == RELATIVE)
        yield Facts([Fact(word, (Part(visible(reason), Tone.WARN),)) for word, reason in headed], gap=True)
        return
    about: dict[MeasurementWarning, list[str]] = {}
    for row, name in zip(rows, names([row.run for row in rows]), strict=True):
        for warning in dict.fromkeys(row.warnings):
            about.setdefault(warning, []).append(short(name, _LONGEST))
    grouped = [warning.code for group in by_cause(about) for warning in group]
    codes = sorted(dict.fromkeys(grouped), key=lambda code: code is WarningCode.QUICK)
    yield Facts([fact for code in codes for fact in _of_code(code, about, len(rows))], gap=True)


def _of_code(
    code: WarningCode, about: Mapping[MeasurementWarning, Sequence[str]], total: int
) -> Iterator[Fact]:
    """Yield the sentences of one code; if there are many, which differ only in figures, the first ones."""
    sentences = [(warning_text(warning), orders) for warning, orders in about.items() if warning.code is code]
    marked = f"~ {RELATIVE}" if code is WarningCode.QUICK else f"! {WARNED}"
    listed = sentences if len(sentences) <= _MAX_ALIKE + 1 else sentences[:_MAX_ALIKE]
    for reason, orders in listed:
        yield Fact(marked, (Part(_orders_text(orders, total), Tone.STRONG), Part(visible(reason), Tone.WARN)))
    if others := [name for _, orders in sentences[len(listed) :] for name in orders]:
        yield Fact(marked, (Part("the same", Tone.WARN), Part(", ".join(others), Tone.STRONG)))


def _orders_text(orders: Sequence[str], total: int) -> str:
    if len(orders) == total:
        return "all orders"
    return ", ".join(orders) if len(orders) <= _MAX_NAMES else f"{len(orders)} orders"


_LIMIT_OF_FEW, _FEW = 5, 4
"""Rows of each table for at most `_FEW` orders; more orders have tables only if a limit is given."""
_BAR = 6
_ADDRESS = re.compile(r"^0x0+(?=[0-9a-f])")
_ORDERED = {
    Sort.SELF: "by self instructions",
    Sort.TOTAL: "by instructions including callees",
    Sort.NAME: "by name",
}


def _functions(rows: Sequence[OrderRow], options: ReportOptions) -> Iterator[Block]:
    """Yield a table for each order that has counts; none for many orders unless a limit is given."""
    named = zip(rows, names([row.run for row in rows]), strict=True)
    counted = [(row, name) for row, name in named if row.functions or row.python]
    if options.limit is None and len(counted) > _FEW:
        yield Remark(
            "Hottest functions are hidden for several orders: report one order, or set a limit.", gap=True
        )
        return
    limit = options.rows(15, 10) if len(rows) == 1 else options.rows(_LIMIT_OF_FEW, _LIMIT_OF_FEW)
    for row, name in counted:
        owner = "" if len(rows) == 1 else f" of {short(name, _LONGEST)}"
        remark = "" if row.counts is None else python_remark(row.counts)
        if row.python:
            yield Section(f"Hottest Python functions{owner}", _ORDERED[options.sort])
            yield from _function_table(row.python[:limit], row.python_found, row.run.info.process.cwd)
            yield Remark(remark)
        yield Section(f"Hottest {'native ' if row.python else ''}functions{owner}", _ORDERED[options.sort])
        yield from _function_table(row.functions[:limit], row.functions_found, row.run.info.process.cwd)
        if remark and not row.python:
            yield Remark(remark)


def _function_table(rows: Sequence[FunctionRow], found: int, cwd: str) -> Iterator[Block]:
    selves = [row.exclusive_share for row in rows]
    most = max(selves, default=0.0) or 1.0
    # Both columns have the same decimals, so that all their figures compare.
    both = counts_alike([row.exclusive for row in rows] + [row.inclusive for row in rows])
    calls = counts_alike([row.calls or None for row in rows])
    names_of = shares((_ADDRESS.sub("0x", row.name) for row in rows), selves)
    yield Table(
        [
            Column("self", [_share(share) for share in selves]),
            Column(
                "",
                shares((bar(share / most, _BAR) for share in selves), selves),
                Role.DRAWING,
                76,
                brief=False,
            ),
            Column("exclusive", cells(both[: len(rows)]), width=60),
            Column("total", [_share(row.inclusive_share) for row in rows]),
            Column("inclusive", cells(both[len(rows) :]), width=96, brief=False),
            Column("calls", cells(calls, Tone.FAINT), width=110, brief=False),
            Column("function", names_of, Role.NAME),
            Column("where", cells((_where(row, cwd) for row in rows), Tone.FAINT), Role.PLACE),
        ]
    )
    yield from more_than(len(rows), found, "function")


def _share(share: float) -> Cell:
    # A share is slightly below 0 if the baseline executed more of the function.
    return Cell(percent(0.0 if -0.0005 < share < 0 else share, EXACT), heat=share)


def _where(row: FunctionRow, cwd: str) -> str:
    """Return the short path of the function's file, or its shared object if the file is unknown."""
    if not row.file:
        return f"[{posixpath.basename(row.object)}]" if row.object else ""
    # The end of a path identifies sources built elsewhere: `/build/python3.11/./Python/ceval.c`.
    path = short_path(posixpath.normpath(row.file), cwd)
    if row.line:
        return f"{path}:{row.line}"
    return "/".join(path.split("/")[-2:]) if path.startswith("/") else path


def _failures(rows: Sequence[OrderRow]) -> Iterator[Block]:
    """Yield a section for each order that has an error."""
    for row, name in zip(rows, names([row.run for row in rows]), strict=True):
        if row.run.info.error is not None:
            yield Section("Failed", "" if len(rows) == 1 else short(name))
            message, *lines = row.run.info.error.expandtabs(8).splitlines() or [""]
            yield Lines(message, [Cell(_indented(line)) for line in lines], Tone.BAD)


def _indented(line: str) -> str:
    return line if line.startswith("    ") else f"    {line.lstrip(' ')}"
