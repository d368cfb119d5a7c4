"""Processes of merged runs: their shares and states, functions that differ between them, unprofiled ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from profkit.model.run import FunctionPart, Merged, RunInfo
from profkit.model.session import ProcessInfo, UnprofiledGroup, UnprofiledReason
from profkit.render.document import (
    Block,
    Cell,
    Column,
    Remark,
    Role,
    Section,
    Table,
    cells,
    more_than,
    shares,
)
from profkit.render.escape import short
from profkit.render.formatting import Tone, count, iso_moment, moment, percent, place
from profkit.render.options import ReportOptions
from profkit.render.views.jobs import place_names
from profkit.render.views.ranks import rank_blocks
from profkit.render.views.sampled import IsLibrary
from profkit.units import format_bytes

_MAX_NAMED = 3
"""Most differing processes that are named per function."""
_FOR_HOSTS = 80
"""Minimum terminal width for hosts and start times of processes."""


def process_blocks(
    merged: Merged, info: RunInfo, options: ReportOptions, total: int, is_library: IsLibrary
) -> Iterator[Block]:
    """Yield tables of a merged run's processes and of functions that differ; `total` is of all samples."""
    yield from rank_blocks(merged, info.process.cwd, options)
    rows = process_rows(merged)
    limit = options.rows(15 if merged.ranks is None else 8, 10)
    shown, known = rows[:limit], are_states_known(rows)
    cpu = ["" if row.cpu_share is None else f"{row.cpu_share * 100:.0f} %" for row in shown]
    worked = [percent(row.working_share or 0.0, row.samples) for row in shown]
    started = cells((moment(row.started_ns)[:19] for row in shown), Tone.FAINT)
    named = place_names([part.process for part in merged.processes])
    who, names = named or ("pid", [str(row.pid) for row in rows])
    memory = Column("peak memory", cells(format_bytes(row.peak_rss_bytes) for row in shown))
    order = "by working time" if known else "by CPU time"
    yield Section("Processes", order if merged.ranks is None else "those first that waited least for others")
    yield Table(
        [
            Column(
                "share", shares((percent(row.share, total) for row in shown), (row.share for row in shown))
            ),
            Column("samples", cells(count(row.samples) for row in shown)),
            Column("calls", cells(count(row.calls) for row in shown)),
            Column("CPU", cells(cpu)),
            *([Column("worked", cells(worked))] if known else []),
            *([memory] if options.whole else []),
            Column(who, cells(names[: len(shown)]), names_rows=True),
            Column("started", started, Role.WORDS, _FOR_HOSTS),
            Column("host", cells(short(row.host) for row in shown), Role.WORDS, _FOR_HOSTS),
        ]
    )
    if len(rows) > len(shown):
        yield Remark(f"… and {len(rows) - len(shown):,} more")
    yield from _differing(merged, info.process.cwd, options, total, is_library)


def _differing(
    merged: Merged, cwd: str, options: ReportOptions, total: int, is_library: IsLibrary
) -> Iterator[Block]:
    shown = differing_rows(merged, options.rows(15, 10), only_odd=True)
    if not shown:
        if len(merged.processes) > 1:
            yield Remark("No function's share differs between the processes by more than noise and 5 points.")
        return
    named = place_names([part.process for part in merged.processes])
    who = named[0] if named is not None else "pid"
    tones = [Tone.FAINT if is_library(row.file) else Tone.PLAIN for row in shown]
    names = [Cell(row.name, tone) for row, tone in zip(shown, tones, strict=True)]
    places = cells((place(row.file, row.line, cwd) for row in shown), Tone.FAINT)
    most = options.rows(_MAX_NAMED, _MAX_NAMED) if options.whole else _MAX_NAMED
    yield Section("Shares that differ between processes", "of functions, including their library calls")
    yield Table(
        [
            Column("all", shares((percent(row.share, total) for row in shown), (row.share for row in shown))),
            Column(f"share in {who}", cells(odd_words(row, most) for row in shown), Role.WORDS),
            Column("function", names, Role.NAME),
            Column("where", places, Role.PLACE),
        ]
    )
    yield from more_than(len(shown), len(merged.functions), "function")


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
    rank: int | None = None
    worker: str = ""


@dataclass(frozen=True, slots=True)
class ProcessShare:
    """A function's share of one process."""

    pid: int
    host: str
    share: float
    samples: int
    """Number of samples of the process."""
    name: str
    """Its rank, worker or pid: what distinguishes it from the others."""
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
            rank=part.process.member.rank,
            worker=part.process.member.worker,
        )
        for part in merged.processes
    )


def are_states_known(rows: Sequence[ProcessRow]) -> bool:
    """Return whether the working time of all processes is known; they are then sorted by it."""
    return all(row.working_share is not None for row in rows)


def differing_rows(
    merged: Merged, most: int | None = None, *, only_odd: bool = False
) -> tuple[DifferingRow, ...]:
    """Return the functions whose shares differ between processes, or `most` of them, the heaviest first.

    With `only_odd`, a row has only the processes that differ, not all.
    """
    processes = [part.process for part in merged.processes]
    named = place_names(processes)
    names = named[1] if named is not None else _pids(processes)
    total = sum(part.weight for part in merged.processes)
    return tuple(
        DifferingRow(
            row.name,
            row.file,
            row.line,
            row.weight / total if total else 0.0,
            _shares(row, merged, names, only_odd=only_odd),
        )
        for row in merged.functions[:most]
    )


def odd_words(row: DifferingRow, most: int) -> str:
    """List the processes in which the share differs: `90 % in 4242, 2 % in 4250`."""
    said = [f"{percent(process.share, process.samples)} in {process.name}" for process in row.odd[:most]]
    more = len(row.odd) - len(said)
    return ", ".join([*said, *([f"{count(more)} more"] if more else [])])


def _shares(
    row: FunctionPart, merged: Merged, names: Sequence[str], *, only_odd: bool
) -> tuple[ProcessShare, ...]:
    return tuple(
        ProcessShare(
            pid=part.process.pid,
            host=part.process.host,
            share=weight / part.weight if part.weight else 0.0,
            samples=part.samples,
            name=name,
            differs=differs,
        )
        for part, name, weight, differs in zip(merged.processes, names, row.weights, row.differs, strict=True)
        if differs or not only_odd
    )


def _pids(processes: Sequence[ProcessInfo]) -> list[str]:
    """Return pids, with the hosts of processes whose pid another one has, too."""
    often = Counter(process.pid for process in processes)
    return [
        f"{process.pid} on {process.host}" if often[process.pid] > 1 else f"{process.pid}"
        for process in processes
    ]


_REASONS = {
    UnprofiledReason.CHILDREN_OFF: (
        "PROFKIT_CHILDREN=0 is set; unset it to profile forked and spawned workers"
    )
}
_LABELS = 3
"""Maximum number of listed labels."""


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


def unprofiled_note(group: UnprofiledGroup) -> str:
    """Return the sentence on processes that were not profiled for one reason."""
    processes = f"{count(group.processes, 'process')} {'was' if group.processes == 1 else 'were'}"
    named = ", ".join(short(label, 40) for label in group.labels[:_LABELS])
    more = f" and {len(group.labels) - _LABELS:,} more" if len(group.labels) > _LABELS else ""
    labels = f" ({named}{more})" if named else ""
    return f"{processes} not profiled{labels}, last at {moment(group.last_ns)[:19]}: {_REASONS[group.reason]}"
