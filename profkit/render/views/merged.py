"""Content of reports of merged runs: header, a row per process, unprofiled processes."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeAlias

from profkit.model.notes import Note, NoteCode
from profkit.model.region import CALLS_ONLY
from profkit.model.run import FunctionPart, Merged, RunInfo
from profkit.model.session import (
    ProcessInfo,
    ResourcePoint,
    SamplerPlan,
    SessionState,
    UnprofiledGroup,
    UnprofiledReason,
)
from profkit.render.escape import short, visible
from profkit.render.formatting import Part, Tone, count, iso_moment, moment, percent, rate
from profkit.units import format_bytes, format_duration


@dataclass(frozen=True, slots=True)
class Usage:
    """CPU use (1.0 is one core; None for fewer than two points), and peaks of memory and threads."""

    cpu_share: float | None
    peak_rss_bytes: int
    peak_threads: int


def cpu_shares(points: Sequence[ResourcePoint]) -> list[float]:
    """Return the CPU use between consecutive points; 1.0 is one core."""
    return [
        (after.cpu_s - before.cpu_s) * 1e9 / (after.at_ns - before.at_ns)
        for before, after in pairwise(points)
        if after.at_ns > before.at_ns
    ]


def usage(points: tuple[ResourcePoint, ...]) -> Usage | None:
    """Summarize a session's resource points; None if there are none."""
    if not points:
        return None
    first, last = points[0], points[-1]
    elapsed_s = (last.at_ns - first.at_ns) / 1e9
    return Usage(
        cpu_share=(last.cpu_s - first.cpu_s) / elapsed_s if elapsed_s > 0 else None,
        peak_rss_bytes=max(point.rss_bytes for point in points),
        peak_threads=max(point.threads for point in points),
    )


_NAMED = 3
"""Maximum number of listed hosts, versions or commands; the others are counted."""
_MAX_NOTES = 8
_NUMBER = re.compile(r"\d[\d.,]*")


def runs_parts(merged: Merged) -> list[Part]:
    """Return the number of runs and processes, and the hosts."""
    infos = merged.infos
    failed = sum(info.state is SessionState.FAILED for info in infos)
    early = sum(info.state is SessionState.ENDED_EARLY for info in infos)
    recording = sum(not info.state.is_final for info in infos)
    parts = [
        Part(count(len(infos), "run"), Tone.STRONG),
        Part(f"{len(merged.processes):,} process{'' if len(merged.processes) == 1 else 'es'}"),
        Part(f"on {listed(info.process.host for info in infos)}"),
    ]
    parts += [Part(f"{count(recording)} still recording", Tone.WARN)] if recording else []
    parts += [Part(f"{count(early)} ended early", Tone.WARN)] if early else []
    return [*parts, *([Part(f"{count(failed)} FAILED", Tone.BAD)] if failed else [])]


def started_parts(merged: Merged) -> list[Part]:
    """Return the start times of the first and the last run."""
    moments = [info.started_ns for info in merged.infos]
    parts = [Part(moment(min(moments)))]
    return [*parts, Part(f"latest {moment(max(moments))}")] if len(moments) > 1 else parts


CALLS_ONLY_TEXT = "none: calls and wall times only"


def sampler_parts(merged: Merged) -> list[Part]:
    """Return how the runs were sampled; differing values as ranges or counts."""
    infos = [info for info in merged.infos if info.plan.sampler != CALLS_ONLY]
    if not infos:
        return [Part(CALLS_ONLY_TEXT, Tone.STRONG)]
    names = (f"{info.plan.sampler} {info.sampler_version or ''}".strip() for info in infos)
    achieved = [info.achieved_hz for info in infos if info.achieved_hz is not None]
    blocking = sum(info.plan.blocking for info in infos)
    return [
        Part(listed(names), Tone.STRONG),
        Part(f"{_range([info.plan.rate_hz for info in infos])} requested"),
        Part(f"{_range(achieved)} achieved" if achieved else "achieved rate unknown"),
        Part(_part_of(blocking, infos, "blocking", "nonblocking")),
        Part(_clocks(infos)),
    ]


def session_parts(info: RunInfo, merged: Merged) -> list[Part]:
    """Return the number of sessions and their total time."""
    sessions = len({one.session for one in merged.infos})
    parts = [Part(count(sessions, "session")), Part(f"{format_duration(info.session_s)} recorded in total")]
    return [*parts, *gap_parts(info)]


_MANY_GAPS = 0.02
"""Share of the session from which on gaps are a warning."""


def gap_parts(info: RunInfo) -> list[Part]:
    """Return the time without samples, if there is any; short gaps are only a detail."""
    if not info.gap_s:
        return []
    tone = Tone.WARN if info.gap_s >= _MANY_GAPS * info.session_s else Tone.PLAIN
    return [Part(f"{format_duration(info.gap_s)} not sampled", tone)]


def resource_parts(merged: Merged) -> list[Part]:
    """Return the resources of single processes; sums would mix different times."""
    cpu = [part.cpu_share for part in merged.processes if part.cpu_share is not None]
    peak = max((part.peak_rss_bytes for part in merged.processes), default=0)
    low, high = (f"{share * 100:.0f}" for share in (min(cpu, default=0.0), max(cpu, default=0.0)))
    share = f"CPU {low} % of a core" if low == high else f"CPU {low} to {high} % of a core, by process"
    return [
        *([Part(share)] if cpu else []),
        *([Part(f"peak RSS {format_bytes(peak)} in one process")] if peak else []),
    ]


def version_parts(merged: Merged) -> list[Part]:
    """Return the versions of Python, torch, profkit and the code in the processes."""
    processes = [info.process for info in merged.infos]
    columns = {
        "Python": (process.python for process in processes),
        "torch": (process.torch for process in processes if process.torch is not None),
        "profkit": (process.profkit for process in processes),
        "git": (process.git_commit[:10] for process in processes if process.git_commit is not None),
    }
    texts = ((name, listed(values)) for name, values in columns.items())
    return [Part(f"{name} {text}") for name, text in texts if text]


def command_parts(processes: Sequence[ProcessInfo]) -> list[Part]:
    """Return the commands that were run, the most frequent first."""
    commands = Counter(shlex.join(process.argv) for process in processes if process.argv)
    shown = [Part(visible(command)) for command, _ in commands.most_common(_NAMED)]
    more = len(commands) - len(shown)
    return [*shown, Part(f"and {count(more, 'more command')}")] if more else shown


def merged_notes(merged: Merged) -> tuple[Note, ...]:
    """Return notes and errors of the runs; those that differ only in figures are joined and counted."""
    return tuple(joined_notes([(info, info.notes) for info in merged.infos]))


def joined_notes(runs: Sequence[tuple[RunInfo, Sequence[Note]]]) -> Iterator[Note]:
    """Yield notes on runs, and their errors; those that differ only in figures are joined and counted."""
    runs_of: Counter[_Kind] = Counter()
    newest: dict[_Kind, Note] = {}
    for info, notes in runs:
        failed = [] if info.error is None else [Note.of(NoteCode.RUN_FAILED, detail=info.error)]
        for kind, note in {_kind(note): note for note in (*notes, *failed)}.items():
            runs_of[kind] += 1
            newest.setdefault(kind, note)
    for kind, having in runs_of.most_common(_MAX_NOTES):
        note, parts = newest[kind], (("in_runs", having), ("of_runs", len(runs)))
        yield note if having == len(runs) == 1 else replace(note, figures=(*note.figures, *parts))
    if (more := len(runs_of) - _MAX_NOTES) > 0:
        yield Note.of(NoteCode.MORE_NOTES, notes=more)


_Kind: TypeAlias = tuple[NoteCode, tuple[str, ...]]


def _kind(note: Note) -> _Kind:
    """Return the code with the texts of a note, without numbers in them."""
    texts = (figure for _, figure in note.figures if isinstance(figure, str))
    return note.code, tuple(_NUMBER.sub("0", text) for text in texts)


def listed(values: Iterable[str]) -> str:
    """List each value once, the most frequent first: `3.11.7 and 3.12.1`, `a, b, c and 4 more`."""
    found = [short(value) for value, _ in Counter(values).most_common()]
    shown, more = found[:_NAMED], len(found) - _NAMED
    if more > 0:
        return f"{', '.join(shown)} and {more} more"
    return " and ".join(filter(None, (", ".join(shown[:-1]), *shown[-1:])))


def _range(values: Sequence[float]) -> str:
    low, high = rate(min(values)), rate(max(values))
    return low if low == high else f"{low} to {high}"


_CLOCK_WORDS = ("wall clock", "time on the CPU only", "time holding the GIL only")


def clock_word(plan: SamplerPlan) -> str:
    """Return which time was sampled, one of `_CLOCK_WORDS`."""
    return _CLOCK_WORDS[2 if plan.gil else 0 if plan.idle else 1]


def _clocks(infos: Sequence[RunInfo]) -> str:
    """Return which time was sampled, in how many of the runs if it differs."""
    runs_of = Counter(clock_word(info.plan) for info in infos)
    *given, last = [word for word in _CLOCK_WORDS if word in runs_of]
    return ", ".join(_part_of(runs_of[word], infos, word, last) for word in given) or last


def _part_of(number: int, infos: Sequence[RunInfo], all_of: str, none_of: str) -> str:
    if number in (0, len(infos)):
        return all_of if number else none_of
    return f"{all_of} in {number:,} of {count(len(infos), 'run')}"


@dataclass(frozen=True, slots=True)
class ProcessRow:
    """A row of the table of processes; `share` is its part of all samples, or of their time."""

    share: float
    samples: int
    calls: int
    runs: int
    cpu_share: float | None
    working_share: float | None
    """Part of its samples in which threads worked; None if their states are not known."""
    peak_rss_bytes: int
    started_ns: int
    """Unix time of its first call."""
    pid: int
    host: str


@dataclass(frozen=True, slots=True)
class ProcessShare:
    """A function's share of one process."""

    pid: int
    host: str
    share: float
    samples: int
    """Number of samples of the process."""
    differs: bool
    """Whether it differs significantly from the share in all other processes together."""


@dataclass(frozen=True, slots=True)
class DifferingRow:
    """A function whose share differs between processes; shares include its library calls."""

    name: str
    file: str
    line: int
    share: float
    """Share in all processes together."""
    processes: tuple[ProcessShare, ...]
    """In the order of `process_rows`."""

    @property
    def odd(self) -> tuple[ProcessShare, ...]:
        """Processes that differ, the largest difference first."""
        found = [process for process in self.processes if process.differs]
        return tuple(sorted(found, key=lambda process: -abs(process.share - self.share)))


def process_rows(merged: Merged) -> tuple[ProcessRow, ...]:
    """Return a row for each process, those first that worked most."""
    total = sum(part.weight for part in merged.processes)
    return tuple(
        ProcessRow(
            share=part.weight / total if total else 0.0,
            samples=part.samples,
            calls=part.calls,
            runs=part.runs,
            cpu_share=part.cpu_share,
            working_share=None if part.working is None else part.working / max(1, part.weight),
            peak_rss_bytes=part.peak_rss_bytes,
            started_ns=part.started_ns,
            pid=part.process.pid,
            host=part.process.host,
        )
        for part in merged.processes
    )


def are_states_known(rows: Sequence[ProcessRow]) -> bool:
    """Return whether the working time of all processes is known; they are then sorted by it."""
    return all(row.working_share is not None for row in rows)


def differing_rows(merged: Merged) -> tuple[DifferingRow, ...]:
    """Return the functions whose shares differ between processes, the heaviest first."""
    total = sum(part.weight for part in merged.processes)
    return tuple(
        DifferingRow(row.name, row.file, row.line, row.weight / total if total else 0.0, _shares(row, merged))
        for row in merged.functions
    )


def odd_words(row: DifferingRow, most: int) -> str:
    """List the processes in which the share differs: `90 % in 4242, 2 % in 4250`."""
    pids = [process.pid for process in row.processes]
    said = [
        f"{percent(process.share, process.samples)} in "
        + (f"{process.pid} on {process.host}" if pids.count(process.pid) > 1 else f"{process.pid}")
        for process in row.odd[:most]
    ]
    more = len(row.odd) - len(said)
    return ", ".join([*said, *([f"{count(more)} more"] if more else [])])


def _shares(row: FunctionPart, merged: Merged) -> tuple[ProcessShare, ...]:
    return tuple(
        ProcessShare(
            pid=part.process.pid,
            host=part.process.host,
            share=weight / part.weight if part.weight else 0.0,
            samples=part.samples,
            differs=differs,
        )
        for part, weight, differs in zip(merged.processes, row.weights, row.differs, strict=True)
    )


_REASONS = {
    UnprofiledReason.CHILDREN_OFF: (
        "PROFKIT_CHILDREN=0 is set; unset it to profile forked and spawned workers"
    )
}
_LABELS = 3
"""Maximum number of listed labels."""


def unprofiled_notes(groups: Iterable[UnprofiledGroup]) -> list[str]:
    """Return a sentence for each reason why processes were not profiled."""
    return [_note(group) for group in groups]


def unprofiled_objects(groups: Iterable[UnprofiledGroup]) -> list[dict[str, object]]:
    """Return an object for each reason why processes were not profiled."""
    return [
        {
            "reason": group.reason.value,
            "text": _REASONS[group.reason],
            "processes": group.processes,
            "labels": list(group.labels),
            "first": iso_moment(group.first_ns),
            "last": iso_moment(group.last_ns),
        }
        for group in groups
    ]


def _note(group: UnprofiledGroup) -> str:
    one = group.processes == 1
    processes = "1 process was" if one else f"{group.processes:,} processes were"
    named = ", ".join(short(label, 40) for label in group.labels[:_LABELS])
    more = f" and {len(group.labels) - _LABELS:,} more" if len(group.labels) > _LABELS else ""
    labels = f" ({named}{more})" if named else ""
    return f"{processes} not profiled{labels}, last at {moment(group.last_ns)[:19]}: {_REASONS[group.reason]}"
