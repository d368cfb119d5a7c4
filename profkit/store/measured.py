"""Runs in the spool: one file each, written atomically.

A measured run is `SPOOL/ID.measured.json`; one that another store has sent is `SPOOL/ID.runs.json`, which
`run_files` reads and writes.
"""

from __future__ import annotations

from pathlib import Path

from profkit.model.measurement import MeasuredRun
from profkit.store.files import OwnedFolder, own_file
from profkit.store.records import (
    UNFINISHED,
    read_document,
    write_document,
)

SCHEMA = "profkit.measured/1"
"""Schema of a measured run, in the spool and in the store."""

_SUFFIX = ".measured.json"
SENT_SUFFIX = ".runs.json"


def keep_measured(spool: Path, run: MeasuredRun) -> Path:
    """Write a run into the spool, which is created if missing; raises OSError if that fails."""
    path = own_file(spool, f"{run.info.id}{_SUFFIX}")
    write_document(path, SCHEMA, run)
    return path


def measured_files(spool: Path) -> tuple[Path, ...]:
    """Return the files of all measured runs, by name; none if there is no spool."""
    return tuple(sorted(spool.glob(f"*{_SUFFIX}")))


def run_names(spool: OwnedFolder) -> tuple[str, ...]:
    """Return the names of the files of all measured and sent runs in an open spool, sorted."""
    return tuple(filter(is_run_name, spool.names()))


def is_run_name(name: str) -> bool:
    """Return whether this is the name of the file of a measured or sent run."""
    return name.endswith((_SUFFIX, SENT_SUFFIX))


def unfinished_names(spool: OwnedFolder) -> tuple[str, ...]:
    """Return the names of files of runs that are being written, or whose writer ended too early."""
    return tuple(name for name in spool.names() if name.endswith(f"{_SUFFIX}{UNFINISHED}"))


def read_measured(spool: OwnedFolder, name: str) -> MeasuredRun:
    """Return the run in a file of an open spool; raises DamagedFile, and OSError if a retry may help."""
    return read_document(spool, name, SCHEMA, MeasuredRun)
