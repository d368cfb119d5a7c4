"""Report of a comparison of measured runs: sentences for one order, tables for several, and differences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from profkit.model.comparison import (
    CallDelta,
    FunctionDelta,
    MeasuredComparison,
    OrderCompared,
    PythonFunctionDelta,
    Verdict,
)
from profkit.model.measurement import MeasuredRun
from profkit.render.document import (
    Block,
    Call,
    Cell,
    Column,
    Document,
    Fact,
    Facts,
    Remark,
    Role,
    Section,
    Sentences,
    Table,
    Title,
    cells,
    folded_remarks,
    more_than,
)
from profkit.render.escape import short
from profkit.render.formatting import (
    Part,
    Tone,
    change,
    count,
    counts_alike,
    signed,
    signed_alike,
    times_alike,
)
from profkit.render.options import DEFAULTS, ReportOptions
from profkit.render.views.findings import finding_text
from profkit.render.views.measured_comparison import (
    PYTHON_WHAT,
    TONES_OF,
    WHAT,
    delta_cell,
    design_text,
    function_text,
    grid_of,
    headline,
    order_words,
    python_place,
    remarks_of,
    sentences,
    shown_deltas,
    side_fact,
    side_names,
    times_of,
    verdict_words,
    warning_parts,
    warnings_of,
)
from profkit.render.views.measured_figures import Interval, bounds_column, distribution, pooled
from profkit.render.views.measured_header import measured_facts
from profkit.transforms.origin import standard_file

_LONGEST = 60
_SHARED = frozenset(
    ("statement", "setup", "global setup", "labels", "mode", "timed in", "counted in", "entered by", "env")
)
"""Facts about the runs of both sides that the header shows if they are equal."""


def measured_comparison(comparison: MeasuredComparison, options: ReportOptions = DEFAULTS) -> Document:
    """Yield the report of a comparison."""
    a, b = side_names(comparison)
    orders = comparison.orders
    yield Title(f"{a} → {b}", "" if len(orders) == 1 else count(len(orders), "statement"))
    if len(orders) > 1 or options.brief:
        yield Sentences([headline(comparison)])
    yield Facts(_header_facts(comparison, a, b))
    if len(orders) == 1:
        yield Section("B against A", "per execution")
        yield Facts([Fact(name, (Part(text, tone),)) for name, text, tone in sentences(orders[0])])
    if len(orders) > 1 or options.whole:
        yield from _times(orders, is_drawn=options.whole)
    if len(orders) > 1:
        yield from _counts(comparison)
        yield Facts(list(_obstacles(orders)), gap=True)
    yield from _distributions(comparison) if options.whole else ()
    yield from _deltas(comparison, options)
    warnings = list(_warnings(comparison))
    notes = [Fact("note", (Part(text),)) for text in remarks_of(comparison)]
    remarks = [Facts([*warnings, *notes], gap=True)]
    yield from folded_remarks(remarks, len(warnings), len(notes)) if options.whole else remarks


def _header_facts(comparison: MeasuredComparison, a: str, b: str) -> list[Fact]:
    orders = comparison.orders
    sides = [run for order in orders for run in order.a], [run for order in orders for run in order.b]
    fact = side_fact if len(orders) == 1 else _batch_fact
    facts = [fact(side, runs, name) for side, runs, name in zip("AB", sides, (a, b), strict=True)]
    design = design_text(comparison)
    facts += [Fact("timed", (Part(design),))] if design else []
    shared = measured_facts([*sides[0], *sides[1]])
    return facts + [one for one in shared if one.name in _SHARED]


def _batch_fact(side: str, runs: Sequence[MeasuredRun], name: str) -> Fact:
    batches = ", ".join(short(batch, 40) for batch in dict.fromkeys(run.info.batch for run in runs))
    parts = Part(name, Tone.STRONG), Part(count(len(runs), "run")), Part(f"measurement {batches}", Tone.FAINT)
    return Fact(side, parts)


def _times(orders: Sequence[OrderCompared], *, is_drawn: bool) -> Iterator[Block]:
    """Yield the table of times of several orders; nothing if none was timed."""
    timed = [(order, order.times) for order in orders if order.times is not None]
    if not timed:
        return
    sides = [[times_of(side) for side in (order.a, order.b)] for order, _ in timed]
    both = times_alike([row.median_s if row else None for side in zip(*sides, strict=True) for row in side])
    changes = [Cell(change(one.ratio), _strong(TONES_OF[one.verdict])) for _, one in timed]
    known = [(one.low, one.high) for _, one in timed]
    intervals = [
        "" if low is None or high is None else f"{change(low)} to {change(high)}" for low, high in known
    ]
    ratios = [
        Interval(one.ratio, one.low, one.high, _PLOTTED.get(one.verdict, Tone.FAINT)) for _, one in timed
    ]
    yield Section("Times", "per execution; B against A")
    yield Table(
        [
            Column("name", cells(short(order.name, _LONGEST) for order, _ in timed), Role.NAME),
            Column("A", cells(both[: len(timed)])),
            Column("B", cells(both[len(timed) :])),
            Column("change", changes),
            Column("interval", cells(intervals, Tone.FAINT)),
            *([bounds_column("faster | slower", ratios, 1.0)] if is_drawn else []),
            Column("verdict", cells(verdict_words(one) for _, one in timed), Role.WORDS),
        ]
    )


_PLOTTED = {Verdict.SLOWER: Tone.BAD, Verdict.FASTER: Tone.GOOD}


def _distributions(comparison: MeasuredComparison) -> Iterator[Block]:
    """Yield the times of both sides of each order, and its sentences if there are several."""
    for order in comparison.orders:
        if len(comparison.orders) > 1:
            yield Section(short(order.name, _LONGEST), order_words(order))
            yield Sentences([sentence for _, sentence, _ in sentences(order)], Tone.PLAIN)
        sides = zip(("A", "B"), side_names(comparison), (order.a, order.b), strict=True)
        yield from distribution([(f"{side}: {name}", pooled(runs)) for side, name, runs in sides])


def _strong(tone: Tone) -> Tone:
    return Tone.STRONG if tone is Tone.PLAIN else tone


def _counts(comparison: MeasuredComparison) -> Iterator[Block]:
    """Yield the table of counts of several orders; nothing if fewer than two were counted."""
    grid = grid_of(comparison)
    if len(grid.cells) < 2:
        return
    yield Section("Instructions", "per execution, without memory allocators: Δ → B (change)")
    figures = [
        Column(column, [_count(grid.cells.get((row, column))) for row in grid.rows])
        for column in grid.columns
    ]
    yield Table([Column("name", cells(grid.rows), Role.NAME), *figures])


def _count(order: OrderCompared | None) -> Cell:
    if order is None or order.counts is None:
        return Cell()
    return Cell(delta_cell(order.counts), TONES_OF[order.counts.verdict])


def _obstacles(orders: Sequence[OrderCompared]) -> Iterator[Fact]:
    for order in orders:
        if order.obstacle is not None:
            reason = Part(short(finding_text(order.obstacle)), Tone.WARN)
            yield Fact("not compared", (Part(short(order.name, _LONGEST), Tone.STRONG), reason))


def _deltas(comparison: MeasuredComparison, options: ReportOptions) -> Iterator[Block]:
    """Yield tables of the functions and calls that differ, the largest difference first."""
    deltas = shown_deltas(comparison, options)
    for order, counts, limit in deltas:
        owner = "" if len(comparison.orders) == 1 else f" of {short(order.name, _LONGEST)}"
        standardized = ", with standardized names" if counts.standardized else ""
        if counts.python:
            yield Section(f"Difference by Python function{owner}", PYTHON_WHAT)
            rows = counts.python[:limit]
            places = [(row.name, python_place(row)) for row in rows]
            yield _delta_table(rows, places, is_drawn=options.whole)
            yield from more_than(len(rows), len(counts.python), "function")
        kind = "native function" if counts.python else "function"
        yield Section(f"Difference by {kind}{owner}", f"self instructions per execution{standardized}")
        functions = counts.functions[:limit]
        places = [function_text(row.name) for row in functions]
        yield _delta_table(functions, places, is_drawn=options.whole)
        yield from more_than(len(functions), len(counts.functions), "function")
        yield Remark(f"Memory allocators, not included: {signed(counts.allocators.delta)}")
        yield from calls_blocks(counts.calls[:limit], len(counts.calls), owner)
    if not deltas and any(order.counts and order.counts.functions for order in comparison.orders):
        yield Remark(
            "Differences by function are hidden for several statements: compare one, or set a limit.",
            gap=True,
        )


def _delta_table(
    rows: Sequence[FunctionDelta | PythonFunctionDelta],
    functions: Sequence[tuple[str, str]],
    *,
    is_drawn: bool,
) -> Table:
    return Table(
        [
            *_figures(rows, is_drawn=is_drawn),
            Column("function", cells(name for name, _ in functions), Role.NAME),
            Column("where", cells((where for _, where in functions), Tone.FAINT), Role.PLACE),
        ]
    )


def _figures(
    rows: Sequence[FunctionDelta | PythonFunctionDelta | CallDelta], *, is_drawn: bool = False
) -> list[Column]:
    both = counts_alike([row.a for row in rows] + [row.b for row in rows])
    tones = [Tone.BAD if row.delta > 0 else Tone.STRONG for row in rows]
    deltas = signed_alike([row.delta for row in rows])
    most = max((abs(row.delta) for row in rows), default=0) or 1
    heats = [row.delta / most if is_drawn else None for row in rows]
    return [
        Column("Δ", list(map(Cell, deltas, tones, heats))),
        Column("A", cells(both[: len(rows)], Tone.FAINT)),
        Column("B", cells(both[len(rows) :], Tone.FAINT)),
    ]


def calls_blocks(rows: Sequence[CallDelta], found: int, owner: str = "") -> Iterator[Block]:
    """Yield a table of the calls in which the sides differ, callers first; nothing if there are none."""
    if rows:
        yield Section(f"Difference by call{owner}", WHAT)
        yield Table([*_figures(rows), Column("call", [_call(row) for row in rows], Role.CALL)])
        yield from more_than(len(rows), found, "call")


def _call(row: CallDelta) -> Call:
    through = f"(through {count(row.through, 'call')}) " if row.through else ""
    return Call(row.name, f"{through}{standard_file(row.file)}".strip(), row.depth, row.last)


def _warnings(comparison: MeasuredComparison) -> Iterator[Fact]:
    for found in warnings_of(comparison):
        heading, reason = warning_parts(found)
        tone = Tone.FAINT if found.is_allowed_for else Tone.WARN
        yield Fact(heading, (Part(found.about, Tone.STRONG), Part(reason, tone)))
