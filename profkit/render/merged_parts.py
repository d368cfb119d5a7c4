"""What the header of a merged run says that differs from that of a single run."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from profkit.model.run import Merged, RunInfo
from profkit.model.session import ProcessInfo, SessionState
from profkit.render.escape import short, visible
from profkit.render.words import Part, Tone, count, moment, rate
from profkit.units import format_bytes, format_duration

_NAMED = 3
"""Hosts, versions or commands that are listed; the others are counted."""
_MOST_NOTES = 8
_FIGURES = re.compile(r"\d[\d.,]*")
_ENDED = (SessionState.SUCCESS, SessionState.FAILED)


def runs_parts(merged: Merged) -> list[Part]:
    """How many runs, processes and hosts there are."""
    infos = merged.infos
    failed = sum(info.state is SessionState.FAILED for info in infos)
    recording = sum(info.state not in _ENDED for info in infos)
    parts = [
        Part(count(len(infos), "run"), Tone.STRONG),
        Part(f"{len(merged.processes):,} process{'' if len(merged.processes) == 1 else 'es'}"),
        Part(f"on {_listed(info.process.host for info in infos)}"),
    ]
    parts += [Part(f"{count(recording)} still recording", Tone.WARN)] if recording else []
    return [*parts, *([Part(f"{count(failed)} FAILED", Tone.BAD)] if failed else [])]


def started_parts(merged: Merged) -> list[Part]:
    """When the first run began, and the last."""
    moments = [info.started_ns for info in merged.infos]
    parts = [Part(moment(min(moments)))]
    return [*parts, Part(f"the last {moment(max(moments))}")] if len(moments) > 1 else parts


def sampler_parts(merged: Merged) -> list[Part]:
    """How the runs were sampled, as far as they agree."""
    infos = merged.infos
    names = (f"{info.plan.sampler} {info.sampler_version or ''}".strip() for info in infos)
    achieved = [info.achieved_hz for info in infos if info.achieved_hz is not None]
    blocking = sum(info.plan.blocking for info in infos)
    idle = sum(info.plan.idle for info in infos)
    return [
        Part(_listed(names), Tone.STRONG),
        Part(f"{_range([info.plan.rate_hz for info in infos])} asked"),
        Part(f"{_range(achieved)} achieved" if achieved else "achieved rate unknown"),
        Part(_part_of(blocking, infos, "blocking", "nonblocking")),
        Part(_part_of(idle, infos, "wall clock", "time on the CPU only")),
    ]


def session_parts(info: RunInfo, merged: Merged) -> list[Part]:
    """The time that was sampled, of all sessions together."""
    sessions = len({one.session for one in merged.infos})
    parts = [Part(count(sessions, "session")), Part(f"{format_duration(info.session_s)} recorded in total")]
    gaps = f"{format_duration(info.gap_s)} in gaps between segments"
    return [*parts, Part(gaps, Tone.WARN)] if info.gap_s else parts


def resource_parts(merged: Merged) -> list[Part]:
    """What single processes used: adding them up would mix moments."""
    cpu = [part.cpu_share for part in merged.processes if part.cpu_share is not None]
    peak = max((part.peak_rss_bytes for part in merged.processes), default=0)
    low, high = (f"{share * 100:.0f}" for share in (min(cpu, default=0.0), max(cpu, default=0.0)))
    share = f"CPU {low} % of a core" if low == high else f"CPU {low} to {high} % of a core, by process"
    return [
        *([Part(share)] if cpu else []),
        *([Part(f"peak RSS {format_bytes(peak)} in one process")] if peak else []),
    ]


def version_parts(merged: Merged) -> list[Part]:
    """The versions of what matters in the processes."""
    processes = [info.process for info in merged.infos]
    columns = {
        "Python": (process.python for process in processes),
        "torch": (process.torch for process in processes if process.torch is not None),
        "profkit": (process.profkit for process in processes),
        "git": (process.git_commit[:10] for process in processes if process.git_commit is not None),
    }
    listed = ((name, _listed(values)) for name, values in columns.items())
    return [Part(f"{name} {values}") for name, values in listed if values]


def command_parts(processes: Sequence[ProcessInfo]) -> list[Part]:
    """The commands that were run, the most frequent first."""
    commands = Counter(shlex.join(process.argv) for process in processes if process.argv)
    shown = [Part(visible(command)) for command, _ in commands.most_common(_NAMED)]
    more = len(commands) - len(shown)
    return [*shown, Part(f"and {count(more, 'more command')}")] if more else shown


def merged_notes(merged: Merged) -> tuple[str, ...]:
    """Notes and errors of the runs; those that differ in figures alone are one, with the number of runs."""
    return tuple(_notes(merged.infos))


def _notes(infos: Sequence[RunInfo]) -> Iterator[str]:
    runs_of: Counter[str] = Counter()
    newest: dict[str, str] = {}
    for info in infos:
        said = [*info.notes, *([f"The run failed: {info.error}"] if info.error is not None else [])]
        for kind, note in {_FIGURES.sub("0", note): note for note in said}.items():
            runs_of[kind] += 1
            newest.setdefault(kind, note)
    for kind, runs in runs_of.most_common(_MOST_NOTES):
        note = newest[kind]
        yield note if runs == len(infos) == 1 else f"In {runs:,} of {count(len(infos), 'run')}: {note}"
    if (more := len(runs_of) - _MOST_NOTES) > 0:
        yield f"{count(more, 'more note')}: `profkit report ID` shows those of one run."


def _listed(values: Iterable[str]) -> str:
    """Each value once, the most frequent first: `3.11.7 and 3.12.1`, `a, b, c and 4 more`."""
    found = [short(value) for value, _ in Counter(values).most_common()]
    shown, more = found[:_NAMED], len(found) - _NAMED
    if more > 0:
        return f"{', '.join(shown)} and {more} more"
    return " and ".join(filter(None, (", ".join(shown[:-1]), *shown[-1:])))


def _range(values: Sequence[float]) -> str:
    low, high = rate(min(values)), rate(max(values))
    return low if low == high else f"{low} to {high}"


def _part_of(number: int, infos: Sequence[RunInfo], all_of: str, none_of: str) -> str:
    if number in (0, len(infos)):
        return all_of if number else none_of
    return f"{all_of} in {number:,} of {count(len(infos), 'run')}"
