"""`profkit gate`: fail a build if the newest run is slower; which runs are the baseline, and exit codes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from profkit.cli.options import limit_option, percentage, rare_option
from profkit.cli.output import STDOUT, save, terminal, write
from profkit.cli.report_output import Showing, showing_options
from profkit.cli.sides import Side, Sides, call_times, compare_sides, open_sides
from profkit.cli.workspace import complete_run, current_folder
from profkit.comparing.measured import match_orders
from profkit.config import Config
from profkit.errors import NoBaseline, RunNotFound, UsageError
from profkit.model.comparison import GateResult, MeasuredComparison, Outcome
from profkit.model.measurement import AnyRun, MeasuredRun
from profkit.process.git import commit_of
from profkit.render.options import PIPE, ReportOptions
from profkit.render.registry import GATE, MEASURED
from profkit.render.views.header import mode_word

if TYPE_CHECKING:
    from profkit.render.views.gate import GateReport


_ONLY_CURRENT = "there is nothing in it but the current run itself"


def _current(found: Sides, run: str | None, baseline: str) -> Side:
    """Return the runs to check; of a label that is its own baseline, the newest ones."""
    if run is None:
        return found.newest()
    return found.newest_of(run) if run == baseline and found.has(run) else found.side(run)


def baseline_of(found: Sides, text: str, current: Side, *, is_job: bool = False) -> Side:
    """Return the baseline's runs of the same kind and labels as the current ones, without these themselves.

    Raises NoBaseline, whose message says how to make one.
    """
    own = {run.info.id for run in current.runs}
    batches = {run.info.batch for run in current.measured}
    try:
        side = found.job(text) if is_job else found.side(text, own | batches)
    except RunNotFound:
        if not is_job and found.has(text):
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
@rare_option(
    "--job", "is_job", is_flag=True, help="RUN and the baseline are names of jobs: check all their ranks."
)
@rare_option("--fail-if-faster", is_flag=True, help="Also fail if the run is faster by more than the limit.")
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
    is_job: bool,
    limit: int | None,
    **given: object,
) -> int:
    """Fail if a run is slower than a baseline, and explain why.

    RUN is a side as in `profkit compare`; without it, the newest run is checked, with its whole batch. The
    baseline is another such side, or a commit: all runs of the same label that were recorded there.

    Exit codes: 0 within the limit, 1 a regression, 4 no baseline, 5 inconclusive, 6 no run to check.
    """
    showing, shown = Showing.of(given, GATE.formats), ReportOptions(limit=limit)
    with open_sides(config) as found:
        current = found.job(run) if is_job else _current(found, run, baseline)
        before = baseline_of(found, baseline, current, is_job=is_job)
        report = _held(before, current, max_slowdown, fail_if_faster)
        if markdown is not None and markdown != STDOUT:
            save(Path(markdown), f"{GATE.markdown(report, shown)}\n")
        format = "markdown" if markdown == STDOUT else showing.format
        if showing.target("gate") is not None:
            showing.show(GATE.renderer(format)(report, shown, PIPE), "gate")
            format = "text"
        write(GATE.renderer(format)(report, shown, terminal()))
    return report.exit_code


def _held(before: Side, current: Side, limit: float, gains: bool) -> GateReport:
    """Check measured runs against the limit, memory by the peak of a call, samples by a call's time."""
    from profkit.comparing.gate import check_calls, check_measured, check_peaks, fail_on_gains
    from profkit.model.memory_comparison import MemoryComparison
    from profkit.render.views.gate import GateReport

    name = "" if current.measured else _only_label(current)
    comparison, why_not = None, ""
    try:
        comparison = compare_sides(before, current)
    except UsageError as error:
        if current.measured or current.is_of_memory:
            raise
        why_not = f"The samples are not comparable: {error.problem}."
    if isinstance(comparison, MeasuredComparison):
        checks = check_measured(comparison, limit)
    elif isinstance(comparison, MemoryComparison):
        checks = (check_peaks(name, comparison, limit),)
    else:
        checks = (check_calls(name, call_times(before.runs), call_times(current.runs), limit),)
    result = GateResult(before.text, limit, fail_on_gains(checks, limit) if gains else checks)
    return GateReport(result, EXIT_CODES[result.outcome], comparison, why_not)


def _only_label(current: Side) -> str:
    labels = dict.fromkeys(run.info.label for run in current.sampled)
    if len(labels) > 1:
        raise UsageError(f"{current.text!r} means runs of {', '.join(map(repr, labels))}", "name one label")
    return next(iter(labels))
