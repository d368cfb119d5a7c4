"""Jobs: the facts about one, names of its processes, and a list of jobs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from profkit.model.run import Merged, RunInfo
from profkit.model.session import ProcessInfo
from profkit.render.document import Cell, Column, Document, Role, Table, cells
from profkit.render.escape import short, visible
from profkit.render.formatting import Part, Tone, count, join_words, moment, number_ranges
from profkit.render.options import DEFAULTS, ReportOptions
from profkit.render.views.merged import listed

_FOR_SECONDS = 80


def job_parts(infos: Sequence[RunInfo]) -> list[Part]:
    """Return the name of the runs' job, or their number, and the ranks or workers of these runs."""
    jobs = list(dict.fromkeys(info.process.member.job for info in infos if info.process.member.job))
    if not jobs:
        return []
    if len(jobs) > 1:
        return [Part(f"{len(jobs)} jobs", Tone.WARN), Part(listed(jobs))]
    members = [info.process.member for info in infos]
    sizes = {member.world_size for member in members if member.world_size is not None}
    ranks = {member.rank for member in members if member.rank is not None}
    parts = [Part(visible(jobs[0]), Tone.STRONG)]
    if ranks:
        of = f" of {max(sizes):,}" if sizes else ""
        are_missing = len(infos) > 1 and bool(sizes) and len(ranks) < max(sizes)
        parts.append(Part(f"{ranks_text(ranks)}{of}", Tone.WARN if are_missing else Tone.PLAIN))
    elif workers := [member.worker for member in members if member.worker]:
        parts.append(Part(f"worker{'s' if len(set(workers)) > 1 else ''} {listed(workers)}"))
    return parts


def runs_of_jobs(infos: Sequence[RunInfo]) -> str:
    """Return the number of runs: `4 runs`, `4 runs of one job`."""
    jobs = {info.process.member.job for info in infos}
    return count(len(infos), "run") + (" of one job" if len(jobs) == 1 and "" not in jobs else "")


def ranks_text(ranks: Iterable[int]) -> str:
    """Name ranks as ranges: `rank 2`, `ranks 0–3 and 6`."""
    texts = number_ranges(ranks)
    noun = "rank" if len(texts) == 1 and texts[0].isdigit() else "ranks"
    return f"{noun} {join_words(texts)}"


def place_names(processes: Sequence[ProcessInfo]) -> tuple[str, list[str]] | None:
    """Return "rank" or "worker" and that of each process; None if one has neither.

    Processes of the same rank, as of several jobs or restarts, have their pids, too.
    """
    for head, names in (
        ("rank", ["" if one.member.rank is None else str(one.member.rank) for one in processes]),
        ("worker", [visible(one.member.worker) for one in processes]),
    ):
        if names and all(names):
            often = Counter(names)
            named = zip(processes, names, strict=True)
            return head, [f"{name} ({one.pid})" if often[name] > 1 else name for one, name in named]
    return None


def ranks_by_pid(merged: Merged | None) -> Mapping[int, int]:
    """Return the ranks of a merged run's processes, without pids that several of them have."""
    members = [] if merged is None else [(part.process.pid, part.process.member) for part in merged.processes]
    often = Counter(pid for pid, _ in members)
    return {pid: one.rank for pid, one in members if one.rank is not None and often[pid] == 1}


def thread_places(merged: Merged | None) -> Mapping[int, str]:
    """Return "rank 2" or "worker b" by pid, in the order of a merged run's processes, with their children.

    Pids that several of them have are left out.
    """
    parts = () if merged is None else merged.processes
    found = place_names([part.process for part in parts])
    if found is None:
        return {}
    named = [
        (pid, f"{found[0]} {name}" if pid == part.process.pid else f"{found[0]} {name}, child process {pid}")
        for part, name in zip(parts, found[1], strict=True)
        for pid in (part.process.pid, *part.children)
    ]
    often = Counter(pid for pid, _ in named)
    return {pid: name for pid, name in named if often[pid] == 1}


@dataclass(frozen=True, slots=True)
class JobRow:
    """A job with its runs, newest first."""

    name: str
    infos: tuple[RunInfo, ...]

    @property
    def ranks(self) -> frozenset[int]:
        """The ranks that have runs."""
        return frozenset(rank for info in self.infos if (rank := info.process.member.rank) is not None)

    @property
    def workers(self) -> tuple[str, ...]:
        """The names of workers that have runs."""
        return tuple(
            dict.fromkeys(info.process.member.worker for info in self.infos if info.process.member.worker)
        )

    @property
    def world_size(self) -> int | None:
        """Number of ranks that the job has, if it is known."""
        return max((info.process.member.world_size or 0 for info in self.infos), default=0) or None

    @property
    def processes(self) -> int:
        """Number of processes that have runs."""
        return len({(info.process.host, info.process.pid, info.process.start_ticks) for info in self.infos})

    @property
    def started_ns(self) -> int:
        """Unix time of the first call."""
        return min(info.started_ns for info in self.infos)

    @property
    def recording(self) -> int:
        """Number of runs that are still being recorded."""
        return sum(not info.state.is_final for info in self.infos)


def job_rows(runs: Mapping[str, Sequence[RunInfo]]) -> tuple[JobRow, ...]:
    """Return a row for each job that has runs."""
    return tuple(JobRow(name, tuple(infos)) for name, infos in runs.items() if infos)


def listed_jobs(rows: Sequence[JobRow], _options: ReportOptions = DEFAULTS) -> Document:
    """Yield a table of jobs in their order: name, start, ranks, labels, samples and hosts."""
    yield Table(
        [
            Column("job", cells((short(row.name) for row in rows), Tone.STRONG), Role.WORDS),
            Column("started", cells(moment(row.started_ns)[:19] for row in rows), Role.WORDS, _FOR_SECONDS),
            Column("ranks", [_ranks(row) for row in rows], Role.WORDS),
            Column("samples", cells(count(sum(info.samples for info in row.infos)) for row in rows)),
            Column("labels", cells(listed(info.label for info in row.infos) for row in rows), Role.NAME),
            Column(
                "hosts", cells(listed(info.process.host for info in row.infos) for row in rows), Role.WORDS
            ),
            Column(
                "state",
                [Cell("recording", Tone.WARN) if row.recording else Cell("kept", Tone.FAINT) for row in rows],
                Role.WORDS,
            ),
        ]
    )


def _ranks(row: JobRow) -> Cell:
    """Return the ranks that have runs, else the number of processes; a warning if ranks are missing."""
    if not row.ranks:
        return Cell(count(row.processes, "worker" if row.workers else "process"))
    found = ranks_text(row.ranks).partition(" ")[2]
    if row.world_size is None:
        return Cell(found)
    return Cell(
        f"{found} of {row.world_size:,}", Tone.WARN if len(row.ranks) < row.world_size else Tone.PLAIN
    )
