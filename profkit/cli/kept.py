"""The runs that commands work on: those in the store, after what is finished was ingested, and those
that are still being recorded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from profkit.cli.output import tell
from profkit.config import Config
from profkit.errors import DamagedFile, RunNotFound, StoreEmpty, UsageError
from profkit.model.run import Run, RunInfo

if TYPE_CHECKING:
    from profkit.store.runs import Store

_SQLITE = "sqlite:///"
_MEANT_BY_PREFIX = 2


@dataclass(frozen=True, slots=True)
class Kept:
    """The open store, the runs that are being recorded, and what was found damaged on the way."""

    store: Store
    recording: tuple[Run, ...]
    damaged: tuple[DamagedFile, ...]

    def find(self, wanted: str | None) -> RunInfo:
        """The run that is meant, kept or being recorded: by id, else the newest of a label, else by how
        its id begins; None means the newest of all.

        Raises RunNotFound, and UsageError where several ids begin so.
        """
        live = [run.info for run in self.recording if _rank(run.info, wanted) is not None]
        try:
            found = [*live, self.store.find(wanted)]
        except RunNotFound:
            if not live:
                raise
            found = live
        return _meant(found, wanted)

    def load(self, info: RunInfo) -> Run:
        """The run with its samples."""
        live = [run for run in self.recording if run.info.id == info.id]
        return live[0] if live else self.store.load(info.id)

    def runs(self, label: str | None, limit: int | None) -> tuple[RunInfo, ...]:
        """What is being recorded, then what is kept, newest first."""
        live = [run.info for run in self.recording if label in (None, run.info.label)]
        live.sort(key=lambda info: -info.started_ns)
        return (*live, *self.store.runs(label, limit))[:limit]


@contextmanager
def open_kept(config: Config) -> Iterator[Kept]:
    """Ingest what is finished and open the store; at the end say what was damaged.

    Raises StoreEmpty where nothing was ever recorded, and leaves no file behind then; StoreUnavailable;
    DamagedFile instead of RunNotFound where what was asked for may have been in a damaged file.
    """
    if nothing_recorded(config):
        raise StoreEmpty(config.store_url, config.spool)
    from profkit.ingest.keep import ingest
    from profkit.store.runs import open_store

    with open_store(config.store_url) as store:
        report = ingest(config.spool, store)
        recording = tuple(run for folder in report.recording for run in folder.runs)
        untold = list(report.damaged)
        try:
            yield Kept(store, recording, report.damaged)
        except RunNotFound as missing:
            if not untold:
                raise
            raise untold.pop(0) from missing
        except DamagedFile as told:
            untold = [damage for damage in untold if damage is not told]
            raise
        finally:
            for damage in untold:
                tell("warning", str(damage))


def nothing_recorded(config: Config) -> bool:
    """Whether there is neither a database nor a session; looking leaves no file behind."""
    from profkit.store.spool import session_folders

    database = config.store_url.removeprefix(_SQLITE)
    file_missing = database != config.store_url and not Path(database).exists()
    return file_missing and not session_folders(config.spool)


def _rank(info: RunInfo, wanted: str | None) -> int | None:
    """How well a run fits what is wanted, 0 best; None: it does not."""
    if wanted is None or info.id == wanted:
        return 0
    if info.label == wanted:
        return 1
    return _MEANT_BY_PREFIX if info.id.startswith(wanted) else None


def _meant(found: Sequence[RunInfo], wanted: str | None) -> RunInfo:
    ranked = [(_rank(info, wanted) or 0, info) for info in found]
    best = min(rank for rank, _ in ranked)
    fitting = [info for rank, info in ranked if rank == best]
    if best == _MEANT_BY_PREFIX and len(fitting) > 1:
        known = ", ".join(f"{info.id} ({info.label})" for info in fitting)
        raise UsageError(f"several runs have ids that begin with {wanted!r}: {known}", "give more digits")
    return max(fitting, key=lambda info: info.started_ns)
