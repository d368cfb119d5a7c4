"""Report of a comparison of sampled runs: sentences, changed functions, changed calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from profkit.model.comparison import Change, Compared, FunctionComparison, Grade, SampledComparison
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
    cells,
    folded_remarks,
)
from profkit.render.formatting import Part, Tone, count, place
from profkit.render.options import DEFAULTS, ReportOptions
from profkit.render.views.findings import finding_text
from profkit.render.views.sampled_comparison import (
    DiffRow,
    bounded_points,
    bounded_share,
    diff_rows,
    points,
    rule_sentence,
    runs_of,
    share,
    shares_sentence,
    summary,
    times,
    warnings_of,
)
from profkit.transforms.tables import function_lines

_MAX_UNCHANGED = 5
"""Functions within noise that are shown after those that changed, the most different first."""
_MAX_CALLS = 20
_FOR_INTERVALS, _FOR_TIMES, _FOR_TOTALS, _FOR_BOUNDS = 60, 84, 110, 140
"""Minimum terminal widths for intervals of differences, times, totals, and intervals of all shares."""
TONES = {Change.MORE: Tone.BAD, Change.LESS: Tone.GOOD, Change.NOISE: Tone.FAINT}
MARKS = {Change.MORE: "▲", Change.LESS: "▼", Change.NOISE: ""}


def sampled_comparison(comparison: SampledComparison, options: ReportOptions = DEFAULTS) -> Document:
    """Yield the report of a comparison."""
    yield from sides_head(summary(comparison), runs_of(comparison))
    if not options.whole:  # A page has its own table of functions, and its graph has the calls.
        yield from _functions(comparison, options)
        yield from _tree(comparison, options)
    elif sentence := shares_sentence(comparison):
        yield Remark(sentence)
    yield Remark(rule_sentence(comparison), gap=True)
    if comparison.grade is Grade.UNCONFIRMED:
        yield Remark(
            "Unconfirmed: the noise between runs is assumed; record three runs per side to measure it."
        )
    warnings = [Remark(f"warning on {sides}: {text}", Tone.WARN) for sides, text in warnings_of(comparison)]
    notes = [Remark(f"note: {finding_text(note)}", Tone.WARN) for note in comparison.notes]
    remarks = [*warnings, *notes]
    yield from folded_remarks(remarks, len(warnings), len(notes)) if options.whole else remarks


def sides_head(sentences: Sequence[str], runs: Iterable[str]) -> Iterator[Block]:
    """Yield the beginning of a comparison: its summary, and the runs of A and B."""
    yield Sentences(sentences)
    yield Facts(
        [Fact(name, (Part(text, Tone.FAINT),)) for name, text in zip("AB", runs, strict=True)], gap=True
    )


def _functions(comparison: SampledComparison, options: ReportOptions) -> Iterator[Block]:
    limit, changed = options.rows(15, 10), len(comparison.changed)
    rows = comparison.functions[: min(limit, changed + _MAX_UNCHANGED) if not options.show_all else None]
    compared = [row.reported for row in rows]
    tones = [TONES[one.difference.change] for one in compared]
    names = [
        Cell(row.name, tone, more="" if one is row.own else "(total)")
        for row, one, tone in zip(rows, compared, tones, strict=True)
    ]
    lines = function_lines(comparison.both, [(row.name, row.file) for row in rows])
    where = (place(row.file, lines[row.name, row.file], comparison.cwd) for row in rows)
    plain_times = cells((times(row.own_s) for row in rows), Tone.FAINT)
    bounded_times = cells((times(row.own_s, bounded=True) for row in rows), Tone.FAINT)
    own_times = [
        Column("self time per call", plain_times, width=_FOR_TIMES, below=_FOR_BOUNDS),
        Column("self time per call", bounded_times, width=_FOR_BOUNDS, brief=False),
    ]
    yield Section("Functions", "self shares in A and B; differences within noise have no mark")
    yield Table(
        [
            Column(
                "",
                [Cell(MARKS[one.difference.change], tone) for one, tone in zip(compared, tones, strict=True)],
            ),
            *_shares(compared),
            *_points("points", compared),
            Column(
                "total points", _differences([row.total for row in rows], bounded=True), width=_FOR_TOTALS
            ),
            *(own_times if any(row.own_s for row in rows) else []),
            Column("function", names, Role.NAME),
            Column("where", cells(where, Tone.FAINT), Role.PLACE),
        ]
    )
    yield from _omitted(comparison.functions[len(rows) :])
    if sentence := shares_sentence(comparison):
        yield Remark(sentence)


def _shares(compared: Sequence[Compared]) -> Iterator[Column]:
    """Yield the columns of A's and B's shares, with their intervals if there is room."""
    tones = [Tone.FAINT if one.difference.change is Change.NOISE else Tone.PLAIN for one in compared]
    for head in "AB":
        sides = [one.a if head == "A" else one.b for one in compared]
        pairs = list(zip(sides, tones, strict=True))
        yield Column(head, [Cell(share(side), tone) for side, tone in pairs], below=_FOR_BOUNDS)
        bounded = [Cell(bounded_share(side), tone) for side, tone in pairs]
        yield Column(head, bounded, width=_FOR_BOUNDS, brief=False)


def _points(head: str, compared: Sequence[Compared]) -> Iterator[Column]:
    yield Column(head, _differences(compared, bounded=False), below=_FOR_INTERVALS, brief=False)
    yield Column(head, _differences(compared, bounded=True), width=_FOR_INTERVALS)


def _differences(compared: Sequence[Compared], *, bounded: bool) -> list[Cell]:
    differences = [one.difference for one in compared]
    return [
        Cell(bounded_points(one) if bounded else points(one.value), TONES[one.change]) for one in differences
    ]


def _omitted(rows: Sequence[FunctionComparison]) -> Iterator[Remark]:
    """Yield a line for omitted functions that changed, and one for those inside the noise."""
    if changed := sum(row.changed for row in rows):
        yield Remark(f"… and {count(changed, 'more changed function')}")
    noise = [abs(row.own.difference.value) for row in rows if not row.changed]
    if noise:
        yield Remark(
            f"… and {count(len(noise), 'more function')} within noise, "
            f"with differences of up to {100 * max(noise):.1f} points"
        )


def _tree(comparison: SampledComparison, options: ReportOptions) -> Iterator[Block]:
    rows = diff_rows(comparison, show_all=options.show_all, most=None if options.show_all else _MAX_CALLS)
    if not rows:
        return
    tones = [TONES[_change(row)] for row in rows]
    differences = [Cell(points(row.difference), tone) for row, tone in zip(rows, tones, strict=True)]
    yield Section(
        "Changed calls", "shares including callees" + ("" if options.show_all else "; library calls folded")
    )
    yield Table(
        [
            Column("A", cells((f"{100 * row.a:.1f} %" for row in rows), Tone.FAINT)),
            Column("B", cells((f"{100 * row.b:.1f} %" for row in rows), Tone.FAINT)),
            Column("points", differences),
            Column("call", [_call(row, comparison) for row in rows], Role.CALL),
        ]
    )


def _change(row: DiffRow) -> Change:
    if not row.changed:
        return Change.NOISE
    return Change.MORE if row.difference > 0 else Change.LESS


def _call(row: DiffRow, comparison: SampledComparison) -> Call:
    where = place(row.file, row.line, comparison.cwd)
    where += f" (through {count(row.through, 'call')})" if row.through else ""
    change = _change(row)
    return Call(row.name, where, row.depth, row.last, TONES[change], mark=MARKS[change])
