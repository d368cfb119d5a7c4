"""Configuration from environment variables and the current folder, read once when profkit is imported."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

HOME = ".profkit"
"""Folder that profkit creates in the current folder; its `.gitignore` contains `*`."""

NOWHERE = Path("/dev/null/no-current-folder")
"""Placeholder for a deleted current folder; nothing can be created in it."""
NO_FOLDER = "the current folder did not exist when profkit was imported"

SPOOL_LIMIT = "1GB"
"""Default maximum size of the spool, above which the oldest sessions are deleted (PROFKIT_SPOOL_LIMIT)."""


@dataclass(frozen=True, slots=True)
class Config:
    """Places of the spool and the store, and switches for profiling."""

    spool: Path
    """Folder of session folders (PROFKIT_SPOOL, else .profkit/spool)."""
    store_url: str
    """SQLAlchemy URL (PROFKIT_STORE, else sqlite:///.profkit/runs.db)."""
    disabled: bool = False
    """PROFKIT_DISABLE: `profile()` returns the function itself."""
    children: bool = True
    """PROFKIT_CHILDREN: forked and spawned children start their own sessions."""
    spool_limit: str = SPOOL_LIMIT
    """PROFKIT_SPOOL_LIMIT, not parsed; "0" and "off" mean no limit."""
    exit_timeout: str = ""
    """PROFKIT_EXIT_TIMEOUT, not parsed: time limit for measuring when the program exits, in seconds."""
    owner: int | None = None
    """Id of the user who must own the spool (`profkit --owner`); None is the user of this process."""


def read_config(environ: Mapping[str, str], cwd: Path | None) -> Config:
    """Return the configuration for an environment and a current folder, which is None if deleted."""
    home = (cwd or NOWHERE) / HOME
    spool = environ.get("PROFKIT_SPOOL")
    return Config(
        spool=(cwd or NOWHERE) / spool if spool else home / "spool",
        store_url=environ.get("PROFKIT_STORE") or f"sqlite:///{home / 'runs.db'}",
        disabled=_is_on(environ.get("PROFKIT_DISABLE"), default=False),
        children=_is_on(environ.get("PROFKIT_CHILDREN"), default=True),
        spool_limit=environ.get("PROFKIT_SPOOL_LIMIT", "").strip() or SPOOL_LIMIT,
        exit_timeout=environ.get("PROFKIT_EXIT_TIMEOUT", "").strip(),
    )


def is_nowhere(path: Path) -> bool:
    """Return whether a configured path is below a deleted current folder."""
    return NOWHERE in (path, *path.parents)


def _is_on(value: str | None, *, default: bool) -> bool:
    if value is None or not value.strip():
        return default
    return value.strip().lower() not in ("0", "false", "no", "off")


def _current_folder() -> Path | None:
    try:
        return Path.cwd()
    except OSError:  # it was deleted, or access is denied
        return None


CONFIG = read_config(os.environ, _current_folder())
"""Configuration of this process, resolved at import: a later chdir has no effect."""
