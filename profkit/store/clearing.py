"""Clear the spool: quarantine damaged files, delete folders that were read, enforce the size limit."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from profkit.clock import SYSTEM_CLOCK, Clock
from profkit.config import SPOOL_LIMIT
from profkit.errors import DamagedFile, ProfkitError, RefusedFile
from profkit.model.session import Dropped, Manifest
from profkit.process.guard import reraise_signal_error
from profkit.store.files import OwnedFolder, open_spool
from profkit.store.journal import Lines, append_records
from profkit.store.records import load_json
from profkit.store.spool import DAMAGED, PACKED, is_live, read_manifest_in
from profkit.units import format_bytes, parse_bytes

_LOCK, PUSHING = ".lock", ".pushing"
"""Locks: of the spool, and of the process that sends its sessions while they are being recorded."""
_REMOVED = ".removed"


@contextmanager
def alone_in(spool: OwnedFolder, *, wait: bool = True, lock: str = _LOCK) -> Iterator[bool]:
    """Hold the spool's lock, or another one in it, which the system releases when this process ends.

    Yields whether it is held: without `wait`, another process may hold it. Raises OSError.
    """
    descriptor = _open_lock(spool, lock)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(descriptor)


def _open_lock(spool: OwnedFolder, lock: str) -> int:
    flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        descriptor = os.open(lock, flags | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=spool.descriptor)
    except FileExistsError:
        descriptor = os.open(lock, flags, dir_fd=spool.descriptor)
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            return descriptor
        os.close(descriptor)
        raise OSError(errno.EINVAL, f"{spool.path / lock} is not a regular file") from None
    if spool.owner != os.geteuid():  # for a collector
        os.fchown(descriptor, spool.owner, -1)
    return descriptor


def set_aside_in(spool: OwnedFolder, name: str, folder: OwnedFolder | None = None) -> Path:
    """Move an entry of the spool, or of a session's folder in it, to `damaged/`, and return its path.

    Its folder there is named after the session or the file, with a number if that name is taken.
    Raises RefusedFile and OSError.
    """
    source = folder or spool
    if (refusal := source.refusal(name)) is not None:
        raise refusal
    whole = source.is_folder(name) and folder is None
    with suppress(FileExistsError):
        os.mkdir(DAMAGED, 0o700, dir_fd=spool.descriptor)
        give_to_owner(spool, DAMAGED)
    with spool.folder(DAMAGED) as damaged:
        holder = _new_folder(damaged, name if folder is None else folder.path.name)
        give_to_owner(damaged, holder)
        if whole:  # rename(2) replaces an empty folder
            os.rename(name, holder, src_dir_fd=source.descriptor, dst_dir_fd=damaged.descriptor)
            return damaged.path / holder
        with damaged.folder(holder) as target:
            os.rename(name, name, src_dir_fd=source.descriptor, dst_dir_fd=target.descriptor)
        return damaged.path / holder / name


def remove_folder(folder: Path) -> None:
    """Delete a session's folder; no reader sees a part of it, and a missing folder is not an error.

    Raises RefusedFile if an entry must not be touched; that entry is left.
    """
    with open_spool(folder.parent, None) as spool:
        refused = remove_folder_in(spool, folder.name)
    if refused:
        raise refused[0]


def remove_folder_in(
    spool: OwnedFolder, name: str, read: OwnedFolder | None = None
) -> tuple[RefusedFile, ...]:
    """Delete a session's folder in an open spool; return the entries that are refused and left.

    `read` is the folder that was read; another folder that has its name by now is refused.
    """
    renamed = f".{name}{_REMOVED}"
    try:
        if (refusal := spool.refusal(name)) is not None:
            return (refusal,)
        os.rename(name, renamed, src_dir_fd=spool.descriptor, dst_dir_fd=spool.descriptor)
    except FileNotFoundError:
        return ()
    return _delete_removed(spool, renamed, read)


def finish_removing(spool: OwnedFolder) -> tuple[RefusedFile, ...]:
    """Delete folders whose removal was interrupted."""
    renamed = [name for name in spool.names() if name[0] == "." and name.endswith(_REMOVED)]
    return tuple(refused for name in renamed for refused in _delete_removed(spool, name))


def _delete_removed(
    spool: OwnedFolder, renamed: str, read: OwnedFolder | None = None
) -> tuple[RefusedFile, ...]:
    """Delete a renamed folder; restore its name if an entry in it is refused."""
    try:
        with spool.folder(renamed) as folder:
            if read is not None and not os.path.sameopenfile(folder.descriptor, read.descriptor):
                raise RefusedFile(folder.path, "it replaced the folder that was read")
            refused = folder.empty()
        if not refused:
            os.rmdir(renamed, dir_fd=spool.descriptor)
            return ()
    except RefusedFile as refusal:
        refused = (refusal,)  # the folder itself
    except FileNotFoundError:
        return ()
    name = renamed.removeprefix(".").removesuffix(_REMOVED)
    os.rename(renamed, name, src_dir_fd=spool.descriptor, dst_dir_fd=spool.descriptor)
    here, there = spool.path / renamed, spool.path / name
    return tuple(RefusedFile(there / file.path.relative_to(here), file.detail) for file in refused)


def _new_folder(parent: OwnedFolder, name: str) -> str:
    number = 1
    while True:
        free = name if number == 1 else f"{name}-{number}"
        try:
            os.mkdir(free, 0o700, dir_fd=parent.descriptor)
        except FileExistsError:
            number += 1
        else:
            return free


def give_to_owner(parent: OwnedFolder, name: str) -> None:
    """Give a new folder to the owner of the spool, if this process is a collector."""
    if parent.owner == os.geteuid():
        return
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY | os.O_NOFOLLOW
    descriptor = os.open(name, flags, dir_fd=parent.descriptor)
    try:
        # The spool's owner could swap it for another folder of ours, which is unlikely to be empty.
        if not os.listdir(descriptor):
            os.fchown(descriptor, parent.owner, -1)
    finally:
        os.close(descriptor)


DROPPED = "dropped.jsonl"
EACH_S = 10.0
"""Minimum time between two size checks, each by a process that starts a session."""

_MARK, _SIZES = ".checked", ".sizes"
_LARGEST_SIZES_BYTES = 64 * 2**20
_SETTLED_NS = 120 * 10**9
"""Time without a change after which a folder is assumed to be finished."""
_BLOCK_BYTES = 512
"""Unit of `st_blocks`."""

_Size = tuple[int, int]
"""Time of a folder's last change, and its size then."""


def keep_within(spool: Path, limit: str, say: Callable[[str], None], clock: Clock = SYSTEM_CLOCK) -> None:
    """Drop the oldest finished sessions of a spool that is larger than its limit, and report them.

    `limit` is a size such as 500MB, or 0 or off for none. Raises only exceptions of the program's signal
    handlers: a spool that cannot be used is reported by the code that writes to it.
    """
    try:
        limit_bytes = parse_limit(limit)
    except ValueError as error:
        limit_bytes = parse_limit(SPOOL_LIMIT)
        say(f"PROFKIT_SPOOL_LIMIT is ignored: {error}; give a size, or 0 for no limit")
    if limit_bytes is None:
        return
    try:
        with open_spool(spool, os.geteuid()) as opened:
            if not _is_due(opened, clock):
                return
            with alone_in(opened, wait=False) as locked:
                if locked:  # else another process is emptying the spool
                    _make_room(opened, limit_bytes, say, clock)
    except (FileNotFoundError, NotADirectoryError):  # there is no spool yet
        return
    except (OSError, ProfkitError) as error:
        reraise_signal_error(error)
        say(f"the size of the spool {spool} could not be checked: {error}")


def parse_limit(text: str) -> int | None:
    """Return a limit in bytes, None for no limit; raises ValueError."""
    if text.strip().lower() in ("off", "no", "none"):
        return None
    return parse_bytes(text) or None


def take_dropped(spool: OwnedFolder) -> tuple[Dropped, ...]:
    """Return and delete the records of dropped sessions; the spool's lock must be held."""
    lines = Lines(spool, DROPPED, Dropped)
    dropped = tuple(lines)
    if not lines.missing and spool.refusal(DROPPED) is None:
        os.unlink(DROPPED, dir_fd=spool.descriptor)
    return dropped


def dropped_message(spool: Path, dropped: Iterable[Dropped]) -> str:
    """Return one sentence that reports dropped sessions and how to avoid that."""
    each = tuple(dropped)
    size, limit = sum(one.size_bytes for one in each), max(one.limit_bytes for one in each)
    one = len(each) == 1
    sessions, were = ("the oldest session", "was") if one else (f"the {len(each)} oldest sessions", "were")
    return (
        f"{sessions} in the spool {spool} ({format_bytes(size)}) {were} deleted unread, because the spool "
        f"exceeded PROFKIT_SPOOL_LIMIT ({format_bytes(limit)}); run `profkit list` more often, or raise the "
        "limit"
    )


def _is_due(spool: OwnedFolder, clock: Clock) -> bool:
    """Return whether a check is due; the caller that gets True must check."""
    now_ns, status = clock.unix_ns(), spool.status(_MARK)
    if status is not None and abs(now_ns - status.st_mtime_ns) < EACH_S * 1e9:
        return False
    flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    descriptor = os.open(_MARK, flags, 0o600, dir_fd=spool.descriptor)
    try:
        os.utime(descriptor, ns=(now_ns, now_ns))
    finally:
        os.close(descriptor)
    return True


def _make_room(spool: OwnedFolder, limit_bytes: int, say: Callable[[str], None], clock: Clock) -> None:
    sizes, files_bytes = _sizes(spool, clock)
    total = sum(sizes.values()) + files_bytes
    dropped: list[Dropped] = []
    windows: list[Dropped] = []
    newest = newest_of_processes(name for name in sizes if not name.endswith(PACKED))
    for name in sorted(sizes):  # ids of sessions begin with their time
        if total <= limit_bytes:
            break
        manifest = None if name.endswith(PACKED) else _finished(spool, name, name in newest)
        if (manifest is None and not name.endswith(PACKED)) or _drop(spool, name):
            continue
        total -= sizes[name]
        is_window = manifest is not None and manifest.plan.window_s is not None
        one = Dropped(name.removesuffix(PACKED), clock.unix_ns(), sizes[name], limit_bytes)
        (windows if is_window else dropped).append(one)
    if windows and has_companion(spool):  # else only the newest windows are to be kept
        dropped += windows
    if dropped:
        append_records(spool.path.resolve() / DROPPED, dropped)
        say(dropped_message(spool.path, dropped))
    if total > limit_bytes:
        limit = format_bytes(limit_bytes)
        say(
            f"the spool {spool.path} exceeds PROFKIT_SPOOL_LIMIT ({limit}), because sessions are still "
            "running; run `profkit list` to keep the finished ones, or raise the limit"
        )


def has_companion(spool: OwnedFolder) -> bool:
    """Return whether a process sends what is in a spool."""
    with alone_in(spool, wait=False, lock=PUSHING) as is_free:
        return not is_free


def _drop(spool: OwnedFolder, name: str) -> tuple[RefusedFile, ...]:
    if not name.endswith(PACKED):
        return remove_folder_in(spool, name)
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=spool.descriptor)
    return ()


def _sizes(spool: OwnedFolder, clock: Clock) -> tuple[dict[str, int], int]:
    """Return the sizes of sessions' folders and packs, and of all other files, without `damaged/`.

    Sizes of unchanged folders come from the last check, since there may be thousands.
    """
    known, current = _known_sizes(spool), {}
    files_bytes = 0
    settled_ns = clock.unix_ns() - _SETTLED_NS
    with os.scandir(spool.descriptor) as entries:
        for entry, status in _there(entries):
            if entry.name.endswith(PACKED) and stat.S_ISREG(status.st_mode) and status.st_uid == spool.owner:
                current[entry.name] = status.st_mtime_ns, status.st_blocks * _BLOCK_BYTES
            elif not stat.S_ISDIR(status.st_mode):
                files_bytes += status.st_blocks * _BLOCK_BYTES
            elif entry.name != DAMAGED and entry.name[0] != "." and status.st_uid == spool.owner:
                changed_ns = status.st_mtime_ns
                found = known.get(entry.name)
                same = found is not None and found[0] == changed_ns and changed_ns < settled_ns
                current[entry.name] = found if same and found else (changed_ns, _size(spool, entry.name))
    if current != known:
        _keep_sizes(spool, current)
    return {name: size for name, (_, size) in current.items()}, files_bytes


def _size(spool: OwnedFolder, name: str) -> int:
    try:
        with spool.folder(name) as folder, os.scandir(folder.descriptor) as entries:
            return sum(status.st_blocks for _, status in _there(entries)) * _BLOCK_BYTES
    except (FileNotFoundError, PermissionError, DamagedFile) as error:  # gone, or not a session's
        reraise_signal_error(error)
        return 0


def _there(entries: Iterable[os.DirEntry[str]]) -> Iterator[tuple[os.DirEntry[str], os.stat_result]]:
    """Yield the entries of a folder with their status, without those that have been removed meanwhile."""
    for entry in entries:
        try:
            status = entry.stat(follow_symlinks=False)
        except FileNotFoundError as error:
            reraise_signal_error(error)
            continue
        yield entry, status


def _known_sizes(spool: OwnedFolder) -> dict[str, _Size]:
    """Return the sizes of the last check; none if they cannot be read."""
    try:
        document = load_json(spool.read(_SIZES, _LARGEST_SIZES_BYTES))
    except (DamagedFile, ValueError, RecursionError) as error:
        reraise_signal_error(error)
        return {}
    if not isinstance(document, dict):
        return {}
    return {
        name: (pair[0], pair[1])
        for name, pair in document.items()
        if isinstance(pair, list) and len(pair) == 2 and all(type(number) is int for number in pair)
    }


def _keep_sizes(spool: OwnedFolder, sizes: Mapping[str, _Size]) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    descriptor = os.open(_SIZES, flags, 0o600, dir_fd=spool.descriptor)
    with os.fdopen(descriptor, "wb") as file:
        file.write(json.dumps(sizes).encode("ascii"))


def _finished(spool: OwnedFolder, name: str, is_newest: bool) -> Manifest | None:
    """Return the manifest of a session that gets no more data; None of others."""
    try:
        with spool.folder(name) as folder:
            manifest = read_manifest_in(folder)
            return manifest if gets_no_more(manifest, folder, is_newest) else None
    except (FileNotFoundError, DamagedFile) as error:  # a command sets damaged files aside
        reraise_signal_error(error)
        return None


def gets_no_more(manifest: Manifest, folder: OwnedFolder, is_newest: bool) -> bool:
    """Return whether a session gets no more data; a live process may still write to its newest one."""
    return not is_live(manifest, folder) or (manifest.ended_ns is not None and not is_newest)


def newest_of_processes(sessions: Iterable[str]) -> frozenset[str]:
    """Return the newest session of each process, of sessions by their names."""
    return frozenset({_process(name): name for name in sorted(sessions)}.values())


def _process(name: str) -> str:
    return name.split("-")[1] if name.count("-") == 2 else name
