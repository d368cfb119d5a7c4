"""`profkit gate`: fail a build if the newest run is slower than a baseline."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from profkit.cli.options import limit_option, percentage
from profkit.cli.output import STDOUT, save, terminal, write
from profkit.cli.report_output import Showing, showing_options
from profkit.cli.sides import Side, Sides
from profkit.cli.workspace import complete_run, current_folder
from profkit.comparing.measured import match_orders
from profkit.config import Config
from profkit.errors import NoBaseline, RunNotFound, UsageError
from profkit.model.comparison import Check, GateResult, Outcome
from profkit.model.measurement import AnyRun, MeasuredRun
from profkit.model.notes import Finding
from profkit.process.git import commit_of
from profkit.render.options import PIPE, ReportOptions
from profkit.render.registry import GATE, MEASURED
from profkit.render.views.header import mode_word

if TYPE_CHECKING:
    from profkit.render.views.gate import Comparison, GateReport


_ONLY_CURRENT = "there is nothing in it but the current run itself"


def _current(found: Sides, run: str | None, baseline: str) -> Side:
    """Return the runs to check; of a label that is its own baseline, the newest ones."""
    if run is None:
        return found.newest()
    return found.newest_of(run) if run == baseline and found.has(run) else found.side(run)


def baseline_of(found: Sides, text: str, current: Side) -> Side:
    """Return the baseline's runs of the same kind and labels as the current ones, without these themselves.

    Raises NoBaseline, whose message says how to make one.
    """
    own = {run.info.id for run in current.runs}
    batches = {run.info.batch for run in current.measured}
    try:
        side = found.side(text, own | batches)
    except RunNotFound:
        if found.has(text):
            raise _missing(text, _ONLY_CURRENT, current) from None
        side = _at_commit(found, text, current, own)
    others = [run for run in side.runs if run.info.id not in own]
    if not others:
        raise _missing(text, _ONLY_CURRENT, current)
    runs = tuple(run for run in others if _kind(run) == _kind(current.runs[0]))
    if not runs:
        raise _missing(text, "its runs are of another kind: sampled, measured or memory", current)
    if current.measured and not match_orders(Side(text, runs).measured, current.measured).pairs:
        raise _missing(text, "it has none of the statements of the current run", current)
    return Side(side.text, runs, side.left_out)


def _kind(run: AnyRun) -> str:
    """Return what a run can be compared with."""
    return MEASURED.name if isinstance(run, MeasuredRun) else mode_word(run.info)


def _at_commit(found: Sides, revision: str, current: Side, own: set[str]) -> Side:
    try:
        commit = commit_of(revision, current_folder())
    except UsageError as error:
        raise _missing(revision, f"it is no run and no file, and {error}", current) from None
    labels = dict.fromkeys(run.info.label for run in current.runs)
    runs: list[AnyRun] = [run for label in labels for run in found.at_commit(label, commit, own)]
    if not runs:
        of = ", ".join(map(repr, labels))
        raise _missing(revision, f"nothing of {of} was recorded at commit {commit[:10]}", current, revision)
    name = revision if commit.startswith(revision) else f"{revision} ({commit[:10]})"
    return Side(name, tuple(runs))


def _missing(text: str, detail: str, current: Side, revision: str = "REV") -> NoBaseline:
    how = "`profkit measure`" if current.measured else "the program"
    now = f", or measure both now: profkit compare --git {revision} HEAD -- STMT" if current.measured else ""
    return NoBaseline(
        text,
        detail,
        f"make one: run {how} at that commit, or keep runs in a file: "
        f"profkit export RUN -o baseline.profkit.json{now}",
    )


EXIT_CODES = {Outcome.OK: 0, Outcome.REGRESSION: 1, Outcome.FASTER: 1, Outcome.INCONCLUSIVE: 5}
"""Exit codes by outcome; without a baseline it is `NoBaseline`'s 4."""


@click.command("gate")
@click.argument("run", required=False, shell_complete=complete_run)
@click.option(
    "--baseline", required=True, metavar="REF|RUN|FILE", shell_complete=complete_run,
    help="Baseline: a commit, a run or a file.",
)  # fmt: skip
@click.option(
    "--max-slowdown", callback=percentage, default="3%", show_default=True, metavar="PERCENT",
    help="Maximum slowdown, or growth of the peak of memory.",
)  # fmt: skip
@click.option("--fail-if-faster", is_flag=True, help="Also fail if the run is faster by more than the limit.")
@showing_options(
    GATE.formats, "Also write the report to FILE, in the format of its ending; - is stdout instead."
)
@click.option(
    "--markdown", metavar="FILE", hidden=True, help="Also write the report to FILE, as Markdown; - is stdout."
)
@limit_option()
@click.pass_obj
def gate_command(
    config: Config,
    /,
    run: str | None,
    baseline: str,
    max_slowdown: float,
    fail_if_faster: bool,
    markdown: str | None,
    limit: int | None,
    **given: object,
) -> int:
    """Fail if a run is slower than a baseline, and explain why.

    RUN is a side as in `profkit compare`; without it, the newest run is checked, with its whole batch. The
    baseline is another such side, or a commit: all runs of the same label that were recorded there.

    Exit codes: 0 within the limit, 1 a regression, 4 no baseline, 5 inconclusive, 6 no run to check.
    """
    from profkit.cli.sides import open_sides

    showing, shown = Showing.of(given, GATE.formats), ReportOptions(limit=limit)
    with open_sides(config) as found:
        current = _current(found, run, baseline)
        before = baseline_of(found, baseline, current)
        held = _held if current.measured else _held_memory if _is_of_memory(current) else _held_samples
        report = held(before, current, max_slowdown, fail_if_faster)
        if markdown is not None and markdown != STDOUT:
            save(Path(markdown), f"{GATE.markdown(report, shown)}\n")
        format = "markdown" if markdown == STDOUT else showing.format
        if showing.target("gate") is not None:
            showing.show(GATE.renderer(format)(report, shown, PIPE), "gate")
            format = "text"
        write(GATE.renderer(format)(report, shown, terminal()))
    return report.exit_code


def _held(before: Side, current: Side, limit: float, gains: bool) -> GateReport:
    """Check measured runs against the limit."""
    from profkit.comparing.gate import check_measured
    from profkit.comparing.measured import compare_measured

    comparison = compare_measured(before.measured, current.measured, (before.text, current.text))
    comparison = replace(comparison, notes=_notes(before, current, comparison.notes))
    result = _result(before.text, limit, check_measured(comparison, limit), gains)
    return _report(result, comparison)


def _held_samples(before: Side, current: Side, limit: float, gains: bool) -> GateReport:
    """Check sampled runs against the limit, by the time of a call."""
    from profkit.comparing.gate import check_calls
    from profkit.comparing.sampled import compare_sampled

    check = check_calls(_only_label(current), _call_times(before), _call_times(current), limit)
    result = _result(before.text, limit, (check,), gains)
    try:
        comparison = compare_sampled(before.sampled, current.sampled)
    except UsageError as error:
        return _report(result, None, f"The samples are not comparable: {error.problem}.")
    return _report(result, replace(comparison, notes=_notes(before, current, comparison.notes)))


def _report(result: GateResult, comparison: Comparison | None, why_not: str = "") -> GateReport:
    from profkit.render.views.gate import GateReport

    return GateReport(result, EXIT_CODES[result.outcome], comparison, why_not)


def _notes(before: Side, current: Side, notes: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Return the notes of a comparison after those on runs of its labels that are left out."""
    from profkit.comparing.selection import left_out_findings

    return *left_out_findings((before.left_out, current.left_out)), *notes


def _is_of_memory(side: Side) -> bool:
    return any(run.info.memory is not None for run in side.sampled)


def _held_memory(before: Side, current: Side, limit: float, gains: bool) -> GateReport:
    """Check memory runs against the limit, by the peak of a call."""
    from profkit.comparing.gate import check_peaks
    from profkit.comparing.memory import compare_memory

    name = _only_label(current)
    comparison = compare_memory(before.sampled, current.sampled)
    comparison = replace(comparison, notes=_notes(before, current, comparison.notes))
    result = _result(before.text, limit, (check_peaks(name, comparison, limit),), gains)
    return _report(result, comparison)


def _only_label(current: Side) -> str:
    labels = dict.fromkeys(run.info.label for run in current.sampled)
    if len(labels) > 1:
        raise UsageError(f"{current.text!r} means runs of {', '.join(map(repr, labels))}", "name one label")
    return next(iter(labels))


def _call_times(side: Side) -> list[float]:
    """Return the mean time of a call of each run in which a call ended."""
    return [run.info.wall_s / run.info.outermost_calls for run in side.sampled if run.info.outermost_calls]


def _result(name: str, limit: float, checks: tuple[Check, ...], gains: bool) -> GateResult:
    from profkit.comparing.gate import fail_on_gains

    return GateResult(name, limit, fail_on_gains(checks, limit) if gains else checks)
