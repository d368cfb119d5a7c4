"""Other versions of the code that a run is of, under the same label."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from profkit.cli.kept import Kept
from profkit.model.kept import AnyInfo, AnyRun
from profkit.model.run import Run, RunInfo
from profkit.render.words import count, moment

_LOOKED_AT = 50
"""Runs of a label that are searched for other versions: reports stay quick however many runs there are."""


def with_version_notes(runs: Iterable[AnyRun], kept: Kept) -> Iterator[AnyRun]:
    """The runs; those whose label other code has too have a note about it."""
    for run in runs:
        if isinstance(run, Run) and run.info.imported is None:
            notes = tuple(_notes(run.info, kept.runs(run.info.label, _LOOKED_AT)))
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


def _is_same_function(one: RunInfo, other: RunInfo) -> bool:
    ours, theirs = one.region.key, other.region.key
    return (ours.module, ours.qualname) == (theirs.module, theirs.qualname)
