"""Places that sessions are sent to and fetched from: a folder, or a URL that fsspec opens."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol, cast

from profkit.errors import ProfkitError, SpoolUnavailable
from profkit.store.files import OwnedFolder, check_unshared, make_folder, open_spool
from profkit.store.measured import is_run_name
from profkit.store.packs import ARRIVING, write_file
from profkit.store.spool import PACKED
from profkit.store.urls import hide_password

_URL = re.compile(r"([a-z][a-z0-9+.-]*)://", re.IGNORECASE)
_STORES = ("sqlite", "postgres")
_SERVERS = re.compile(r"(pyroscope|otlp)\+https?://", re.IGNORECASE)
_FILE = "file://"
_CHUNK = 2**20


class PlaceUnavailable(ProfkitError):
    """A folder or URL to send sessions to, or to fetch them from, cannot be used."""

    exit_code = 7

    def __init__(self, place: str, detail: str, fix: str = "") -> None:
        self.place, self.detail = place, detail
        self.fix = fix or "what was not sent is still in the spool: check the place, then try again"
        super().__init__(f"{place} cannot be used: {detail}; {self.fix}")


class Place(Protocol):
    """Where packs and measured runs are sent; each method raises PlaceUnavailable."""

    def size_of(self, name: str) -> int | None:
        """Return the size of a file that is there as a whole; None if it is not."""

    def write(self, name: str, chunks: Iterable[bytes]) -> None:
        """Write a file that is there as a whole or not at all; an error of `chunks` is passed on."""


def is_store(to: str) -> bool:
    """Return whether a place is a database."""
    scheme = _URL.match(to)
    return scheme is not None and scheme[1].lower().startswith(_STORES)


def is_profile_server(to: str) -> bool:
    """Return whether a place is a server of profiles, such as Pyroscope, which nothing is fetched from."""
    return _SERVERS.match(to) is not None


def folder_of(to: str) -> Path | None:
    """Return the folder that a place names, also with `file://`; None if it is another URL."""
    is_url = _URL.match(to) is not None and not to.startswith(_FILE)
    return None if is_url else Path(to.removeprefix(_FILE))


def is_remote(to: str) -> bool:
    """Return whether a place is a URL that fsspec opens."""
    return folder_of(to) is None and not is_store(to) and not is_profile_server(to)


class FolderPlace:
    """A folder that others read as their spool."""

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        with _clear_errors(self.name):
            make_folder(path)
            check_unshared(path)
            self._folder: OwnedFolder = open_spool(path, os.geteuid())

    def close(self) -> None:
        """Close the folder."""
        os.close(self._folder.descriptor)

    def size_of(self, name: str) -> int | None:
        """Return the size of a file; None if there is none."""
        with _clear_errors(self.name):
            status = self._folder.status(name)
        return None if status is None else status.st_size

    def write(self, name: str, chunks: Iterable[bytes]) -> None:
        """Write a file; its name appears when all of it is on the disk."""
        with _clear_errors(self.name):
            write_file(self._folder, name, chunks)


@contextmanager
def _clear_errors(place: str) -> Iterator[None]:
    try:
        yield
    except SpoolUnavailable as error:
        raise PlaceUnavailable(place, error.detail) from error
    except OSError as error:
        raise PlaceUnavailable(place, error.strerror or str(error)) from error


class _Files(Protocol):
    """What is used of fsspec's file systems."""

    def info(self, path: str) -> dict[str, object]: ...
    def ls(self, path: str, detail: bool) -> list[str]: ...
    def open(self, path: str, mode: str) -> BinaryIO: ...
    def mv(self, path1: str, path2: str) -> None: ...
    def rm(self, path: str) -> None: ...
    def makedirs(self, path: str, exist_ok: bool) -> None: ...
    def invalidate_cache(self) -> None: ...


class RemotePlace:
    """A folder, bucket or prefix that a URL names."""

    def __init__(self, url: str) -> None:
        self.name = hide_password(url)
        try:
            from fsspec.core import url_to_fs
        except ImportError as error:
            fix = "install fsspec with `pip install 'profkit[remote]'`"
            raise PlaceUnavailable(self.name, str(error), fix) from error
        with self._clear_errors():
            files, root = url_to_fs(url)
            self._files, self._root = cast(_Files, files), str(root).rstrip("/")
            self._files.invalidate_cache()

    def close(self) -> None:
        """Do nothing: fsspec keeps its connections for later use."""

    def size_of(self, name: str) -> int | None:
        """Return the size of a file; None if there is none."""
        with self._clear_errors():
            try:
                size = self._files.info(self._path(name)).get("size")
            except FileNotFoundError:
                return None
            return size if isinstance(size, int) else None

    def write(self, name: str, chunks: Iterable[bytes]) -> None:
        """Write a file under another name, then move it: only object stores write all of it at once."""
        hidden = self._path(f".{name}{ARRIVING}")
        with self._clear_errors():
            self._files.makedirs(self._root, exist_ok=True)
            with self._files.open(hidden, "wb") as file:
                for chunk in chunks:
                    file.write(chunk)
            self._files.mv(hidden, self._path(name))

    def names(self) -> tuple[str, ...]:
        """Return the names of the packs and measured runs that are there, sorted."""
        with self._clear_errors():
            names = {path.rstrip("/").rpartition("/")[2] for path in self._files.ls(self._root, detail=False)}
        return tuple(sorted(name for name in names if is_sent_name(name)))

    def chunks(self, name: str) -> Iterator[bytes]:
        """Yield the content of a file."""
        with self._clear_errors(), self._files.open(self._path(name), "rb") as file:
            while chunk := file.read(_CHUNK):
                yield chunk

    def remove(self, name: str) -> None:
        """Delete a file."""
        with self._clear_errors():
            self._files.rm(self._path(name))

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}"

    @contextmanager
    def _clear_errors(self) -> Iterator[None]:
        try:
            yield
        except ProfkitError:
            raise
        except Exception as error:  # each file system of fsspec has errors of its own
            raise PlaceUnavailable(self.name, hide_password(" ".join(str(error).split()))) from error


def is_sent_name(name: str) -> bool:
    """Return whether this is the name of a pack or of a run's file."""
    return name[:1] not in ("", ".") and (name.endswith(PACKED) or is_run_name(name))
