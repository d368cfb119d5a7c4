"""Who may read what profkit writes: only its owner, unless PROFKIT_FILES says otherwise."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

VARIABLE = "PROFKIT_FILES"
_UMASK = "umask"


def follows_umask(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether stores, pages and exports have the permissions that the umask gives (PROFKIT_FILES=umask)."""
    return environ.get(VARIABLE, "").strip().lower() == _UMASK


def file_mode(environ: Mapping[str, str] = os.environ) -> int:
    """Mode to create a file with; the umask still applies."""
    return 0o666 if follows_umask(environ) else 0o600


def folder_mode(environ: Mapping[str, str] = os.environ) -> int:
    """Mode to create a folder with; the umask still applies."""
    return 0o777 if follows_umask(environ) else 0o700


def make_file(path: Path) -> None:
    """Create an empty file with `file_mode`, unless something has that name; raises OSError.

    SQLite gives the journal files beside a database the mode of the database.
    """
    if os.path.lexists(path):
        return
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, file_mode()))
    except FileExistsError:
        return


def is_exposed(path: Path) -> bool:
    """Whether other users may read a file of ours, as far as its own mode and its folder's say."""
    try:
        file, folder = path.stat(), path.parent.stat()
    except OSError:
        return False
    return file.st_uid == os.geteuid() and bool(file.st_mode & 0o004) and bool(folder.st_mode & 0o001)
