"""The folder that a command was started in."""

from __future__ import annotations

from pathlib import Path

from profkit.errors import UsageError


def current_folder() -> Path:
    """Return the current folder; raises UsageError if it was removed."""
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        raise UsageError("the current folder no longer exists", "change to one that does") from error
