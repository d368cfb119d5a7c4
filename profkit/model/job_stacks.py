"""Stacks of the processes of a job at one moment."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from profkit.model.session import ProcessInfo

FrameItems: TypeAlias = tuple[str, str, int]
"""Name, file and line, as a `Frame` has them."""


@dataclass(frozen=True, slots=True)
class OneStack:
    """The stack of a thread, outermost frame first."""

    name: str
    tid: int
    frames: tuple[FrameItems, ...]
    is_waiting: bool
    waits_for: str = ""
    """What it waits for; empty if that is not known, or if it works."""


@dataclass(frozen=True, slots=True)
class ProcessStacks:
    """The stacks of one process of a job; the main thread is the first."""

    process: ProcessInfo
    at_ns: int
    """Unix time."""
    threads: tuple[OneStack, ...]


@dataclass(frozen=True, slots=True)
class Unread:
    """A process of a job whose stacks could not be read, with the reason."""

    process: ProcessInfo
    reason: str


@dataclass(frozen=True, slots=True)
class PendingCollective:
    """A collective that has not ended, with ranks that wait in it and for others."""

    name: str
    sizes: str
    """Dimensions of its inputs."""
    number: int
    """Its number in the process group."""
    group: str
    inside: tuple[int, ...]
    absent: tuple[int, ...]
    """Ranks that have not entered it."""
    others: tuple[tuple[int, str, str], ...] = ()
    """Ranks that have entered another one instead, with its name and sizes."""


@dataclass(frozen=True, slots=True)
class JobStacks:
    """The stacks of all processes of a job that could be found, by rank."""

    job: str
    """Empty for processes that were named one by one."""
    processes: tuple[ProcessStacks, ...]
    unread: tuple[Unread, ...] = ()
    collectives: tuple[PendingCollective, ...] = field(default=(), metadata={"later": True})
    """Those that have not ended, if they are known from dumps of the flight recorder."""
    is_recorded: bool = field(default=False, metadata={"later": True})
    """True if these stacks are from such dumps: those of collectives only, and the hosts are not known."""

    @property
    def missing(self) -> tuple[int, ...]:
        """Ranks of the job that are not here: they run on other hosts, or have ended."""
        here = {one.process.member.rank for one in self.processes}
        here |= {one.process.member.rank for one in self.unread}
        sizes = [one.process.member.world_size or 0 for one in self.processes]
        return tuple(rank for rank in range(max(sizes, default=0)) if rank not in here)
