"""Markdown summary of profiled tests, for the page of a CI job."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from profkit.model.comparison import Check, Outcome
from profkit.model.profiled_tests import ComparedTests, ProfiledTests
from profkit.model.run import Run
from profkit.render.escape import code, plain, table
from profkit.render.formatting import count, percent, place
from profkit.render.markdown.measured import measured_markdown
from profkit.render.markdown.sampled import sampled_markdown
from profkit.render.options import DEFAULTS, PIPE, ReportOptions, Terminal
from profkit.render.views.costs import plus_minus
from profkit.render.views.findings import reasons_text
from profkit.render.views.gate import figures
from profkit.render.views.profiled_tests import (
    SampledTest,
    comparison_lines,
    headline,
    listed_checks,
    measured_tests,
    sampled_tests,
    sampler_line,
)
from profkit.units import format_duration

_REPORTS = 3
"""Number of the slowest tests whose whole reports follow the table."""
_HEAD = ("time:", "samples:", "self:", "total:", "test, and its hottest functions", "where")
_MARKS = {Outcome.OK: "✅", Outcome.REGRESSION: "❌", Outcome.FASTER: "⚠️", Outcome.INCONCLUSIVE: "❔"}


def profiled_tests_markdown(
    summary: ProfiledTests, options: ReportOptions = DEFAULTS, _terminal: Terminal = PIPE
) -> str:
    """Return the summary, followed by the reports of the slowest tests, which fold up."""
    return "\n\n".join(_parts(summary, options))


def _parts(summary: ProfiledTests, options: ReportOptions) -> Iterator[str]:
    yield f"# profkit: {headline(summary)}"
    if summary.comparison is not None:
        yield from _compared(summary.comparison)
    sampled = sampled_tests(summary)
    if sampled:
        yield "## Slowest tests"
        rows = [row for one in sampled for row in _rows(one)]
        yield table(
            ["time:", "samples:", "self:", "total:", "test, and its hottest functions", "where"], rows
        )
    if line := sampler_line(summary):
        yield plain(line, 400)
    if measured := [run for _, run in measured_tests(summary)]:
        yield _deeper(measured_markdown(measured, options))
        remarks = [(test.label, test.problem) for test, _ in measured_tests(summary) if test.problem]
        if remarks:
            yield "\n".join(f"- {code(label)}: {plain(remark, 400)}" for label, remark in remarks)
    if summary.problems:
        yield "\n".join(f"- {plain(problem, 400)}" for problem in summary.problems)
    yield from _reports(sampled, options)


def _rows(one: SampledTest) -> Iterator[list[str]]:
    name = code(one.test.label) + (f" {plain(one.remark)}" if one.remark else "")
    yield [format_duration(one.test.duration_s), count(one.samples), "", "", f"**{name}**", ""]
    for row in one.functions:
        own = percent(row.self_share, one.scale.total)
        uncertain = plus_minus(row.self_samples, one.scale)
        yield [
            "",
            count(row.self_samples),
            f"{own} {uncertain}".rstrip(),
            percent(row.total_share, one.scale.total),
            code(row.name),
            code(place(row.file, row.line, one.cwd)),
        ]


def _reports(sampled: Sequence[SampledTest], options: ReportOptions) -> Iterator[str]:
    """Yield the reports of the slowest tests with samples, each folded up."""
    for one in [one for one in sampled if one.samples][:_REPORTS]:
        assert isinstance(one.test.run, Run), "only runs have samples"
        head = f"<details><summary>{plain(one.test.label)}</summary>"
        yield f"{head}\n\n{_deeper(sampled_markdown([one.test.run], options))}\n\n</details>"


def _deeper(report: str) -> str:
    """Return a report as a section of this one; code blocks have no lines that begin with a `#`."""
    return "\n".join(f"#{line}" if line.startswith("#") else line for line in report.splitlines())


def _compared(compared: ComparedTests) -> Iterator[str]:
    yield f"## Compared with {code(compared.base)}"
    yield plain(" ".join(comparison_lines(compared)), 800)
    rows = [_check_row(check) for check in listed_checks(compared)]
    if rows:
        yield table(["test", "measure", "change:", "interval:", "outcome", "reason"], rows)


def _check_row(check: Check) -> list[str]:
    outcome = f"{_MARKS[check.outcome]} {check.outcome.value}"
    reasons = plain(reasons_text(check.reasons), 400)
    return [code(check.name), check.measure.value, *figures(check), outcome, reasons]
