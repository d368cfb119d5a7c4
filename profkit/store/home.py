"""Folders that profkit keeps things in, and how they stay out of a project's history."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from profkit.config import HOME, NO_FOLDER, is_nowhere
from profkit.store.file_modes import folder_mode

_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, for their owner alone; keep a `.profkit` folder out of git.

    Raises OSError if that cannot be done.
    """
    if is_nowhere(folder):
        raise OSError(errno.ENOENT, NO_FOLDER)
    _make(folder)
    for home in (folder, *folder.parents):
        if home.name == HOME:
            _ignore(home / ".gitignore")


def _make(folder: Path) -> None:
    """As `mkdir(parents=True)`, whose mode is not that of the folders above."""
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
