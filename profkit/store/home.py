"""Folders that profkit keeps things in, and how they stay out of a project's history."""

from __future__ import annotations

from pathlib import Path

from profkit.config import HOME


def make_folder(folder: Path) -> None:
    """Make a folder and those above it; within a `.profkit` folder, tell git to look away.

    Raises OSError where that cannot be done.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for home in (folder, *folder.parents):
        if home.name == HOME and not (home / ".gitignore").exists():
            (home / ".gitignore").write_text("*\n", "utf-8")
