"""The baseline of a gate: the runs that the current ones are held against, by run, file or revision."""

from __future__ import annotations

from profkit.cli.here import current_folder
from profkit.cli.sides import Side, Sides
from profkit.comparing.measured import match_orders
from profkit.errors import NoBaseline, RunNotFound, UsageError
from profkit.model.measurement import Manner, MeasuredRun
from profkit.model.run import AnyRun
from profkit.process.git import commit_of


def baseline_of(found: Sides, text: str, current: Side) -> Side:
    """The baseline's runs of the same kind and labels as the current ones, never these themselves.

    Of several runs, those that took turns with the current ones are taken alone: they say most. Raises
    NoBaseline, which says how to make one.
    """
    own = {run.info.id for run in current.runs}
    batches = {run.info.batch for run in current.measured}
    try:
        side = found.side(text, own | batches)
    except RunNotFound:
        side = _at_commit(found, text, current, own)
    others = [run for run in side.runs if run.info.id not in own]
    if not others:
        raise _missing(text, "there is nothing in it but the current run itself", current)
    runs = tuple(run for run in others if isinstance(run, MeasuredRun) == bool(current.measured))
    if not runs:
        raise _missing(text, "its runs are of the other kind, sampled or measured", current)
    if current.measured and not match_orders(Side(text, runs).measured, current.measured).pairs:
        raise _missing(text, "none of its orders is one of the current run", current)
    beside = tuple(
        run
        for run in Side(text, runs).measured
        if run.info.batch in batches and run.info.manner is not Manner.APART
    )
    return Side(side.text, beside or runs)


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
