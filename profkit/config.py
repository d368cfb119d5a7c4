"""What the environment and the current folder decide, read once when profkit is imported."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

HOME = ".profkit"
"""The folder that profkit makes in the current folder; its `.gitignore` holds `*`."""


@dataclass(frozen=True, slots=True)
class Config:
    """Where things are kept, and whether anything is profiled at all."""

    spool: Path
    """Folder of session folders (PROFKIT_SPOOL, else .profkit/spool)."""
    store_url: str
    """SQLAlchemy URL (PROFKIT_STORE, else sqlite:///.profkit/runs.db)."""
    disabled: bool
    """PROFKIT_DISABLE: `profile()` returns the function itself."""
    children: bool
    """PROFKIT_CHILDREN: forked and spawned children start sessions of their own."""


def read_config(environ: Mapping[str, str], cwd: Path) -> Config:
    """The configuration that an environment and a current folder give."""
    home = cwd / HOME
    spool = environ.get("PROFKIT_SPOOL")
    return Config(
        spool=cwd / spool if spool else home / "spool",
        store_url=environ.get("PROFKIT_STORE") or f"sqlite:///{home / 'runs.db'}",
        disabled=_is_on(environ.get("PROFKIT_DISABLE")),
        children=_is_on(environ.get("PROFKIT_CHILDREN")),
    )


def _is_on(value: str | None) -> bool:
    return value is not None and value.strip().lower() not in ("", "0", "false", "no", "off")


CONFIG = read_config(os.environ, Path.cwd())
"""Resolved at import, so that a later chdir moves nothing."""
