"""Notes and warnings grouped by cause: those of one cause are one text, so that it reads as one problem."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

from profkit.model.measurement import MeasurementWarning, WarningCode
from profkit.model.notes import Note, NoteCode
from profkit.render.views.measurement_warnings import warning_text
from profkit.render.views.notes import EXACT, SET_RATE, note_text

_BUSY, _FEW, _VARYING, _SETTING = (
    "the machine was busy",
    "little was measured",
    "the statement varies",
    "place of the measurement",
)
CAUSES_OF_WARNINGS: Mapping[WarningCode, str] = {
    WarningCode.CPU_SHARE: _BUSY,
    WarningCode.SWITCHES: _BUSY,
    WarningCode.SPREAD: _BUSY,
    WarningCode.FEW_BLOCKS: _FEW,
    WarningCode.FEW_PROCESSES: _FEW,
    WarningCode.LIMITED: _FEW,
    WarningCode.SHORT: _FEW,
    WarningCode.COUNTS_DIFFER: _VARYING,
    WarningCode.INPUT_DEPENDENT: _VARYING,
    WarningCode.CHANGES_STATE: _VARYING,
    WarningCode.NOT_ISOLATED: _SETTING,
    WarningCode.MANY_WORKERS: _SETTING,
}
"""Cause of each warning; those without one are always alone."""

_STACKS, _RATE, _SAMPLER, _LOST, _GRAPH, _FILE = range(6)
CAUSES_OF_NOTES: Mapping[NoteCode, int] = {
    NoteCode.NONBLOCKING_COST: _STACKS,
    NoteCode.NONBLOCKING_BUSY: _STACKS,
    NoteCode.NONBLOCKING_IDLE: _STACKS,
    NoteCode.NONBLOCKING_SOCKETS: _STACKS,
    NoteCode.BLOCKING_NOT_KEPT: _STACKS,
    NoteCode.TORN: _STACKS,
    NoteCode.ROUNDS_REPEATED: _STACKS,
    NoteCode.ROUNDS_DROPPED: _STACKS,
    NoteCode.ROUNDS_PARTIAL: _STACKS,
    NoteCode.SHARED_HOST: _RATE,
    NoteCode.CROWDED_HOST: _RATE,
    NoteCode.LONG_ROUNDS: _RATE,
    NoteCode.SAMPLED_RARELY: _RATE,
    NoteCode.SAMPLER_LATE: _RATE,
    NoteCode.STARTED_TWICE: _SAMPLER,
    NoteCode.SAMPLER_INTERRUPTED: _SAMPLER,
    NoteCode.SAMPLER_REPLACED: _SAMPLER,
    NoteCode.SAMPLED_INSIDE: _SAMPLER,
    NoteCode.SEGMENT_FAILED: _SAMPLER,
    NoteCode.FILE_UNREADABLE: _LOST,
    NoteCode.MANIFEST_UNREADABLE: _LOST,
    NoteCode.REGION_FROM_SAMPLES: _LOST,
    NoteCode.REGION_FROM_CALLS: _LOST,
    NoteCode.REGIONS_LOST: _LOST,
    NoteCode.CALL_GRAPH: _GRAPH,
    NoteCode.CALL_GRAPH_RECURSION: _GRAPH,
    NoteCode.TREE_APPROXIMATED: _GRAPH,
    NoteCode.STACKS_APPROXIMATED: _GRAPH,
    NoteCode.FREED_MEMORY_LEFT_OUT: _FILE,
    NoteCode.TIME_ONLY: _FILE,
    NoteCode.VALUES_LEFT_OUT: _FILE,
    NoteCode.LABELS_LEFT_OUT: _FILE,
    NoteCode.TIMELINE_LEFT_OUT: _FILE,
}
"""Cause of each note; those without one are always alone."""

_FIXES = (f" {EXACT}", f" {SET_RATE}")
"""Ends of notes that need no repetition."""
_CodedT = TypeVar("_CodedT", Note, MeasurementWarning)


def note_texts(notes: Iterable[Note]) -> Iterator[str]:
    """Yield a text for each cause, in the order of the first note of each; names in it are raw.

    Notes with the same code are not joined: they are about several things, such as segments.
    """
    seen: Counter[NoteCode] = Counter()

    def cause_of(note: Note) -> object:
        seen[note.code] += 1
        return CAUSES_OF_NOTES.get(note.code, note), seen[note.code]

    for group in _grouped(notes, cause_of):
        texts = list(map(note_text, group))
        yield " ".join([*map(_without_fix, texts[:-1], texts[1:]), texts[-1]])


def _without_fix(text: str, following: str) -> str:
    """Return a text without its fix if the following one has the same."""
    for fix in _FIXES:
        if text.endswith(fix) and following.endswith(fix):
            return text.removesuffix(fix)
    return text


def warnings_text(warnings: Iterable[MeasurementWarning]) -> str:
    """Return the text for warnings of one cause, which begins with the cause if there are several."""
    known = tuple(warnings)
    text = "; ".join(map(warning_text, known))
    return text if len(known) == 1 else f"{CAUSES_OF_WARNINGS[known[0].code]}: {text}"


def by_cause(warnings: Iterable[MeasurementWarning]) -> Iterator[tuple[MeasurementWarning, ...]]:
    """Yield the warnings of each cause, in the order of the first one of each."""
    return _grouped(warnings, lambda warning: CAUSES_OF_WARNINGS.get(warning.code, warning))


def _grouped(
    coded: Iterable[_CodedT], cause_of: Callable[[_CodedT], object]
) -> Iterator[tuple[_CodedT, ...]]:
    groups: dict[object, list[_CodedT]] = {}
    for one in coded:
        groups.setdefault(cause_of(one), []).append(one)
    return map(tuple, groups.values())
