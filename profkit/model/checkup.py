"""Result of `profkit doctor`: checks of the machine, and whether the main uses of profkit work on it."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass


class Group(enum.Enum):
    """Subject of checks, in the order of the report; the value is its name in JSON."""

    PYTHON = "python"
    SAMPLERS = "samplers"
    PERMISSIONS = "permissions"
    MEASURING = "measuring"
    STORAGE = "storage"
    NOISE = "noise"


class Status(enum.Enum):
    """Result of a check; the value is its word in JSON."""

    OK = "ok"
    NOT_APPLICABLE = "not applicable"
    """Something that this machine, or this version of Python, cannot have."""
    SHORTFALL = "shortfall"
    """The main uses work without it."""
    FAILED = "failed"
    """A main use does not work because of it."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that decides what profkit can do: what was found, what that costs, and how to fix it."""

    group: Group
    name: str
    status: Status
    found: str
    cost: str = ""
    """What does not work, or works worse; empty if the status is OK."""
    fix: str = ""
    """Command that fixes it, or what to change; empty if there is nothing to fix."""
    took_s: float | None = None
    """Duration of a trial; None if the check only read files."""


@dataclass(frozen=True, slots=True)
class Checkup:
    """All checks. The main uses are sampling a program and timing code in an isolated worker."""

    sampling: bool
    """True if a sampler got samples of a program, and runs can be written and kept."""
    timing: bool
    """True if an isolated worker timed a statement."""
    checks: tuple[Check, ...]

    @property
    def works(self) -> bool:
        """Whether both main uses work."""
        return self.sampling and self.timing

    def of(self, group: Group) -> tuple[Check, ...]:
        """Return the checks of a group."""
        return tuple(check for check in self.checks if check.group is group)

    def count(self, status: Status) -> int:
        """Return the number of checks with a status."""
        return sum(check.status is status for check in self.checks)


def has_failed(checks: Sequence[Check]) -> bool:
    """Return whether one of the checks has failed."""
    return any(check.status is Status.FAILED for check in checks)
