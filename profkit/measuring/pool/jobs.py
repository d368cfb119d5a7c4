"""What goes to a zygote, and what comes back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from profkit.measuring.pool.dumps import Dump


@dataclass(frozen=True, slots=True)
class Job:
    """What one worker does."""

    label: str
    """What errors call it."""
    message: Mapping[str, object]
    """For `worker/child.py`; `dump_prefix` is filled in, and `env` becomes what changes in the zygote's.

    `memory_limit_bytes` is for the supervisor, as a rule None: half of the machine's memory.
    """
    timeout_s: float
    """Counted from the fork."""
    parcel: int | None = None
    """Descriptor of the callable that travels with it; stays the caller's, open until the job is done."""
    result: int | None = None
    """Descriptor of the file for a call's result, likewise; a job that has one has a parcel."""
    repeatable: bool = True
    """Whether it is done again if its zygote ends while it runs; else it has died with it."""


@dataclass(frozen=True, slots=True)
class ZygoteFacts:
    """What a zygote told of itself."""

    serial: int
    """Of all zygotes that this process has started."""
    python: str
    packages: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Reply:
    """What a job answered."""

    message: Mapping[str, object]
    output: str
    """The end of what it printed."""
    zygote: ZygoteFacts
    dumps: Mapping[str, Dump] = field(default_factory=dict)
    """The dumps that the message names, by path; the files themselves are gone."""
