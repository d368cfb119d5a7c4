"""`profkit compare`: compare two sets of runs, or measure and compare two statements or commits."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from profkit.cli.measure_options import asked_for, measuring_options
from profkit.cli.memory import for_large_profiles
from profkit.cli.options import limit_option, rare_option, value_option
from profkit.cli.output import write_message
from profkit.cli.report_output import Showing, showing_options, source_root_option
from profkit.cli.workspace import complete_run, current_folder
from profkit.comparing.measured import compare_measured
from profkit.config import Config
from profkit.errors import MeasuringError, UsageError
from profkit.measuring.api import keeper, measure_all, measure_packed
from profkit.measuring.orders import label_of, work_order
from profkit.measuring.runner.jobs import Task
from profkit.measuring.runner.progress import ProgressLine
from profkit.model.comparison import MeasuredComparison
from profkit.model.measurement import Design
from profkit.model.notes import Finding, FindingCode
from profkit.model.profile import Value
from profkit.model.workorder import WorkOrder, WorkTree
from profkit.process.git import checkout_of, commit_of, has_submodules, work_trees
from profkit.process.signals import interrupted_by_termination
from profkit.render.escape import visible
from profkit.render.options import ReportOptions, Terminal
from profkit.render.registry import MEASURED_COMPARISON, MEMORY_COMPARISON, SAMPLED_COMPARISON
from profkit.units import short_id

if TYPE_CHECKING:
    from profkit.measuring.orders import MeasureOptions
    from profkit.render.views.gate import Comparison

_FUNCTION = re.compile(r"(?P<module>[A-Za-z_]\w*(\.\w+)*):(?P<path>[A-Za-z_]\w*(\.\w+)*)")
_QUICK_PROCESSES = 6
"""Minimum number of processes for a verdict."""
_ALTERNATING_S = 1.0
"""Minimum measuring time: minima of alternating processes are only comparable with many blocks."""


@dataclass(frozen=True, slots=True)
class Measuring:
    """Options for the measurement of both sides."""

    options: MeasureOptions
    threads: Sequence[int]
    keep: bool
    spool: Path


def compare_statements(a: str, b: str, how: Measuring) -> MeasuredComparison:
    """Measure two statements interleaved in the same processes, and compare them; raises UsageError."""
    labels = _labels(a, b)
    orders = [
        order
        for threads in how.threads
        for order in (_order(a, labels[0], threads, how), _order(b, labels[1], threads, how))
    ]
    runs = measure_all(
        orders, interleaved=True, progress=ProgressLine(sys.stderr), keep=how.keep, spool=how.spool
    )
    return compare_measured(runs[0::2], runs[1::2], (a, b))


def compare_commits(revisions: tuple[str, str], stmt: str, how: Measuring) -> MeasuredComparison:
    """Measure a statement at two commits, in alternating processes, and compare them.

    Each commit is checked out in a temporary work tree of its own; the user's checkout does not change.
    Raises UsageError and GitFailed.
    """
    here = current_folder()
    checkout = checkout_of(here)
    commits = [commit_of(revision, here) for revision in revisions]
    longer = replace(how, options={**_longer(how.options), **how.options})
    with interrupted_by_termination(), work_trees(checkout, commits) as trees:
        made = [
            WorkTree(str(checkout), str(tree), commit) for tree, commit in zip(trees, commits, strict=True)
        ]
        orders = [
            replace(_order(stmt, label_of(stmt), threads, longer), tree=tree)
            for threads in how.threads
            for tree in made
        ]
        runs = measure_packed(
            [Task(order) for order in orders],
            design=Design.ALTERNATING,  # two work trees cannot share a process
            progress=ProgressLine(sys.stderr),
            keep=keeper(how.spool) if how.keep else None,
        )
        notes = tuple(_notes(trees))
    names = [f"{revision} ({commit[:10]})" for revision, commit in zip(revisions, commits, strict=True)]
    compared = compare_measured(runs[0::2], runs[1::2], (names[0], names[1]))
    return replace(compared, notes=(*compared.notes, *notes))


def _order(stmt: str, label: str, threads: int, how: Measuring) -> WorkOrder:
    setup, stmt = _as_statement(stmt)
    options: MeasureOptions = {**how.options, "label": label, "num_threads": threads}
    if setup:
        options["setup"] = "\n".join(filter(None, (options.get("setup", ""), setup)))
    if options.get("quick") and "processes" not in options:
        options["processes"] = _QUICK_PROCESSES
    return replace(work_order(stmt, **options), path=(str(current_folder()),))


def _longer(options: MeasureOptions) -> MeasureOptions:
    return {} if options.get("quick") else {"min_run_time_s": _ALTERNATING_S}


def _as_statement(text: str) -> tuple[str, str]:
    """Return MODULE:FUNCTION as a setup and a call, so that workers import it themselves."""
    named = _FUNCTION.fullmatch(text)
    if named is None:
        return "", text
    first, _, rest = named["path"].partition(".")
    return f"from {named['module']} import {first}", f"{first}{f'.{rest}' if rest else ''}()"


def _labels(a: str, b: str) -> tuple[str, str]:
    """Return the labels of the runs; a statement against itself gets two different ones."""
    first, second = label_of(a), label_of(b)
    return (first, second) if first != second else (first, f"{second} (again)")


def _notes(trees: Sequence[Path]) -> Iterator[Finding]:
    if any(map(has_submodules, trees)):
        yield Finding.of(FindingCode.SUBMODULES_EMPTY)


def refuse_language(options: MeasureOptions) -> None:
    """Raise UsageError for orders that do not depend on the commits of a checkout."""
    if options.get("language", "python") != "python":
        raise UsageError("a C++ statement uses nothing of a checkout", "leave out --language")


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
