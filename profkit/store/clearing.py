"""Sessions leave the spool: damaged files are set aside, folders that were read are deleted.

Everything is done through descriptors, so that a link that is swapped in is never followed, see `owned`.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from profkit.errors import RefusedFile
from profkit.store.owned import OwnedFolder, open_spool
from profkit.store.spool import DAMAGED

_LOCK = ".lock"
_REMOVED = ".removed"


@contextmanager
def alone_in(spool: OwnedFolder, *, wait: bool = True) -> Iterator[bool]:
    """Hold the spool's lock, which the system lets go when this process ends.

    Yields whether it is held: without `wait`, another process may have it. Raises OSError.
    """
    descriptor = _open_lock(spool)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(descriptor)


def _open_lock(spool: OwnedFolder) -> int:
    flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        descriptor = os.open(_LOCK, flags | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=spool.descriptor)
    except FileExistsError:
        descriptor = os.open(_LOCK, flags, dir_fd=spool.descriptor)
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            return descriptor
        os.close(descriptor)
        raise OSError(errno.EINVAL, f"{spool.path / _LOCK} is no regular file") from None
    if spool.owner != os.geteuid():  # a collector's
        os.fchown(descriptor, spool.owner, -1)
    return descriptor


def set_aside(spool: Path, path: Path) -> Path:
    """Move a session's folder, a file in one, or a measured run's file to where nobody reads it again.

    Returns where it is now. Raises RefusedFile and OSError.
    """
    with open_spool(spool, None) as opened:
        if path.parent == spool:
            return set_aside_in(opened, path.name)
        with opened.folder(path.parent.name) as folder:
            return set_aside_in(opened, path.name, folder)


def set_aside_in(spool: OwnedFolder, name: str, folder: OwnedFolder | None = None) -> Path:
    """Move an entry of the spool, or of a session's folder in it, to `damaged/`, and return where it is.

    The place has the name of the session or of the file, with a number if there is such a place already.
    Raises RefusedFile and OSError.
    """
    source = folder or spool
    if (refusal := source.refusal(name)) is not None:
        raise refusal
    whole = source.is_folder(name) and folder is None
    with suppress(FileExistsError):
        os.mkdir(DAMAGED, 0o700, dir_fd=spool.descriptor)
        _give(spool, DAMAGED)
    with spool.folder(DAMAGED) as damaged:
        holder = _new_folder(damaged, name if folder is None else folder.path.name)
        _give(damaged, holder)
        if whole:  # rename(2) puts a folder in the place of an empty one
            os.rename(name, holder, src_dir_fd=source.descriptor, dst_dir_fd=damaged.descriptor)
            return damaged.path / holder
        with damaged.folder(holder) as place:
            os.rename(name, name, src_dir_fd=source.descriptor, dst_dir_fd=place.descriptor)
        return damaged.path / holder / name


def remove_folder(folder: Path) -> None:
    """Delete a session's folder; no reader ever sees half of it, and a folder that is gone is no error.

    Raises RefusedFile if something in it must not be touched; then that is left.
    """
    with open_spool(folder.parent, None) as spool:
        refused = remove_folder_in(spool, folder.name)
    if refused:
        raise refused[0]


def remove_folder_in(
    spool: OwnedFolder, name: str, read: OwnedFolder | None = None
) -> tuple[RefusedFile, ...]:
    """Delete a session's folder in an open spool, but for what is refused, which is returned.

    `read` is the folder that was read: another one that has its name by now is refused.
    """
    doomed = f".{name}{_REMOVED}"
    try:
        if (refusal := spool.refusal(name)) is not None:
            return (refusal,)
        os.rename(name, doomed, src_dir_fd=spool.descriptor, dst_dir_fd=spool.descriptor)
    except FileNotFoundError:
        return ()
    return _delete_removed(spool, doomed, read)


def finish_removing(spool: OwnedFolder) -> tuple[RefusedFile, ...]:
    """Delete folders whose removal was interrupted."""
    doomed = [name for name in spool.names() if name[0] == "." and name.endswith(_REMOVED)]
    return tuple(refused for name in doomed for refused in _delete_removed(spool, name))


def _delete_removed(
    spool: OwnedFolder, doomed: str, read: OwnedFolder | None = None
) -> tuple[RefusedFile, ...]:
    """Delete a renamed folder; it gets its name back if something in it is refused."""
    try:
        with spool.folder(doomed) as held:
            if read is not None and not os.path.samestat(held.identity(), read.identity()):
                raise RefusedFile(held.path, "it took the place of the folder that was read")
            refused = held.empty()
        if not refused:
            os.rmdir(doomed, dir_fd=spool.descriptor)
            return ()
    except RefusedFile as refusal:
        refused = (refusal,)  # the folder itself
    except FileNotFoundError:
        return ()
    name = doomed.removeprefix(".").removesuffix(_REMOVED)
    os.rename(doomed, name, src_dir_fd=spool.descriptor, dst_dir_fd=spool.descriptor)
    here, there = spool.path / doomed, spool.path / name
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


def _give(parent: OwnedFolder, name: str) -> None:
    """Have a new folder belong to the owner of the spool, which a collector is not."""
    if parent.owner == os.geteuid():
        return
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY | os.O_NOFOLLOW
    descriptor = os.open(name, flags, dir_fd=parent.descriptor)
    try:
        # The owner of the spool could swap it for another folder of ours, which is hardly empty.
        if not os.listdir(descriptor):
            os.fchown(descriptor, parent.owner, -1)
    finally:
        os.close(descriptor)
