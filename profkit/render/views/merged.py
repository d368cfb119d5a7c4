"""Header of merged runs: facts that may differ, as ranges, counts or lists; and which notes are joined."""

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
from profkit.model.run import Merged, RunInfo
from profkit.model.session import (
    ProcessInfo,
    ResourcePoint,
    SamplerPlan,
    SessionState,
)
from profkit.render.escape import short, visible
from profkit.render.formatting import Part, Tone, count, join_words, moment, rate
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
        Part(count(len(merged.processes), "process")),
        Part(f"on {listed(info.process.host for info in infos)}"),
    ]
    parts += [Part(f"{count(recording)} still recording", Tone.WARN)] if recording else []
    parts += [Part(f"{count(early)} ended early", Tone.WARN)] if early else []
    return [*parts, *([Part(f"{count(failed)} FAILED", Tone.BAD)] if failed else [])]


def started_parts(merged: Merged) -> list[Part]:
    """Return the start times of the first and the last run."""
    moments = [info.started_ns for info in merged.infos]
    parts = [Part(moment(min(moments)))]
    parts += [Part(f"latest {moment(max(moments))}")] if len(moments) > 1 else []
    windows_s = {info.plan.window_s for info in merged.infos}
    if None in windows_s:
        return parts
    end_ns = max(max(info.last_ns, info.started_ns + round(info.session_s * 1e9)) for info in merged.infos)
    lengths = " and ".join(format_duration(length_s) for length_s in sorted(filter(None, windows_s)))
    return [parts[0], Part(f"to {moment(end_ns)}"), Part(f"in windows of {lengths}")]


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
    return join_words(shown)


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


_RUN_ID = "TORCHELASTIC_RUN_ID"
_OF_WORKERS = ("--multiprocessing-fork", "from multiprocessing")
"""Parts of the commands by which Python starts workers."""
_INTEGER = re.compile(r"-?\d{1,18}")
_FEW = 3
"""Number of values up to which they are listed and not a range."""


def launch_parts(merged: Merged) -> list[Part]:
    """Return of how many launches or commands runs are, if several: a warning if one has many processes."""
    ids = {info.process.launch for info in merged.infos} - {""}
    jobs = {value for info in merged.infos for name, value in info.region.env if name == _RUN_ID}
    commands = set(filter(None, map(_command, merged.infos)))
    launches = max(len(ids), len(jobs))
    if max(launches, len(commands)) < 2:
        return []
    text = f"of {count(launches, 'launch')}" if launches > 1 else f"of {count(len(commands), 'command')}"
    return [Part(text, Tone.WARN if len(merged.processes) > launches else Tone.PLAIN)]


def _command(info: RunInfo) -> str:
    """Return a command without its numbers, by which ranks may differ; empty for workers of Python's."""
    text = "\0".join(info.process.argv)
    return "" if any(part in text for part in _OF_WORKERS) else _NUMBER.sub("0", text)


def tag_parts(infos: Sequence[RunInfo]) -> list[Part]:
    """Return the tags of the runs; those of some runs with their number."""
    runs_of = Counter(tag for info in infos for tag in dict.fromkeys(info.region.tags))
    return [Part(visible(f"{tag}{_in_some(having, infos)}")) for tag, having in runs_of.items()]


def user_parts(infos: Sequence[RunInfo]) -> list[Part]:
    """Return the users that the runs name."""
    users = [info.region.user for info in infos if info.region.user]
    return [Part(listed(users))] if users else []


def env_parts(infos: Sequence[RunInfo]) -> list[Part]:
    """Return the recorded environment variables; different values as a range or a list."""
    values: dict[str, list[str]] = {}
    for info in infos:
        for name, value in info.region.env:
            values.setdefault(name, []).append(value)
    return [
        Part(f"{visible(name)}={_values(found)}{_in_some(len(found), infos)}")
        for name, found in values.items()
    ]


def _values(values: Sequence[str]) -> str:
    distinct = set(values)
    if len(distinct) > _FEW and all(map(_INTEGER.fullmatch, distinct)):
        numbers = sorted(map(int, distinct))
        return f"{numbers[0]} to {numbers[-1]}"
    return listed(sorted(values, key=_in_order))


def _in_order(value: str) -> tuple[int, str]:
    return (int(value), "") if _INTEGER.fullmatch(value) else (0, value)


def _in_some(having: int, infos: Sequence[RunInfo]) -> str:
    return "" if having == len(infos) else f" in {having:,} of {count(len(infos), 'run')}"
