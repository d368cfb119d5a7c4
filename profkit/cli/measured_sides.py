"""Sides of a comparison that are measured for it: two statements, or one at two commits."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from profkit.cli.workspace import current_folder
from profkit.comparing.measured import compare_measured
from profkit.errors import UsageError
from profkit.measuring.api import keeper, measure_all, measure_packed
from profkit.measuring.orders import label_of, work_order
from profkit.measuring.runner.jobs import Task
from profkit.measuring.runner.progress import ProgressLine
from profkit.model.comparison import MeasuredComparison
from profkit.model.measurement import Design
from profkit.model.notes import Finding, FindingCode
from profkit.model.workorder import WorkOrder, WorkTree
from profkit.process.git import checkout_of, commit_of, has_submodules, work_trees
from profkit.process.signals import interrupted_by_termination

if TYPE_CHECKING:
    from profkit.measuring.orders import MeasureOptions

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
