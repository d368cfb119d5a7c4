"""`profkit compare`: compare two sets of runs, or measure and compare two statements or commits."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from profkit.cli.measure_options import asked_for, measuring_options
from profkit.cli.memory import for_large_profiles
from profkit.cli.options import limit_option, rare_option, value_option
from profkit.cli.output import write_message
from profkit.cli.report_output import Showing, showing_options, source_root_option
from profkit.cli.workspace import complete_run
from profkit.config import Config
from profkit.errors import MeasuringError, UsageError
from profkit.model.comparison import MeasuredComparison
from profkit.model.profile import Value
from profkit.render.escape import visible
from profkit.render.options import ReportOptions, Terminal
from profkit.render.registry import MEASURED_COMPARISON, MEMORY_COMPARISON, SAMPLED_COMPARISON
from profkit.units import short_id

if TYPE_CHECKING:
    from profkit.render.views.gate import Comparison


@click.command("compare")
@click.argument("sides", nargs=-1, metavar="[A B | -- STMT]", shell_complete=complete_run)
@click.option(
    "--ab", nargs=2, metavar="STMT STMT", help="Measure two statements interleaved, and compare them."
)
@click.option(
    "--git", nargs=2, metavar="REV REV", help="Measure STMT at two commits, alternating, and compare them."
)
@rare_option("--job", "is_job", is_flag=True, help="A and B are names of jobs: compare all their ranks.")
@showing_options(SAMPLED_COMPARISON.formats)
@source_root_option()
@value_option("Value of memory runs by which functions are compared.  [default: peak]")
@limit_option()
@measuring_options(without=("label", "simulate"))
@rare_option("--no-keep", is_flag=True, help="Do not keep the runs.")
@click.pass_obj
def compare_command(
    config: Config,
    /,
    sides: tuple[str, ...],
    ab: tuple[str, str] | None,
    git: tuple[str, str] | None,
    limit: int | None,
    source_root: Path | None,
    value: Value | None,
    is_job: bool,
    **given: object,
) -> int:
    """Compare two sets of runs and report significant differences.

    A and B are each the prefix of a run's id, a label (its newest run and all runs like it), a batch (all of
    its runs), LABEL@REVISION (all of its runs at that commit), a file that `profkit import` reads, or several
    of these separated by commas.

    With --ab, or --git and a statement, both sides are measured first, which is the most reliable way. The
    options from --setup on apply to this. --git measures each commit in a work tree of its own; your checkout
    does not change.
    """
    showing = Showing.of(given, SAMPLED_COMPARISON.formats)
    shown = ReportOptions(limit=limit, source_root=source_root, value=value)
    if source_root is not None and (showing.format != "html" or ab is not None or git is not None):
        raise UsageError(
            "only the page of two sampled runs shows source", "leave out --source-root, or add --html"
        )
    if ab is not None or git is not None:
        if is_job:
            raise UsageError("--ab and --git measure, and --job compares samples", "leave out --job")
        if value is not None:
            raise UsageError("--ab and --git measure no memory", "leave out --value")
        return _measured(config, sides, ab, git, given, showing, shown)
    if asked_for(given) or given["threads"] is not None or given["no_keep"]:
        raise UsageError(
            "nothing is measured here", "leave out what is about measuring, or give --ab or --git"
        )
    if len(sides) != 2:
        raise UsageError(f"a comparison has two sides, not {len(sides)}", "give two runs, or --ab, or --git")
    _workspace(config, (sides[0], sides[1]), showing, shown, are_jobs=is_job)
    return 0


@for_large_profiles()
def _workspace(
    config: Config, texts: tuple[str, str], showing: Showing, shown: ReportOptions, *, are_jobs: bool
) -> None:
    compared, name = _compared(config, texts, shown, are_jobs=are_jobs)
    showing.show(_rendered(compared, showing.format, shown, showing.terminal()), name)


def _compared(
    config: Config, texts: tuple[str, str], shown: ReportOptions, *, are_jobs: bool
) -> tuple[Comparison, str]:
    """Return the comparison and its name in files; the runs are not kept, as they take much memory."""
    from profkit.cli.sides import compare_sides, open_sides

    with open_sides(config) as found:
        a, b = (found.job(text) if are_jobs else found.side(text) for text in texts)
        if bool(a.sampled) != bool(b.sampled):
            sampled, measured = (a, b) if a.sampled else (b, a)
            raise UsageError(
                f"{sampled.text!r} was sampled and {measured.text!r} was measured",
                "compare runs of the same kind",
            )
        name = f"comparison-{short_id(a.runs[0].info.id)}-{short_id(b.runs[0].info.id)}"
        return compare_sides(a, b, shown.value), name


def _rendered(compared: Comparison, format: str, options: ReportOptions, terminal: Terminal) -> str:
    from profkit.model.memory_comparison import MemoryComparison

    if isinstance(compared, MeasuredComparison):
        return MEASURED_COMPARISON.renderer(format)(compared, options, terminal)
    if isinstance(compared, MemoryComparison):
        return MEMORY_COMPARISON.renderer(format)(compared, options, terminal)
    return SAMPLED_COMPARISON.renderer(format)(compared, options, terminal)


def _measured(
    config: Config,
    sides: Sequence[str],
    ab: tuple[str, str] | None,
    git: tuple[str, str] | None,
    given: dict[str, object],
    showing: Showing,
    shown: ReportOptions,
) -> int:
    from profkit.cli.measured_sides import Measuring, compare_commits, compare_statements, refuse_language

    threads = cast("tuple[int, ...] | None", given["threads"]) or (1,)
    how = Measuring(asked_for(given), threads, not given["no_keep"], config.spool)
    if ab is not None and git is not None:
        raise UsageError("--ab and --git compare different things", "give one of them")
    if ab is not None:
        if sides:
            raise UsageError(f"--ab has its statements, and {sides[0]!r} is one more", "leave it out")
        comparison = compare_statements(*ab, how)
    else:
        if len(sides) != 1 or git is None:
            raise UsageError(
                "--git measures one statement", "give it last, after all options: --git A B -- STMT"
            )
        refuse_language(how.options)
        comparison = compare_commits(git, sides[0], how)
    first = comparison.orders[0]
    name = f"comparison-{short_id(first.a[0].info.id)}-{short_id(first.b[0].info.id)}"
    text = MEASURED_COMPARISON.renderer(showing.format)(comparison, shown, showing.terminal())
    showing.show(text, name)
    if showing.target(name) is not None:
        _say_result(comparison, showing.output)
    runs = [run for order in comparison.orders for run in (*order.a, *order.b)]
    return MeasuringError.exit_code if any(run.info.error for run in runs) else 0


def _say_result(comparison: MeasuredComparison, output: str | None) -> None:
    """Write what a report in a file says, and that it was written if the user named the file."""
    from profkit.render.views.measured_comparison import headline

    wrote = f"\nwrote {visible(output)}" if output is not None else ""
    write_message([visible(headline(comparison)), wrote])
