"""Cache of shared objects and precompiled headers: a folder shared by processes, and what it removes.

    KEY.json            facts about KEY: the object, its digest, the user's headers it was made from
    KEY-DIGEST.so       the object; its bytes have this digest
    KEY-DIGEST.pt       TorchScript, kept in the same way
    KEY-SIZE.pch/       header.h and header.h.gch, which has this size
    KEY.lock            held by the process that makes KEY
    making-…/           working folder of one compiler; finished files move out by renaming

A file that does not fit its name or its digest is ignored and made again. Correctness does not depend on
the lock: two processes that make the same key produce the same files.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from profkit.errors import UsageError
from profkit.measuring.errors import NO_ROOM, cache_unavailable

LIMIT_BYTES = 2 * 1024**3
"""Room for two or three precompiled headers and thousands of objects."""
KEPT_S = 3600.0
"""Minimum age for removal, in seconds since the last use: a worker may be about to load a file."""


def default_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Return $XDG_CACHE_HOME/profkit/cpp, or its default; raise UsageError if the user has no home folder."""
    base = Path(environ.get("XDG_CACHE_HOME", ""))
    if not base.is_absolute():
        try:
            base = Path.home() / ".cache"
        except RuntimeError as error:
            problem = f"HOME is not set, and user {os.geteuid()} has no home folder for compiled statements"
            raise UsageError(problem, _FIX) from error
    return base / "profkit" / "cpp"


class _Entry(TypedDict):
    digest: str
    headers: dict[str, str]


@dataclass(frozen=True, slots=True)
class Cache:
    """Folder that no other user can write to: its files are loaded and run."""

    folder: Path
    limit_bytes: int = LIMIT_BYTES
    now: Callable[[], float] = time.time

    def find(self, key: str, suffix: str = ".so") -> Path | None:
        """Return the file of a key, if it is intact and the user's headers have not changed."""
        try:
            entry = self._entry(key)
            sources = {Path(name): digest for name, digest in entry["headers"].items()}
            found = self.folder / f"{key}-{entry['digest']}{suffix}"
            fits = digest_of(found) == entry["digest"]
            fits = fits and all(digest_of(path) == digest for path, digest in sources.items())
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None
        if not fits:
            return None
        self._mark_used(self.folder / f"{key}.json")
        return self._mark_used(found)

    def headers_of(self, key: str) -> tuple[Path, ...]:
        """Return the user's files that a key's file was made from."""
        return tuple(map(Path, self._entry(key)["headers"]))

    def keep(self, key: str, path: Path, headers: Iterable[Path]) -> Path:
        """Move a file into the cache; `headers` are the user's files that it was made from."""
        digest = digest_of(path)
        kept = self.folder / f"{key}-{digest}{path.suffix}"
        entry = {"digest": digest, "headers": {str(path): digest_of(path) for path in headers}}
        listed = path.with_suffix(".json")
        listed.write_text(json.dumps(entry), "utf-8")
        path.rename(kept)
        listed.rename(self.folder / f"{key}.json")
        return kept

    def find_header(self, key: str) -> Path | None:
        """Return the header to include for a key, beside its precompiled form; None if there is none."""
        for folder in self.folder.glob(f"{key}-*.pch"):
            with contextlib.suppress(OSError):
                if f"{key}-{(folder / 'header.h.gch').stat().st_size}.pch" == folder.name:
                    return self._mark_used(folder) / "header.h"
            _remove(folder)
        return None

    def keep_header(self, key: str, path: Path) -> Path:
        """Move a folder with a header and its precompiled form into the cache."""
        size = (path / "header.h.gch").stat().st_size
        kept = self.folder / f"{key}-{size}.pch"
        with contextlib.suppress(OSError):  # another process was faster
            path.rename(kept)
        return kept / "header.h"

    def count(self, header_key: str) -> int:
        """Return the number of objects compiled with the same headers and arguments."""
        return sum(1 for _ in self.folder.glob(f"{header_key}-*.json"))

    def working_folder(self) -> Path:
        """Return a new working folder; the caller removes it."""
        return Path(tempfile.mkdtemp(prefix="making-", dir=self.folder))

    def lock(self, key: str) -> int | None:
        """Return a descriptor that holds the key's lock, for `unlock`; None if another process holds it."""
        lock = os.open(self.folder / f"{key}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            return None
        except BaseException:
            os.close(lock)
            raise
        return lock

    def shrink(self) -> None:
        """Remove least recently used files until the rest fits the limit, and abandoned working folders."""
        entries = sorted((_used_at(path), path) for path in self.folder.iterdir())
        sizes = {path: _size(path) for _, path in entries}
        total = sum(sizes.values())
        for used_at, path in entries:
            abandoned = path.name.startswith("making-")
            if self.now() - used_at > KEPT_S and (abandoned or total > self.limit_bytes):
                _remove(path)
                total -= sizes[path]

    def _entry(self, key: str) -> _Entry:
        entry: _Entry = json.loads((self.folder / f"{key}.json").read_bytes())
        return entry

    def _mark_used(self, path: Path) -> Path:
        with contextlib.suppress(OSError):
            os.utime(path, (self.now(), self.now()))
        return path


def open_cache(folder: Path) -> Cache:
    """Return the cache in a folder; create the folder if it is missing.

    Raises UsageError if others can write to it or the user cannot, and FolderUnavailable if its file system
    is full.
    """
    try:
        folder.mkdir(parents=True, mode=0o700, exist_ok=True)
        facts = folder.stat()
    except OSError as error:
        if error.errno in NO_ROOM:
            raise cache_unavailable(folder, os.strerror(error.errno)) from error
        raise UsageError(
            f"the folder {folder} for compiled statements cannot be used: {error}", _FIX
        ) from error
    if facts.st_uid != os.geteuid() or facts.st_mode & 0o022:
        raise UsageError(f"the folder {folder} for compiled statements is writable by other users", _FIX)
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        raise UsageError(f"the folder {folder} for compiled statements is not writable", _FIX)
    return Cache(folder)


def unlock(lock: int) -> None:
    """Release a key's lock; closing is not enough, since a forked process may have a copy."""
    fcntl.flock(lock, fcntl.LOCK_UN)
    os.close(lock)


def digest_of(path: Path) -> str:
    """Return the digest of a file's bytes."""
    return hashlib.blake2b(path.read_bytes(), digest_size=12).hexdigest()


_FIX = "set XDG_CACHE_HOME to a folder that only you can write to"


def _used_at(path: Path) -> float:
    try:
        return path.lstat().st_mtime
    except OSError:  # removed meanwhile
        return 0.0


def _size(path: Path) -> int:
    files = [path, *path.rglob("*")] if path.is_dir() else [path]
    total = 0
    for file in files:
        with contextlib.suppress(OSError):
            total += file.lstat().st_size
    return total


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
