"""Folders and files of one user: creation, permissions (`PROFKIT_FILES`), access through descriptors."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from profkit.config import HOME, NO_FOLDER, is_nowhere
from profkit.errors import DamagedFile, RefusedFile, SpoolUnavailable, StoreUnavailable

_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC


def make_folder(folder: Path) -> None:
    """Make a folder and its parents, for their owner alone; keep a `.profkit` folder out of git.

    Raises OSError if that fails, as `check_place`.
    """
    if is_nowhere(folder):
        raise OSError(errno.ENOENT, NO_FOLDER)
    check_place(folder, os.geteuid())
    _make(folder)
    for home in _homes(folder):
        _ignore(home / ".gitignore")


def _homes(folder: Path) -> list[Path]:
    return [home for home in (folder, *folder.parents) if home.name == HOME]


def check_link(path: Path, owner: int) -> None:
    """Raise PermissionError if a path is a link that neither its owner nor root has made."""
    if path.is_symlink() and os.lstat(path).st_uid not in (0, owner):
        raise PermissionError(errno.EPERM, "it is a link of another user's", str(path))


def check_place(folder: Path, owner: int) -> None:
    """Raise PermissionError if others can put something else in the place of a folder of profkit's.

    They can if one of them made a link to it, or can change a `.profkit` above it. With PROFKIT_FILES=umask,
    nothing is checked: such folders are shared.
    """
    if follows_umask():
        return
    check_link(folder, owner)
    for home in filter(os.path.lexists, _homes(folder)):
        check_link(home, owner)
        status = os.stat(home)
        if status.st_uid not in (0, owner):
            raise PermissionError(errno.EPERM, f"it belongs to user {user_name(status.st_uid)}", str(home))
        if _is_open(status):
            raise PermissionError(errno.EPERM, f"other users can change it; `chmod o-w {home}`", str(home))


def _is_open(status: os.stat_result) -> bool:
    """Return whether others can exchange what is in a folder."""
    return status.st_mode & (stat.S_IWOTH | stat.S_ISVTX) == stat.S_IWOTH


def _make(folder: Path) -> None:
    """Make a folder as `mkdir(parents=True)`, but set the mode of its parents too."""
    if folder.is_dir():
        return
    _make(folder.parent)
    folder.mkdir(mode=folder_mode(), exist_ok=True)


def _ignore(path: Path) -> None:
    try:
        descriptor = os.open(path, _NEW_FILE, 0o600)
    except FileExistsError:  # the user's own, or ours
        return
    try:
        os.write(descriptor, b"*\n")
    finally:
        os.close(descriptor)


VARIABLE = "PROFKIT_FILES"
UMASK = "umask"


def follows_umask(environ: Mapping[str, str] = os.environ) -> bool:
    """Return whether the umask sets permissions of stores, pages and exports (PROFKIT_FILES=umask)."""
    return environ.get(VARIABLE, "").strip().lower() == UMASK


def file_mode(environ: Mapping[str, str] = os.environ) -> int:
    """Return the mode of new files; the umask still applies."""
    return 0o666 if follows_umask(environ) else 0o600


def folder_mode(environ: Mapping[str, str] = os.environ) -> int:
    """Return the mode of new folders; the umask still applies."""
    return 0o777 if follows_umask(environ) else 0o700


def make_file(path: Path) -> None:
    """Create an empty file with `file_mode`, unless that name exists; raises OSError.

    SQLite gives its journal files the mode of the database.
    """
    if os.path.lexists(path):
        if not os.path.exists(path):
            check_link(path, os.geteuid())
        return
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, file_mode()))
    except FileExistsError:
        return


def is_exposed(path: Path) -> bool:
    """Return whether other users may read a file of ours, by its mode and its folder's mode."""
    try:
        file, folder = path.stat(), path.parent.stat()
    except OSError:
        return False
    return file.st_uid == os.geteuid() and bool(file.st_mode & 0o004) and bool(folder.st_mode & 0o001)


def check_unshared(folder: Path) -> None:
    """Raise SpoolUnavailable if a folder belongs to another user, or others can exchange what is in it."""
    status = os.stat(folder)
    if status.st_uid != os.geteuid():
        name = user_name(status.st_uid)
        raise SpoolUnavailable(
            folder, f"it belongs to user {name}", "set PROFKIT_SPOOL to a folder of your own"
        )
    if _is_open(status):
        raise SpoolUnavailable(
            folder, "other users can change it", f"`chmod o-w {folder}`, or set PROFKIT_SPOOL to another one"
        )


def own_file(folder: Path, name: str) -> Path:
    """Return the path of a file in a spool, which is made if missing and may be a configured link.

    Raises OSError and SpoolUnavailable.
    """
    make_folder(folder)
    check_unshared(folder)
    return folder.resolve() / name


def refuse_other_owner(path: Path, store: str) -> None:
    """Raise StoreUnavailable if a store's file, folder or link is another user's and not shared."""
    if follows_umask() or not os.path.lexists(path):
        return
    try:
        check_place(path.parent, os.geteuid())
    except PermissionError as error:
        raise StoreUnavailable(store, f"{error.filename}: {error.strerror}") from error
    owners = {os.lstat(path).st_uid, os.stat(path).st_uid} - {os.geteuid()}
    if owners:
        raise StoreUnavailable(
            store,
            f"it belongs to user {user_name(owners.pop())}, who could read what is added to it; keep runs in "
            f"your own, or share this one with {VARIABLE}={UMASK}",
        )


_CHUNK = 2**20
_DEEPEST = 16
"""Levels of folders that are emptied; profkit's own have one."""
_OPEN = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_PASSING = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EINTR, errno.EAGAIN, errno.ESTALE})
"""Temporary errors: the same read may succeed later."""


class OwnedFolder:
    """Open folder of one owner; a context manager that closes it."""

    __slots__ = ("descriptor", "owner", "path")

    def __init__(self, path: Path, descriptor: int, owner: int) -> None:
        self.path, self.descriptor, self.owner = path, descriptor, owner

    def __enter__(self) -> OwnedFolder:
        return self

    def __exit__(self, *error: object) -> None:
        os.close(self.descriptor)

    def names(self) -> tuple[str, ...]:
        """Return the names of all entries, sorted."""
        with os.scandir(self.descriptor) as entries:
            return tuple(sorted(entry.name for entry in entries))

    def status(self, name: str) -> os.stat_result | None:
        """Return the status of an entry, not of a link's target; None if there is none."""
        try:
            return os.stat(name, dir_fd=self.descriptor, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def changed_ns(self) -> int:
        """Return when a file in the folder was last changed, as Unix time; 0 if it is empty."""
        found = (self.status(name) for name in self.names())
        return max((status.st_mtime_ns for status in found if status is not None), default=0)

    def refusal(self, name: str) -> RefusedFile | None:
        """Return why an entry must not be touched; None if it may be, or is missing."""
        status = self.status(name)
        problem = _problem(status, self.owner) if status is not None else None
        return RefusedFile(self.path / name, problem) if problem is not None else None

    def is_folder(self, name: str) -> bool:
        """Return whether an entry is a real folder, of any owner."""
        status = self.status(name)
        return status is not None and stat.S_ISDIR(status.st_mode)

    def folder(self, name: str) -> OwnedFolder:
        """Open a subfolder; raises RefusedFile, and FileNotFoundError if there is none."""
        return OwnedFolder(self.path / name, self._open(name, os.O_DIRECTORY), self.owner)

    def read(self, name: str, most_bytes: int) -> bytes:
        """Return the content of a file; raises DamagedFile if it is larger, or cannot be read."""
        return b"".join(self.chunks(name, most_bytes))

    def chunks(self, name: str, most_bytes: int) -> Iterator[bytes]:
        """Yield the content of a file in chunks; raises as `read`."""
        path, left = self.path / name, most_bytes
        try:
            descriptor = self._open(name, 0)
            try:
                # A sparse file would take long to read up to the limit.
                if os.fstat(descriptor).st_size > most_bytes:
                    raise DamagedFile(path, f"it is larger than the limit of {most_bytes} bytes")
                while chunk := os.read(descriptor, _CHUNK):
                    left -= len(chunk)
                    if left < 0:
                        raise DamagedFile(path, f"it is larger than the limit of {most_bytes} bytes")
                    yield chunk
            finally:
                os.close(descriptor)
        except OSError as error:
            if error.errno in _PASSING:
                raise
            raise DamagedFile(path, error.strerror or str(error)) from error

    def open(self, name: str) -> BinaryIO:
        """Open a file to read it; raises RefusedFile, and OSError if there is none."""
        return os.fdopen(self._open(name, 0), "rb")

    def empty(self, depth: int = 0) -> tuple[RefusedFile, ...]:
        """Delete all entries, and return those that are refused and left."""
        refused: list[RefusedFile] = []
        for name in self.names():
            refused += self._delete(name, depth)
        return tuple(refused)

    def _delete(self, name: str, depth: int) -> tuple[RefusedFile, ...]:
        refusal = self.refusal(name)
        if refusal is not None:
            return (refusal,)
        try:
            if not self.is_folder(name):
                os.unlink(name, dir_fd=self.descriptor)
                return ()
            if depth == _DEEPEST:
                return (RefusedFile(self.path / name, "it is nested too deeply"),)
            with self.folder(name) as inner:
                refused = inner.empty(depth + 1)
            if not refused:
                os.rmdir(name, dir_fd=self.descriptor)
        except FileNotFoundError:  # gone meanwhile
            return ()
        except (RefusedFile, NotADirectoryError, IsADirectoryError) as error:  # swapped meanwhile
            return (RefusedFile(self.path / name, f"it was replaced while being deleted ({error})"),)
        return refused

    def _open(self, name: str, flags: int) -> int:
        """Open an entry after a check: merely opening a device or a pipe may have effects."""
        status = os.stat(name, dir_fd=self.descriptor, follow_symlinks=False)
        if (problem := _problem(status, self.owner)) is not None:
            raise RefusedFile(self.path / name, problem)
        try:
            descriptor = os.open(name, _OPEN | flags, dir_fd=self.descriptor)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.ENXIO):
                raise RefusedFile(self.path / name, "it was replaced while being opened") from error
            raise
        if (problem := _problem(os.fstat(descriptor), self.owner)) is not None:
            os.close(descriptor)
            raise RefusedFile(self.path / name, problem)
        return descriptor


def open_spool(path: Path, owner: int | None) -> OwnedFolder:
    """Open a folder that the user configured, through links; `owner` None accepts any owner.

    Raises SpoolUnavailable if it belongs to another user, and OSError, as `check_place`.
    """
    if owner is not None:
        check_place(path, owner)
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY)
    found = os.fstat(descriptor).st_uid
    if owner is not None and found != owner:
        os.close(descriptor)
        name = user_name(found)
        raise SpoolUnavailable(
            path,
            f"it belongs to user {name}",
            f"collect it with `profkit --owner {name} ...`, or run as {name}",
        )
    return OwnedFolder(path, descriptor, found if owner is None else owner)


def user_name(uid: int) -> str:
    """Return the login name of a user, or the id as text if it has none."""
    import pwd

    with suppress(KeyError):
        return pwd.getpwuid(uid).pw_name
    return str(uid)


def _problem(status: os.stat_result, owner: int) -> str | None:
    kind = stat.S_IFMT(status.st_mode)
    if kind not in (stat.S_IFREG, stat.S_IFDIR):
        names = {stat.S_IFLNK: "a symbolic link", stat.S_IFIFO: "a named pipe", stat.S_IFSOCK: "a socket"}
        return f"it is {names.get(kind, 'a device')}"
    if status.st_uid != owner:
        return f"it belongs to user {user_name(status.st_uid)}, not {user_name(owner)}"
    return None
