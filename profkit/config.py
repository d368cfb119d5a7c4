"""What the environment and the current folder decide, read once when profkit is imported."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

HOME = ".profkit"
"""The folder that profkit makes in the current folder; its `.gitignore` holds `*`."""

NOWHERE = Path("/dev/null/no-current-folder")
"""Placeholder for a current folder that is gone; nobody can create anything in it."""
NO_FOLDER = "the current folder was gone when profkit was imported"

SPOOL_LIMIT = "1GB"
"""Size of a spool above which the oldest sessions are dropped, unless PROFKIT_SPOOL_LIMIT is set."""


@dataclass(frozen=True, slots=True)
class Config:
    """Where things are kept, and whether anything is profiled at all."""

    spool: Path
    """Folder of session folders (PROFKIT_SPOOL, else .profkit/spool)."""
    store_url: str
    """SQLAlchemy URL (PROFKIT_STORE, else sqlite:///.profkit/runs.db)."""
    disabled: bool = False
    """PROFKIT_DISABLE: `profile()` returns the function itself."""
    children: bool = True
    """PROFKIT_CHILDREN: forked and spawned children start sessions of their own."""
    spool_limit: str = SPOOL_LIMIT
    """PROFKIT_SPOOL_LIMIT as it is written; "0" and "off" are no limit."""
    exit_timeout: str = ""
    """PROFKIT_EXIT_TIMEOUT as it is written: seconds that the end of a program waits for measuring."""
    owner: int | None = None
    """User id that the spool must belong to (`profkit --owner`); None is the user of this process."""


def read_config(environ: Mapping[str, str], cwd: Path | None) -> Config:
    """Return the configuration of an environment and a current folder, which is None if it is gone."""
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
    """Return whether a configured path is below a current folder that was gone."""
    return NOWHERE in (path, *path.parents)


def _is_on(value: str | None, *, default: bool) -> bool:
    if value is None or not value.strip():
        return default
    return value.strip().lower() not in ("0", "false", "no", "off")


def _current_folder() -> Path | None:
    try:
        return Path.cwd()
    except OSError:  # it was removed, or is not ours to see
        return None


CONFIG = read_config(os.environ, _current_folder())
"""Resolved at import, so that a later chdir moves nothing."""
