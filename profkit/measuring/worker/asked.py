"""What a job message holds, and what answers it; see `perform`."""

from __future__ import annotations

from typing import NotRequired, TypedDict


class Arm(TypedDict):
    """One statement, callable or library to measure."""

    stmt: str | None
    setup: str
    global_setup: str
    language: str
    """ "python" or "c++"."""
    level: str
    """ "function" or "module": where a Python statement's names live."""
    parcel: bool
    """Whether it is the callable that came as the job's parcel."""
    library: str | None
    """Path of a C++ statement's shared object."""


class Job(TypedDict):
    """What `perform` reads of a message; its surroundings are in force already."""

    mode: str
    """ "timer", "callgrind" or "canary"."""
    num_threads: int
    imports: NotRequired[list[str]]
    arms: list[Arm]
    number: list[int | None]
    """Executions in a block for each arm; None: to be found out."""
    runs: int | None
    """Most executions of each statement, warm-ups included."""
    blocks: NotRequired[int | None]
    block_s: NotRequired[float]
    min_run_time_s: NotRequired[float]
    """Of this process."""
    seed: NotRequired[int]
    repeats: NotRequired[int]
    warm: NotRequired[int]
    """Executions before anything is counted, where they do not take long."""
    dump_prefix: NotRequired[str]
    """Callgrind's dumps are files whose paths begin with it."""


class Times(TypedDict):
    """A timed arm."""

    number: int
    times_s: list[float]
    """Of one execution, for each block."""
    cpu_s: float
    wall_s: float
    involuntary: int


class Counts(TypedDict):
    """A counted arm: paths of dumps."""

    number: int
    dumps: list[str]
    """One for each repeat."""
    baseline_dumps: list[str]
    """Of the same loop around nothing."""


class Answer(TypedDict):
    """What `perform` returns."""

    ok: bool
    arms: NotRequired[list[Times] | list[Counts]]
    versions: NotRequired[dict[str, str]]
    """Of the modules that a canary imported; empty where a module tells none."""
