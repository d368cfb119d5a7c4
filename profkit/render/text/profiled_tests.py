"""Text summary of profiled tests, for the end of a test run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from profkit.model.comparison import Outcome
from profkit.model.profiled_tests import ComparedTests, ProfiledTests
from profkit.render.cells import middle_cut
from profkit.render.escape import short, visible
from profkit.render.formatting import Tone, count, place
from profkit.render.options import DEFAULTS, PIPE, ReportOptions, Terminal
from profkit.render.text.layout import (
    FAINT,
    TITLE,
    TONES,
    Column,
    compose,
    heat,
    remark,
    room_left,
    section,
    table,
)
from profkit.render.text.summary import measured_summary_lines
from profkit.render.text.tables import own_share, share_text
from profkit.render.views.findings import reasons_text
from profkit.render.views.gate import figures
from profkit.render.views.profiled_tests import (
    SampledTest,
    comparison_lines,
    listed_checks,
    measured_tests,
    more,
    sampled_tests,
    sampled_title,
    sampler_line,
)
from profkit.units import format_duration

_MIN_NAME = 24


def profiled_tests_text(
    summary: ProfiledTests, _options: ReportOptions = DEFAULTS, terminal: Terminal = PIPE
) -> str:
    """Return the summary: the slowest sampled tests, the measured ones, and their comparison."""
    return compose(_blocks(summary, terminal), terminal)


def _blocks(summary: ProfiledTests, terminal: Terminal) -> Iterator[RenderableType]:
    sampled = sampled_tests(summary)
    if summary.sampled:
        yield Text(sampled_title(summary), style=TITLE)
    if sampled:
        yield table(_columns(sampled, terminal))
    if line := sampler_line(summary):
        yield remark(visible(line))
    if measured := measured_tests(summary):
        yield Text(("\n" if summary.sampled else "") + count(summary.measured, "measured test"), style=TITLE)
        for test, run in measured:
            for line in measured_summary_lines(run):
                yield Text(line)
            if test.problem:
                yield remark(f"  {visible(test.problem)}")
    if line := more(summary):
        yield remark(visible(line))
    if summary.comparison is not None:
        yield from _compared(summary.comparison)
    for problem in summary.problems:
        yield Text(visible(problem), style=TONES[Tone.WARN])


def _columns(sampled: Sequence[SampledTest], terminal: Terminal) -> list[Column]:
    """Return the columns: a row for each test, and one for each of its functions."""
    times, samples, own, total = [], [], [], []
    names: list[Text] = []
    for one in sampled:
        times.append(Text(format_duration(one.test.duration_s), style=TITLE))
        samples.append(Text(count(one.samples)))
        own.append(Text())
        total.append(Text())
        names.append(_test_name(one))
        for row in one.functions:
            times.append(Text())
            samples.append(Text(count(row.self_samples), style=FAINT))
            own.append(own_share(row.self_samples, one.scale))
            total.append(share_text(row.total_share, one.scale))
            name = Text("  ").append(short(row.name), style=heat(row.self_share, ""))
            names.append(name.append(f"  {visible(place(row.file, row.line, one.cwd))}"))
    columns = [
        Column("time", times), Column("samples", samples), Column("self    ", own), Column("total", total),
    ]  # fmt: skip
    room = room_left(columns, terminal)
    if room is not None:
        names = [_cut(name, max(_MIN_NAME, room)) for name in names]
    return [*columns, Column("test, and its hottest functions", names, "left")]


def _test_name(one: SampledTest) -> Text:
    name = Text(short(one.test.label))
    return name.append(f"  {visible(one.remark)}", style=FAINT) if one.remark else name


def _cut(name: Text, width: int) -> Text:
    return name if name.cell_len <= width else Text(middle_cut(name.plain, width))


def _compared(compared: ComparedTests) -> Iterator[RenderableType]:
    yield section(f"Compared with {visible(compared.base)}")
    for number, line in enumerate(comparison_lines(compared)):
        style = TONES[Tone.BAD] if compared.failed and not number else ""
        yield Text(visible(line), style=style)
    if not (checks := listed_checks(compared)):
        return
    outcomes = [
        Text(check.outcome.value, style=TONES[Tone.BAD if check.outcome is Outcome.REGRESSION else Tone.WARN])
        for check in checks
    ]
    yield table(
        [
            Column("outcome", outcomes, "left"),
            Column("change", [Text(figures(check)[0]) for check in checks]),
            Column("interval", [Text(figures(check)[1]) for check in checks]),
            Column("measure", [Text(check.measure.value) for check in checks], "left"),
            Column("test", [Text(short(check.name)) for check in checks], "left"),
        ]
    )
    for check in checks:
        yield remark(f"{short(check.name)}, {check.measure.value}: {visible(reasons_text(check.reasons))}")
