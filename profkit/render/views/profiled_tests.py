"""Summary of profiled tests, for the end of a test run and the page of a CI job; which are listed."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from profkit.model.comparison import Check, Outcome
from profkit.model.measurement import MeasuredRun
from profkit.model.profile import Profile
from profkit.model.profiled_tests import ComparedTests, ProfiledTest, ProfiledTests
from profkit.model.region import CALLS_ONLY
from profkit.model.run import Run, RunInfo
from profkit.render.document import (
    Block,
    Cell,
    Column,
    Document,
    Nested,
    Remark,
    Role,
    Section,
    Sentences,
    Table,
    Title,
)
from profkit.render.escape import short
from profkit.render.formatting import Tone, count, place, rate
from profkit.render.options import DEFAULTS, ReportOptions
from profkit.render.views.costs import Scale, scale_of
from profkit.render.views.findings import reasons_text
from profkit.render.views.gate import checks_table
from profkit.render.views.header import run_notes, why_no_samples
from profkit.render.views.measured_report import measured
from profkit.render.views.notes import note_text
from profkit.render.views.run_report import own_share, sampled, share_cell
from profkit.render.views.sampled import build_report
from profkit.render.views.summary_lines import measured_summary_lines
from profkit.render.views.tables import HotRow, build_tables
from profkit.units import format_duration

_LISTED = 10
"""Maximum number of inconclusive tests that are listed."""


_REPORTS = 3
"""Number of the slowest tests whose whole reports follow, folded up."""


def profiled_tests(found: ProfiledTests, options: ReportOptions = DEFAULTS) -> Document:
    """Yield the slowest sampled tests, the measured ones, their comparison, and reports that fold up."""
    tests = sampled_tests(found)
    if options.brief:
        yield Title(headline(found), kind="profkit:", is_name=False)
    if found.sampled:
        yield Sentences([sampled_title(found)])
    if tests:
        yield _sampled_table(tests)
    if line := sampler_line(found):
        yield Remark(line)
    yield from _measured(found, options)
    if line := more(found):
        yield Remark(line)
    if found.comparison is not None:
        yield from _compared(found.comparison)
    for problem in found.problems:
        yield Remark(problem, Tone.WARN)
    for one in [one for one in tests if one.samples][:_REPORTS]:
        assert isinstance(one.test.run, Run), "only runs have samples"
        yield Nested(sampled([one.test.run], options), folded=one.test.label)


def _sampled_table(tests: Sequence[SampledTest]) -> Table:
    """Return a table with a row for each test, and one for each of its functions."""
    rows = [row for one in tests for row in _rows(one)]
    heads = ("time", "samples", "self", "total")
    figures = [Column(head, column) for head, column in zip(heads, zip(*rows, strict=True), strict=False)]
    return Table([*figures, Column("test, and its hottest functions", [row[4] for row in rows], Role.NAME)])


def _rows(one: SampledTest) -> Iterator[tuple[Cell, Cell, Cell, Cell, Cell]]:
    duration = Cell(format_duration(one.test.duration_s), Tone.STRONG)
    yield (
        duration,
        Cell(count(one.samples)),
        Cell(),
        Cell(),
        Cell(one.test.label, Tone.STRONG, more=one.remark),
    )
    for row in one.functions:
        name = Cell(f"  {row.name}", heat=row.self_share, more=place(row.file, row.line, one.cwd))
        samples = Cell(count(row.self_samples), Tone.FAINT)
        own, total = own_share(row.self_samples, one.scale), share_cell(row.total_share, one.scale)
        yield Cell(), samples, own, total, name


def _measured(found: ProfiledTests, options: ReportOptions) -> Iterator[Block]:
    tests = measured_tests(found)
    if not tests:
        return
    if options.brief:
        yield Nested(measured([run for _, run in tests], options))
        for test in (test for test, _ in tests if test.problem):
            yield Remark(f"{test.label}: {test.problem}")
        return
    yield Remark(count(found.measured, "measured test"), Tone.STRONG, gap=bool(found.sampled))
    for test, run in tests:
        for line in measured_summary_lines(run):
            yield Remark(line, Tone.PLAIN)
        if test.problem:
            yield Remark(f"  {test.problem}")


def _compared(compared: ComparedTests) -> Iterator[Block]:
    yield Section(f"Compared with {compared.base}")
    yield Sentences(list(comparison_lines(compared)), Tone.BAD if compared.failed else Tone.PLAIN)
    if checks := listed_checks(compared):
        yield checks_table(checks)
        for check in checks:
            yield Remark(f"{short(check.name)}, {check.measure.value}: {reasons_text(check.reasons)}")


@dataclass(frozen=True, slots=True)
class SampledTest:
    """A sampled test with its hottest functions."""

    test: ProfiledTest
    samples: int
    scale: Scale
    functions: tuple[HotRow, ...]
    cwd: str
    remark: str
    """Reason why there are no samples; empty if there are some."""


def sampled_tests(summary: ProfiledTests) -> tuple[SampledTest, ...]:
    """Return the sampled tests to show, the slowest first."""
    shown = (test for test in summary.tests if not isinstance(test.run, MeasuredRun))
    return tuple(_sampled(test, summary.functions) for test in shown)


def measured_tests(summary: ProfiledTests) -> tuple[tuple[ProfiledTest, MeasuredRun], ...]:
    """Return the measured tests to show, with their runs."""
    return tuple((test, test.run) for test in summary.tests if isinstance(test.run, MeasuredRun))


def _sampled(test: ProfiledTest, functions: int) -> SampledTest:
    run = test.run
    if not isinstance(run, Run):
        return SampledTest(test, 0, scale_of(Profile()), (), "", test.problem or "it was not profiled")
    report = build_report(run, ReportOptions(limit=functions))
    rows = build_tables(report).functions if report.scale.total else ()
    remark = "" if report.scale.total else _without_samples(run)
    return SampledTest(test, report.scale.total, report.scale, rows, run.info.process.cwd, remark)


def _without_samples(run: Run) -> str:
    info = run.info
    if info.torn or info.links:
        return why_no_samples(run)
    if info.plan.sampler == CALLS_ONLY or info.error is not None:  # said once for all tests
        return ""
    return f"too short for a sample at {rate(info.plan.rate_hz)}"


def sampled_title(summary: ProfiledTests) -> str:
    """Return which sampled tests are shown."""
    shown = sum(not isinstance(test.run, MeasuredRun) for test in summary.tests)
    if shown == summary.sampled:
        return count(summary.sampled, "sampled test")
    return f"{shown} slowest of {count(summary.sampled, 'sampled test')}"


def headline(summary: ProfiledTests) -> str:
    """Return which tests are shown."""
    measured = [count(summary.measured, "measured test")] if summary.measured or not summary.sampled else []
    return ", ".join([*([sampled_title(summary)] if summary.sampled else []), *measured])


def sampler_line(summary: ProfiledTests) -> str:
    """Return how the tests were sampled, or the reason why there are no samples; empty if none was."""
    run = next((test.run for test in summary.tests if isinstance(test.run, Run)), None)
    if run is None:
        return ""
    plan = run.info.plan
    if plan.sampler == CALLS_ONLY:
        reasons = " ".join(map(note_text, run_notes(run)))
        return f"No samples, only times: {reasons}" if reasons else "No samples, only times."
    return f"Sampled by {plan.sampler}{_version(run.info)} at {rate(plan.rate_hz)}."


def _version(info: RunInfo) -> str:
    return f" {info.sampler_version}" if info.sampler_version else ""


def more(summary: ProfiledTests) -> str:
    """Return how to see more; empty if nothing is kept."""
    kept = [test for test in summary.tests if test.run is not None]
    if not kept:
        return ""
    shown = f"`profkit report {shlex.quote(kept[0].label)}` shows all of a test"
    whole = summary.whole
    if whole is None:
        return f"{shown}."
    of = "all of a worker's time, with" if summary.workers else "the whole run with"
    return f"{shown}, `profkit report {whole.label}` {of} fixtures and imports."


def comparison_lines(compared: ComparedTests) -> Iterator[str]:
    """Yield the outcome in words."""
    total = compared.compared + compared.without
    if not total:
        yield "No test was profiled that could be compared: give --profkit, or mark tests."
        return
    if not compared.compared:
        reason = compared.problem or "it has no runs of these tests, of the same kind"
        yield f"No test has a baseline {compared.base!r}: {reason}. Nothing was compared."
        return
    if compared.failed:
        failed = len(compared.failed)
        verb = "is slower than its limit" if failed == 1 else "are slower than their limits"
        yield f"{failed} of {count(total, 'test')} {verb}."
    else:
        yield f"No regression in {count(compared.compared, 'test')}."
    if compared.inconclusive:
        yield f"{count(len(compared.inconclusive), 'test')}: inconclusive."
    if compared.without:
        yield f"{count(compared.without, 'test')} without a baseline."


def listed_checks(compared: ComparedTests) -> tuple[Check, ...]:
    """Return the checks of tests that failed, and of the first inconclusive ones."""
    named = {*compared.failed, *compared.inconclusive[:_LISTED]}
    checks = [check for check in compared.checks if check.name in named]
    return tuple(sorted(checks, key=lambda check: check.outcome is not Outcome.REGRESSION))
