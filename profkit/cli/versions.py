"""What other runs of a label mean for a report of one: other versions of its code, and more samples."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from profkit.cli.kept import Kept
from profkit.model.kept import AnyInfo, AnyRun
from profkit.model.run import Run, RunInfo
from profkit.render.words import count, moment

_FEW = 100
"""Fewer samples say little about shares."""
_LOOKED_AT = 50
"""Runs of a label that are searched for other versions: reports stay quick however many runs there are."""


def with_notes_of_label(runs: Iterable[AnyRun], kept: Kept) -> Iterator[AnyRun]:
    """The runs, with notes about the other runs of their labels."""
    for run in runs:
        if isinstance(run, Run) and run.info.imported is None:
            of_label = kept.runs(run.info.label, _LOOKED_AT)
            notes = (*_notes(run.info, of_label), *_more_samples(run.info, of_label))
            yield replace(run, info=replace(run.info, notes=(*run.info.notes, *notes))) if notes else run
        else:
            yield run


def several_versions(infos: Sequence[AnyInfo]) -> dict[str, int]:
    """Return the labels of which runs are of several versions of the code, with the number of versions."""
    versions: dict[str, set[str]] = {}
    for info in infos:
        if isinstance(info, RunInfo) and info.imported is None:
            versions.setdefault(info.label, set()).add(info.region.id)
    return {label: len(found) for label, found in versions.items() if len(found) > 1}


def _notes(info: RunInfo, of_label: Sequence[AnyInfo]) -> Iterator[str]:
    others = [
        one
        for one in of_label
        if isinstance(one, RunInfo) and one.imported is None and one.region.id != info.region.id
    ]
    if not others:
        return
    newest = others[0]
    what = "Another version of this code" if _is_same_function(info, newest) else "Other code with this label"
    versions = len({one.region.id for one in others})
    more = f", and {count(versions - 1, 'version')} more" if versions > 1 else ""
    yield f"{what} ran at {moment(newest.started_ns)[:19]}: `profkit report {newest.id}`{more}."


def _more_samples(info: RunInfo, of_label: Sequence[AnyInfo]) -> Iterator[str]:
    """Say that other processes or sessions have samples, if this run has few."""
    same = [one for one in of_label if isinstance(one, RunInfo) and one.region.id == info.region.id]
    together = sum(one.samples for one in same)
    if info.samples < _FEW and together >= 2 * max(1, info.samples):
        runs = f"{len(same)} runs" if len(of_label) < _LOOKED_AT else f"{len(same)} and more runs"
        yield (
            f"This run has {count(info.samples, 'sample')}: `profkit report {shlex.quote(info.label)} --all` "
            f"merges {runs} with {count(together, 'sample')}."
        )


def _is_same_function(one: RunInfo, other: RunInfo) -> bool:
    ours, theirs = one.region.key, other.region.key
    return (ours.module, ours.qualname) == (theirs.module, theirs.qualname)
