"""The rows of a merged run's processes: what each did, and the functions whose shares differ between them."""

from __future__ import annotations

from dataclasses import dataclass

from profkit.model.run import FunctionPart, Merged
from profkit.render.words import count, percent


@dataclass(frozen=True, slots=True)
class ProcessRow:
    """A process; `share` is its part of all samples, or of their time."""

    share: float
    samples: int
    calls: int
    runs: int
    cpu_share: float | None
    peak_rss_bytes: int
    started_ns: int
    """Unix time of its first call."""
    pid: int
    host: str


@dataclass(frozen=True, slots=True)
class ProcessShare:
    """A function's part of one process."""

    pid: int
    host: str
    share: float
    samples: int
    """All samples of the process."""
    differs: bool
    """Significantly from its part of all other processes together."""


@dataclass(frozen=True, slots=True)
class DifferingRow:
    """A function whose share differs; shares are of the function with the library calls it makes."""

    name: str
    file: str
    line: int
    share: float
    """In all processes together."""
    processes: tuple[ProcessShare, ...]
    """In the order of the processes' rows."""

    @property
    def odd(self) -> tuple[ProcessShare, ...]:
        """The processes that differ, those that differ most first."""
        found = [process for process in self.processes if process.differs]
        return tuple(sorted(found, key=lambda process: -abs(process.share - self.share)))


def process_rows(merged: Merged) -> tuple[ProcessRow, ...]:
    """Return a row for each process, the heaviest first."""
    total = sum(part.weight for part in merged.processes)
    return tuple(
        ProcessRow(
            share=part.weight / total if total else 0.0,
            samples=part.samples,
            calls=part.calls,
            runs=part.runs,
            cpu_share=part.cpu_share,
            peak_rss_bytes=part.peak_rss_bytes,
            started_ns=part.started_ns,
            pid=part.process.pid,
            host=part.process.host,
        )
        for part in merged.processes
    )


def differing_rows(merged: Merged) -> tuple[DifferingRow, ...]:
    """Return the functions whose shares differ between processes, the heaviest first."""
    total = sum(part.weight for part in merged.processes)
    return tuple(
        DifferingRow(row.name, row.file, row.line, row.weight / total if total else 0.0, _shares(row, merged))
        for row in merged.functions
    )


def odd_words(row: DifferingRow, most: int) -> str:
    """Say in which processes the share differs: `90 % in 4242, 2 % in 4250`."""
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
