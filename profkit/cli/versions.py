"""Notes on other runs of a label in a report of one: other versions of its code, and more samples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Literal

from profkit.cli.workspace import Workspace
from profkit.model.measurement import AnyInfo, AnyRun
from profkit.model.notes import Figure, Note, NoteCode
from profkit.model.region import RegionKind
from profkit.model.run import Run, RunInfo
from profkit.render.formatting import count

_FEW = 100
"""With fewer samples, shares are imprecise."""
_SEARCHED = 50
"""Maximum number of runs of a label to search for other versions, so that reports stay fast."""


def with_notes_of_label(runs: Iterable[AnyRun], workspace: Workspace) -> Iterator[AnyRun]:
    """Yield the runs, with notes about the other runs of their labels."""
    for run in runs:
        if isinstance(run, Run) and run.info.imported is None:
            of_label = workspace.runs(run.info.label, _SEARCHED)
            notes = (*_notes(run.info, of_label), *_more_samples(run.info, of_label))
            yield replace(run, info=replace(run.info, notes=(*run.info.notes, *notes))) if notes else run
        else:
            yield run


Relation = Literal["version", "python", "place", "code"]
"""Relation to the region of another run with the same label.

It is another version of its code, the same or another version with another Python, the same code in another
place, or other code.
"""

_OTHERS: Mapping[Relation, NoteCode] = {
    "version": NoteCode.OTHER_VERSION,
    "python": NoteCode.OTHER_PYTHON,
    "place": NoteCode.OTHER_PLACE,
    "code": NoteCode.OTHER_CODE,
}


def relation_of(one: RunInfo, other: RunInfo) -> Relation:
    """Return how the code of another run with the same label is related to that of the first."""
    ours, theirs = one.region.key, other.region.key
    if one.region.code and one.region.code == other.region.code and ours.qualname == theirs.qualname:
        return "place"
    same = (ours.module, ours.qualname) == (theirs.module, theirs.qualname)
    # A function may have several blocks with one label.
    moved_block = RegionKind.BLOCK in (one.region.kind, other.region.kind) and ours.line != theirs.line
    if not same or moved_block:
        return "code"
    # Digests of code are those of its instructions, which each version of Python has others of.
    return "version" if _python(one) == _python(other) else "python"


def _python(info: RunInfo) -> str:
    """Return the version of Python without the last number."""
    return info.process.python.rpartition(".")[0]


def several_regions(infos: Iterable[AnyInfo]) -> dict[str, str]:
    """Return the labels that several regions share, each with a phrase such as "2 versions of its code"."""
    regions: dict[str, dict[str, RunInfo]] = {}
    for info in infos:
        if isinstance(info, RunInfo) and info.imported is None:
            regions.setdefault(info.label, {}).setdefault(info.region.version, info)
    return {label: _phrase(tuple(found.values())) for label, found in regions.items() if len(found) > 1}


def others_phrase(info: RunInfo, others: Iterable[RunInfo]) -> str:
    """Describe the regions of other runs with the same label: "2 other versions of the code"."""
    found = {other.region.version: other for other in others}
    relations = {relation_of(info, other) for other in found.values()}
    if relations == {"python"}:
        pythons = sorted({other.process.python for other in found.values()})
        return f"the function or block with Python {' and '.join(pythons)}"
    if relations <= {"version", "python"}:
        return f"{count(len(found), 'other version')} of the code"
    if relations == {"place"}:
        return f"the same code in {count(len(found), 'other place')}"
    return f"{count(len(found), 'other function or block')} with this label"


def _phrase(infos: Sequence[RunInfo]) -> str:
    relations = {relation_of(one, other) for one, other in combinations(infos, 2)}
    if relations == {"python"}:
        return f"{count(len(infos), 'version')} of Python"
    if relations <= {"version", "python"}:
        return f"{count(len(infos), 'version')} of its code"
    return f"{len(infos)} {'places' if relations == {'place'} else 'functions or blocks'} with this label"


def _notes(info: RunInfo, of_label: Sequence[AnyInfo]) -> Iterator[Note]:
    others = [
        one
        for one in of_label
        if isinstance(one, RunInfo) and one.imported is None and one.region.version != info.region.version
    ]
    if not others:
        return
    newest = others[0]
    relation = relation_of(info, newest)
    figures: dict[str, Figure] = {}
    if relation == "place":
        figures = {"file": newest.region.file, "line": newest.region.key.line}
    if relation == "python":
        figures = {"python": newest.process.python}
    more = len({one.region.version for one in others}) - 1
    yield Note.of(_OTHERS[relation], run=newest.id, started_ns=newest.started_ns, more=more, **figures)


def _more_samples(info: RunInfo, of_label: Sequence[AnyInfo]) -> Iterator[Note]:
    """Yield a note that other processes or sessions have samples, if this run has few."""
    same = [one for one in of_label if isinstance(one, RunInfo) and one.region.version == info.region.version]
    together = sum(one.samples for one in same)
    if info.memory is None and info.samples < _FEW and together >= 2 * max(1, info.samples):
        runs = {"runs" if len(of_label) < _SEARCHED else "runs_at_least": len(same)}
        yield Note.of(
            NoteCode.MORE_SAMPLES, label=info.label, samples=info.samples, all_samples=together, **runs
        )
