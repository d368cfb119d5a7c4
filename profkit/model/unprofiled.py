"""Processes that could have been profiled and were not, and what changes that."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Unprofiled:
    """One process that was not profiled, as a line of the spool's journal."""

    at_ns: int
    """Unix time."""
    pid: int
    host: str
    reason: str
    """Why, as a clause: `PROFKIT_CHILDREN=0 is set`."""
    switch: str
    """What to do, as an instruction: `unset it to profile forked and spawned workers`."""
    label: str = ""
    """The region that was called; empty for a whole process."""
    partly: bool = field(default=False, metadata={"later": True})
    """Some of it was profiled and the rest was dropped."""


@dataclass(frozen=True, slots=True)
class UnprofiledGroup:
    """All processes with one reason."""

    reason: str
    switch: str
    partly: bool
    processes: int
    labels: tuple[str, ...]
    """The regions that were called, sorted."""
    first_ns: int
    last_ns: int


def grouped(entries: Iterable[Unprofiled]) -> tuple[UnprofiledGroup, ...]:
    """The entries by reason, newest reason first; a process counts once per reason."""
    groups: dict[tuple[str, str, bool], list[Unprofiled]] = {}
    for entry in entries:
        groups.setdefault((entry.reason, entry.switch, entry.partly), []).append(entry)
    found = [
        UnprofiledGroup(
            reason=reason,
            switch=switch,
            partly=partly,
            processes=len({(entry.host, entry.pid) for entry in group}),
            labels=tuple(sorted({entry.label for entry in group if entry.label})),
            first_ns=min(entry.at_ns for entry in group),
            last_ns=max(entry.at_ns for entry in group),
        )
        for (reason, switch, partly), group in groups.items()
    ]
    return tuple(sorted(found, key=lambda group: (-group.last_ns, group.reason)))
