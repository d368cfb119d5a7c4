"""Checks of the places of files: the spool, the store, temporary files, and the space on their disks."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from profkit.config import SPOOL_LIMIT, Config, is_nowhere
from profkit.doctor.system import SystemFacts, can_use_home, nearest_folder, write_problem
from profkit.errors import SpoolUnavailable, StoreUnavailable
from profkit.model.checkup import Check, Group, Status
from profkit.store.clearing import parse_limit
from profkit.store.database import inspect_database
from profkit.store.files import open_spool
from profkit.store.spool import DAMAGED
from profkit.units import format_bytes

_GROUP = Group.STORAGE
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


def storage_checks(config: Config, system: SystemFacts) -> tuple[Check, ...]:
    """Return the checks of the spool, the store, temporary files and the disks; creates nothing."""
    return (
        spool_check(config), store_check(config), temporary_check(system),
        *(disk_check(folder, free, total) for folder, free, total in disks_of(config)),
    )  # fmt: skip


def spool_check(config: Config, environ: Mapping[str, str] = os.environ) -> Check:
    """Return the check of the spool."""
    path = config.spool
    problem = _spool_problem(path, os.geteuid() if config.owner is None else config.owner)
    if problem is not None:
        message, cost = str(problem).partition(f"; {problem.fix}")[0], "programs run unprofiled"
        other = _OTHER_SPOOL if can_use_home(environ) else _ANY_SPOOL
        fix = other if "PROFKIT_SPOOL" in problem.fix else problem.fix
        return Check(_GROUP, "spool", Status.FAILED, message, cost, fix)
    try:
        limit = parse_limit(config.spool_limit)
    except ValueError as error:
        found = f"{path}, writable; PROFKIT_SPOOL_LIMIT is ignored: {error}"
        cost = f"the default limit of {SPOOL_LIMIT} applies"
        return Check(_GROUP, "spool", Status.SHORTFALL, found, cost, "unset PROFKIT_SPOOL_LIMIT")
    if not os.path.exists(path):
        return Check(_GROUP, "spool", Status.OK, f"{path} does not exist, and can be created")
    return _contents_check(path, limit)


def _contents_check(path: Path, limit: int | None) -> Check:
    size = sum(_sizes(path))
    of_limit = ", no limit" if limit is None else f" of {format_bytes(limit)}"
    found = f"{path}, writable, {format_bytes(size)}{of_limit}"
    if limit is not None and size > _FULL * limit:
        cost = "the oldest finished sessions are deleted unread above the limit"
        return Check(_GROUP, "spool", Status.SHORTFALL, found, cost, "profkit list")
    with suppress(FileNotFoundError, NotADirectoryError, PermissionError):
        if os.listdir(path / DAMAGED):
            found, cost = f"{found}, damaged files", "the runs of damaged files are missing in part"
            return Check(_GROUP, "spool", Status.SHORTFALL, found, cost, f"ls -R {path / DAMAGED}")
    return Check(_GROUP, "spool", Status.OK, found)


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


def store_check(config: Config, environ: Mapping[str, str] = os.environ) -> Check:
    """Return the check of the store."""
    url = config.store_url
    path = Path(url.removeprefix(_SQLITE))
    if url.startswith(_SQLITE) and not os.path.exists(path):
        detail = write_problem(path.parent)
        if detail is None:
            return Check(_GROUP, "store", Status.OK, f"{url} does not exist, and can be created")
        return _no_store(url, detail, environ)
    try:
        schema = inspect_database(url)
    except StoreUnavailable as problem:
        return _no_store(problem.url, problem.detail, environ)
    state = f", schema {schema.applied[-1]!r}" if schema.applied else ""
    if schema.missing:
        state = f"; the next command applies {', '.join(schema.missing)!r}"
    return Check(_GROUP, "store", Status.OK, f"{schema.name}, writable{state}")


def _no_store(name: str, problem: str, environ: Mapping[str, str]) -> Check:
    # A fix in the problem, such as the driver to install, is better than another store.
    detail, _, fix = problem.partition("; ")
    fix = fix or (_OTHER_STORE if can_use_home(environ) else _ANY_STORE)
    cost = "runs stay in the spool, and no report can be made"
    return Check(_GROUP, "store", Status.FAILED, f"{name}: {detail}", cost, fix)


def temporary_check(system: SystemFacts) -> Check:
    """Return the check of the folder for temporary files."""
    try:
        return Check(_GROUP, "temporary files", Status.OK, f"{tempfile.gettempdir()}, writable")
    except OSError as error:
        found = error.strerror or str(error)
    cost = "no instruction counts (--mode callgrind), and samplers are not tried if the spool fails, too"
    return Check(_GROUP, "temporary files", Status.SHORTFALL, found, cost, other_temporary(system))


def other_temporary(system: SystemFacts) -> str:
    """Return how to get a folder for temporary files."""
    return system.container.run_with("--tmpfs /tmp") or "set TMPDIR to a folder that you can write to"


def disks_of(config: Config) -> list[tuple[Path, int, int]]:
    """Return a folder, the free and the total bytes of each disk with a spool, store or temporary files."""
    places = [config.spool]
    with suppress(OSError):
        places.append(Path(tempfile.gettempdir()))
    if config.store_url.startswith(_SQLITE):
        places.append(Path(config.store_url.removeprefix(_SQLITE)).parent)
    found: dict[int, tuple[Path, int, int]] = {}
    for folder in (nearest_folder(place) for place in places if not is_nowhere(place)):
        with suppress(OSError):  # such as a network disk that does not answer
            space = os.statvfs(folder)
            free_bytes, total_bytes = space.f_bavail * space.f_frsize, space.f_blocks * space.f_frsize
            if total_bytes:  # else it is not a disk, such as /proc
                found.setdefault(os.stat(folder).st_dev, (folder, free_bytes, total_bytes))
    return list(found.values())


def disk_check(folder: Path, free_bytes: int, total_bytes: int) -> Check:
    """Return the check of the free space on a disk."""
    found = f"{format_bytes(free_bytes)} free of {format_bytes(total_bytes)} at {folder}"
    if free_bytes >= _LITTLE_BYTES:
        return Check(_GROUP, "disk", Status.OK, found)
    cost = "sessions end, and runs are not kept, when the disk is full"
    return Check(_GROUP, "disk", Status.SHORTFALL, found, cost, "profkit gc --older-than 7d")


def _sizes(folder: Path) -> Iterator[int]:
    """Yield the sizes on disk of the files in a spool, without damaged ones, which do not count."""
    with suppress(FileNotFoundError, NotADirectoryError, PermissionError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from () if entry.name == DAMAGED else _sizes(Path(entry.path))
            else:
                with suppress(FileNotFoundError):
                    yield entry.stat(follow_symlinks=False).st_blocks * _BLOCK_BYTES
