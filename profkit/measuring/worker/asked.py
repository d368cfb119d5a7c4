"""What a job message holds, and what answers it; see `perform`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NotRequired, TypedDict


class Fresh(TypedDict):
    """Whether each execution has a state of its own, such as arguments that nothing has changed."""

    decided: bool | None
    """None: to be found out."""
    changes: list[str]
    """What an execution changes."""
    globals: list[list[str]]
    """(module, name) of what each execution has anew besides."""
    function: bool
    """Whether it has what belongs to the function anew, such as its closure."""
    why_not: str
    """Why executions share a state that they change."""


UNDECIDED: Fresh = {"decided": None, "changes": [], "globals": [], "function": False, "why_not": ""}
SHARED: Fresh = {**UNDECIDED, "decided": False}


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
    fresh: NotRequired[Fresh]
    """Of Python; shared if it is missing."""


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
    memory_limit_bytes: NotRequired[int | None]
    """Of the process and what it starts."""
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
    loop_s: float
    """What the loop costs for each execution, as it was subtracted; 0 where it is a part of the times."""
    loop_spread_s: float
    """Between the least of half the loops, and the least of the other half."""
    fresh: Fresh


class Counts(TypedDict):
    """A counted arm: paths of dumps."""

    number: int
    dumps: list[str]
    """One for each repeat."""
    baseline_dumps: list[str]
    """Of the same loop around nothing."""
    fresh: Fresh


class StartOver(TypedDict):
    """An arm that only another process can measure, which is told this."""

    fresh: Fresh


class Answer(TypedDict):
    """What `perform` returns."""

    ok: bool
    arms: NotRequired[Sequence[Times | Counts | StartOver]]
    versions: NotRequired[dict[str, str]]
    """Of the modules that a canary imported; empty where a module tells none."""
