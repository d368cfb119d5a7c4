"""What grows with the samples of a rank, and with the ranks of a job: bytes, processor time, memory.

Sessions are generated, with stacks of their own in each rank. They are sent to a folder, kept in a store in
SQLite, and reported as text and as a page, by whole commands.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.children import caching_environment, environment
from benchmarks.figures import Figure
from benchmarks.made_sessions import RANKS_OF_HOST
from benchmarks.report_commands import Taken, taken_by

_SAMPLES = (200, 2_000, 20_000)
_RANKS = (8, 64, 512)
_SAMPLES_OF_RANK = 2_000


def measure(quick: bool) -> list[Figure]:
    """Measure the bytes of one rank by its samples, then commands by the ranks of a job."""
    ranks = _RANKS[:1] if quick else _RANKS
    return [
        *(figure for samples in _SAMPLES for figure in _of_samples(samples)),
        *(figure for number in ranks for figure in _of_ranks(number)),
    ]


def _of_samples(samples: int) -> Iterator[Figure]:
    places = _Places(f"samples-{samples}", RANKS_OF_HOST, samples)
    what = f"{samples} samples: a rank's"
    yield _bytes(f"{what} session", places.spool, RANKS_OF_HOST)
    places.run("push", "--to", str(places.shared))
    yield _bytes(f"{what} file in a folder", places.shared, RANKS_OF_HOST)
    places.read("list")
    yield _bytes(f"{what} run in the store", places.store, RANKS_OF_HOST)


def _of_ranks(ranks: int) -> Iterator[Figure]:
    places = _Places(f"ranks-{ranks}", ranks, _SAMPLES_OF_RANK)
    yield from _costs(f"{ranks} ranks, push", places.run("push", "--to", str(places.shared)))
    yield from _costs(f"{ranks} ranks, first command that reads them", places.read("list", "--limit", "1"))
    yield _bytes(f"{ranks} ranks: store", places.store)
    yield from _costs(f"{ranks} ranks, report", places.read("report", "--job"))
    page = places.folder / "job.html"
    yield from _costs(f"{ranks} ranks, page", places.read("report", "--job", "-o", str(page)))
    yield _bytes(f"{ranks} ranks: page", page)


class _Places:
    """The spool of a job's ranks, a folder to send to, and the store of whoever reads that."""

    def __init__(self, name: str, ranks: int, samples: int) -> None:
        self.folder = Path(name).resolve()
        self.spool, self.shared, self.store = (self.folder / name for name in ("spool", "shared", "runs.db"))
        self.folder.mkdir()
        # In a separate process: this one's peak memory would count for its children, too.
        making = ["-m", "benchmarks.made_sessions", str(self.spool), str(ranks), str(samples)]
        subprocess.run([sys.executable, *making], env=environment(), check=True)

    def run(self, *arguments: str) -> Taken:
        """Run a command where the ranks have run."""
        return self._taken(arguments, {"PROFKIT_SPOOL": str(self.spool)})

    def read(self, *arguments: str) -> Taken:
        """Run a command of whoever reads what was sent."""
        return self._taken(arguments, {"PROFKIT_SPOOL": str(self.shared)})

    def _taken(self, arguments: Sequence[str], places: Mapping[str, str]) -> Taken:
        command = [sys.executable, "-m", "profkit", *arguments]
        store = {"PROFKIT_STORE": f"sqlite:///{self.store}", "PROFKIT_SPOOL_LIMIT": "0"}
        return taken_by(command, {**caching_environment(Path("compiled").resolve()), **store, **places})


def _costs(what: str, taken: Taken) -> Iterator[Figure]:
    yield Figure(f"{what}: processor time", taken.cpu_s, "s")
    yield Figure(f"{what}: peak memory", taken.peak_bytes / 1e6, "MB")


def _bytes(what: str, path: Path, ranks: int = 1) -> Figure:
    """Return the size of a file, or of all files below a folder, as the part of one of its ranks."""
    files = [path] if path.is_file() else [one for one in path.rglob("*") if one.is_file()]
    return Figure(what, sum(os.stat(file).st_size for file in files) / ranks / 1e3, "kB", certain=True)
