"""Checks of the places of files: the spool, the store, temporary files, and the space on their disks."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from profkit.config import SPOOL_LIMIT, Config, is_nowhere
from profkit.doctor.places import can_use_home, nearest_folder, write_problem
from profkit.doctor.system import SystemFacts
from profkit.errors import SpoolUnavailable, StoreUnavailable
from profkit.model.checkup import Check, Group, Status
from profkit.store.clearing import parse_limit
from profkit.store.database import SchemaState, inspect_database
from profkit.store.files import open_spool
from profkit.store.spool import DAMAGED
from profkit.units import format_bytes

_SQLITE = "sqlite:///"
_OTHER_SPOOL = "export PROFKIT_SPOOL=$HOME/.profkit/spool"
_ANY_SPOOL = "set PROFKIT_SPOOL to a folder that you can write to"
_OTHER_STORE = "export PROFKIT_STORE=sqlite:///$HOME/.profkit/runs.db"
_ANY_STORE = "set PROFKIT_STORE to sqlite:////FOLDER/runs.db, with a folder that you can write to"
_FULL = 0.8
"""Share of the spool's limit above which it is a shortfall."""
_LITTLE_BYTES = 2**30
"""Free space below which a disk is a shortfall: the default limit of a spool."""
_BLOCK_BYTES = 512
"""Unit of `st_blocks`."""


@dataclass(frozen=True, slots=True)
class SpoolFacts:
    """Facts about the spool."""

    path: Path
    size_bytes: int = 0
    limit_bytes: int | None = None
    damaged: int = 0
    """Number of entries in its folder of damaged files."""
    exists: bool = True
    ignored_limit: str = ""
    """Why PROFKIT_SPOOL_LIMIT is ignored."""
    problem: SpoolUnavailable | None = None
    """Why it cannot be written, or created."""
    has_home: bool = True
    """True if it could be in the user's home folder instead."""


@dataclass(frozen=True, slots=True)
class StoreFacts:
    """Facts about the store; without a schema it does not exist, but can be created."""

    name: str
    schema: SchemaState | None = None
    problem: StoreUnavailable | None = None
    has_home: bool = True
    """True if it could be in the user's home folder instead."""


@dataclass(frozen=True, slots=True)
class TemporaryFacts:
    """Facts about the folder of temporary files."""

    folder: Path | None
    """None if no such folder can be written."""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class DiskFacts:
    """Free space on the disk of a folder."""

    folder: Path
    free_bytes: int
    total_bytes: int


def spool_facts(config: Config, environ: Mapping[str, str] = os.environ) -> SpoolFacts:
    """Return the facts of the spool; a spool that does not exist is not created."""
    path = config.spool
    problem = _spool_problem(path, os.geteuid() if config.owner is None else config.owner)
    if problem is not None:
        return SpoolFacts(path, problem=problem, has_home=can_use_home(environ))
    ignored = ""
    try:
        limit_bytes = parse_limit(config.spool_limit)
    except ValueError as error:
        limit_bytes, ignored = parse_limit(SPOOL_LIMIT), str(error)
    return SpoolFacts(
        path,
        size_bytes=sum(_sizes(path)),
        limit_bytes=limit_bytes,
        damaged=_number_of_entries(path / DAMAGED),
        exists=os.path.exists(path),
        ignored_limit=ignored,
    )


def _spool_problem(path: Path, owner: int) -> SpoolUnavailable | None:
    detail = write_problem(path)
    if detail is not None:
        return SpoolUnavailable(path, detail)
    try:
        if os.path.exists(path):
            with open_spool(path, owner):
                return None
    except OSError as error:
        return SpoolUnavailable(path, error.strerror or str(error))
    except SpoolUnavailable as problem:
        return problem
    return None


def store_facts(config: Config, environ: Mapping[str, str] = os.environ) -> StoreFacts:
    """Return the facts of the store; a SQLite file that does not exist is not created."""
    url = config.store_url
    path = Path(url.removeprefix(_SQLITE))
    if url.startswith(_SQLITE) and not os.path.exists(path):
        detail = write_problem(path.parent)
        if detail is None:
            return StoreFacts(url)
        return StoreFacts(url, problem=StoreUnavailable(url, detail), has_home=can_use_home(environ))
    try:
        schema = inspect_database(url)
    except StoreUnavailable as problem:
        return StoreFacts(problem.url, problem=problem, has_home=can_use_home(environ))
    return StoreFacts(schema.name, schema)


def temporary_facts() -> TemporaryFacts:
    """Return the facts of temporary files."""
    try:
        return TemporaryFacts(Path(tempfile.gettempdir()))
    except OSError as error:
        return TemporaryFacts(None, error.strerror or str(error))


def disk_facts(config: Config, temporary: TemporaryFacts) -> tuple[DiskFacts, ...]:
    """Return the facts of the disks of the spool, the store and temporary files, each once."""
    places = [config.spool] if temporary.folder is None else [config.spool, temporary.folder]
    if config.store_url.startswith(_SQLITE):
        places.append(Path(config.store_url.removeprefix(_SQLITE)).parent)
    found: dict[int, DiskFacts] = {}
    for folder in (nearest_folder(place) for place in places if not is_nowhere(place)):
        with suppress(OSError):  # such as a network disk that does not answer
            space = os.statvfs(folder)
            free_bytes, total_bytes = space.f_bavail * space.f_frsize, space.f_blocks * space.f_frsize
            if total_bytes:  # else it is not a disk, such as /proc
                found.setdefault(os.stat(folder).st_dev, DiskFacts(folder, free_bytes, total_bytes))
    return tuple(found.values())


def storage_checks(
    spool: SpoolFacts,
    store: StoreFacts,
    temporary: TemporaryFacts,
    disks: tuple[DiskFacts, ...],
    system: SystemFacts,
) -> tuple[Check, ...]:
    """Return the checks of the spool, the store, temporary files and the disks."""
    places = _spool_check(spool), _store_check(store), _temporary_check(temporary, system)
    return *places, *(_disk_check(disk) for disk in disks)


def other_temporary(system: SystemFacts) -> str:
    """Return how to get a folder for temporary files."""
    return system.container.run_with("--tmpfs /tmp") or "set TMPDIR to a folder that you can write to"


def _spool_check(facts: SpoolFacts) -> Check:
    if facts.problem is not None:
        message, cost = str(facts.problem).partition(f"; {facts.problem.fix}")[0], "programs run unprofiled"
        other = _OTHER_SPOOL if facts.has_home else _ANY_SPOOL
        fix = other if "PROFKIT_SPOOL" in facts.problem.fix else facts.problem.fix
        return Check(Group.STORAGE, "spool", Status.FAILED, message, cost, fix)
    if facts.ignored_limit:
        found = f"{facts.path}, writable; PROFKIT_SPOOL_LIMIT is ignored: {facts.ignored_limit}"
        cost = f"the default limit of {SPOOL_LIMIT} applies"
        return Check(Group.STORAGE, "spool", Status.SHORTFALL, found, cost, "unset PROFKIT_SPOOL_LIMIT")
    if not facts.exists:
        return Check(Group.STORAGE, "spool", Status.OK, f"{facts.path} does not exist, and can be created")
    size, limit = format_bytes(facts.size_bytes), facts.limit_bytes
    of_limit = f"{size}, no limit" if limit is None else f"{size} of {format_bytes(limit)}"
    found = f"{facts.path}, writable, {of_limit}"
    if limit is not None and facts.size_bytes > _FULL * limit:
        cost = "the oldest finished sessions are deleted unread above the limit"
        return Check(Group.STORAGE, "spool", Status.SHORTFALL, found, cost, "profkit list")
    if facts.damaged:
        cost = "the runs of damaged files are missing in part"
        fix = f"ls -R {facts.path / DAMAGED}"
        return Check(Group.STORAGE, "spool", Status.SHORTFALL, f"{found}, damaged files", cost, fix)
    return Check(Group.STORAGE, "spool", Status.OK, found)


def _store_check(facts: StoreFacts) -> Check:
    if facts.problem is not None:
        # A fix in the detail, such as the driver to install, is better than another store.
        detail, _, fix = facts.problem.detail.partition("; ")
        cost = "runs stay in the spool, and no report can be made"
        found = f"{facts.name}: {detail}"
        fix = fix or (_OTHER_STORE if facts.has_home else _ANY_STORE)
        return Check(Group.STORAGE, "store", Status.FAILED, found, cost, fix)
    if facts.schema is None:
        return Check(Group.STORAGE, "store", Status.OK, f"{facts.name} does not exist, and can be created")
    if facts.schema.missing:
        steps = ", ".join(facts.schema.missing)
        found = f"{facts.name}, writable; the next command applies {steps!r}"
        return Check(Group.STORAGE, "store", Status.OK, found)
    newest = facts.schema.applied[-1]
    return Check(Group.STORAGE, "store", Status.OK, f"{facts.name}, writable, schema {newest!r}")


def _temporary_check(facts: TemporaryFacts, system: SystemFacts) -> Check:
    if facts.folder is not None:
        return Check(Group.STORAGE, "temporary files", Status.OK, f"{facts.folder}, writable")
    cost = "no instruction counts (--mode callgrind), and samplers are not tried if the spool fails, too"
    fix = other_temporary(system)
    return Check(Group.STORAGE, "temporary files", Status.SHORTFALL, facts.problem, cost, fix)


def _disk_check(facts: DiskFacts) -> Check:
    found = f"{format_bytes(facts.free_bytes)} free of {format_bytes(facts.total_bytes)} at {facts.folder}"
    if facts.free_bytes >= _LITTLE_BYTES:
        return Check(Group.STORAGE, "disk", Status.OK, found)
    cost = "sessions end, and runs are not kept, when the disk is full"
    return Check(Group.STORAGE, "disk", Status.SHORTFALL, found, cost, "profkit gc --older-than 7d")


def _sizes(folder: Path) -> Iterator[int]:
    """Yield the sizes on disk of the files in a spool, without damaged ones, which do not count."""
    with suppress(FileNotFoundError, NotADirectoryError, PermissionError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from () if entry.name == DAMAGED else _sizes(Path(entry.path))
            else:
                with suppress(FileNotFoundError):
                    yield entry.stat(follow_symlinks=False).st_blocks * _BLOCK_BYTES


def _number_of_entries(folder: Path) -> int:
    try:
        return len(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return 0
