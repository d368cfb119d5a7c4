"""Sentences for warnings about measurements; warnings and notes of one cause are grouped as one text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

from profkit.model.measurement import MeasurementWarning, WarningCode
from profkit.model.notes import Note, NoteCode
from profkit.render.views import sentences
from profkit.render.views.notes import EXACT, SET_RATE, note_text
from profkit.render.views.sentences import Figures, Sentence
from profkit.units import format_duration


def warning_text(warning: MeasurementWarning | Note) -> str:
    """Return the reason with its figures; names in it, which come from the measured program, are raw."""
    if isinstance(warning, Note):
        return note_text(warning)
    return sentences.text(warning, WARNINGS)


def _cpu_share(figures: Figures) -> str:
    busiest, switches = figures.number("busiest"), figures.integer("switches")
    whole = "the time" if busiest == 1.0 else "the CPU time of the busiest one"
    had = figures.fill(
        f"{{affected}} of {{processes}} processes had the CPU for less than {{needed:percent}} of {whole} "
        "(the lowest for {share:percent} of the time)"
    )
    if switches:
        return f"{had} and were preempted {switches} times: other processes compete for the CPU"
    return f"{had} but were hardly ever preempted: the statement itself waits, for sleep, files or locks"


def _spread(figures: Figures) -> str:
    return "; ".join(_spreads(figures))


def _spreads(figures: Figures) -> Iterator[str]:
    if "median_s" in figures:
        low_s, high_s = figures.number("low_s"), figures.number("high_s")
        yield (
            f"the median's 95 % interval, {format_duration(low_s)} to {format_duration(high_s)}, is "
            f"{_percent(high_s - low_s, figures.number('median_s'))} of the median wide"
        )
    if "fastest_s" in figures:
        fastest_s = figures.number("fastest_s")
        longer = _percent(figures.number("slowest_s") - fastest_s, fastest_s)
        yield f"the slowest process took {longer} longer than the fastest"


def _percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.0f} %" if whole > 0 else "infinitely many %"


_COUNTED = "counted {low:,} to {high:,} instructions without allocators"

WARNINGS: Mapping[WarningCode, Sentence] = {
    WarningCode.QUICK: (
        "all processes ({processes}) share the memory layout of one interpreter, which can shift all of them "
        "by 10 %: compare these times with each other only"
    ),
    WarningCode.FEW_PROCESSES: (
        "{processes:count process}; with fewer than {needed} the median has no 95 % interval"
    ),
    WarningCode.FEW_BLOCKS: (
        "{affected} of {processes} processes measured fewer than {needed} blocks (at least {blocks}): even "
        "their fastest block may be disturbed"
    ),
    WarningCode.CPU_SHARE: _cpu_share,
    WarningCode.SWITCHES: (
        "preempted {per_s:.0f} times per second while measuring ({switches} times in total): other processes "
        "compete for the CPU"
    ),
    WarningCode.SPREAD: _spread,
    WarningCode.SHORT: (
        "a block of {executions:count execution} takes {block_s:duration}, of which reading the clock takes "
        "about 0.1 µs: measure more executions per block"
    ),
    WarningCode.NOT_ISOLATED: "measured in the caller's own process, with everything that runs there",
    WarningCode.COUNTS_DIFFER: f"{{counted}} repeats {_COUNTED}: the code does not always do the same",
    WarningCode.INPUT_DEPENDENT: (
        f"{{counted}} processes {_COUNTED}, while the repeats of each agree: the count depends on the "
        "statement's input, such as unseeded data, paths or addresses"
    ),
    WarningCode.MANY_WORKERS: (
        "{workers} workers measured at once: statements that wait for memory take 5 to 24 % longer"
    ),
    WarningCode.LIMITED: (
        "limited to {limit:count execution} including warm-ups, of which {measured} were measured"
    ),
    WarningCode.CHANGES_STATE: (
        "each execution changes {changed}, and the next one finds it changed, because {why_not}"
    ),
}


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
