"""Folders of a spool and what is in them, by their paths."""

from __future__ import annotations

from pathlib import Path

from profkit.model.measurement import MeasuredRun
from profkit.store import measured
from profkit.store.clearing import set_aside_in
from profkit.store.files import OwnedFolder, open_spool


def open_folder(path: Path) -> OwnedFolder:
    """Open a folder whose last part must not be a link, for the owner of the folder above it."""
    with open_spool(path.parent, None) as parent:
        return parent.folder(path.name)


def read_measured(path: Path) -> MeasuredRun:
    """Return the measured run in a file of a spool; raises DamagedFile."""
    with open_spool(path.parent, None) as spool:
        return measured.read_measured(spool, path.name)


def set_aside(spool: Path, path: Path) -> Path:
    """Move an entry of the spool, or one of a session's folder, to `damaged/`; return its new path."""
    with open_spool(spool, None) as opened:
        if path.parent == spool:
            return set_aside_in(opened, path.name)
        with opened.folder(path.parent.name) as folder:
            return set_aside_in(opened, path.name, folder)
