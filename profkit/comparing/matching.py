"""Profiles of several runs with names and files by which their functions match."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from profkit.model.profile import Profile
from profkit.model.run import Run
from profkit.transforms.combine import Home, aligned
from profkit.transforms.identity import has_comprehensions

_INLINED_SINCE = (3, 12)
"""First version of Python that runs comprehensions within the function around them (PEP 709)."""
_VERSION = re.compile(r"(\d+)\.(\d+)")


@dataclass(frozen=True, slots=True)
class Matched:
    """Profiles of runs, in their order."""

    profiles: tuple[Profile, ...]
    inlined: bool
    """True if comprehensions are counted for the functions around them, since some runs only show these."""


def match_functions(runs: Sequence[Run]) -> Matched:
    """Return profiles in which functions match by name and file.

    Runs can be of different samplers, Python versions and environments.
    """
    profiles = [run.profile or Profile() for run in runs]
    homes = [Home(run.info.process.cwd, run.info.region.file) for run in runs]
    inline = _differ_in_comprehensions(runs)
    return Matched(aligned(profiles, homes, inline=inline), inline)


def _differ_in_comprehensions(runs: Sequence[Run]) -> bool:
    """Return whether only some of the runs show comprehensions as functions of their own."""
    versions = [_version(run.info.process.python) for run in runs]
    inlining = [version is not None and version >= _INLINED_SINCE for version in versions]
    return any(inlining) and any(
        run.profile is not None and has_comprehensions(run.profile)
        for run, inlined in zip(runs, inlining, strict=True)
        if not inlined
    )


def _version(python: str) -> tuple[int, int] | None:
    """Return the major and minor version; None if it is not known, as for imported runs."""
    found = _VERSION.match(python)
    return (int(found[1]), int(found[2])) if found else None
