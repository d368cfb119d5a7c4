"""What to measure: a statement or a callable, its surroundings, and how."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


class Language(enum.Enum):
    """What a statement is written in; the value is the word that files and options carry."""

    PYTHON = "python"
    CPP = "c++"


class Mode(enum.Enum):
    """What is measured; the value is the word that files and options carry."""

    TIMER = "timer"
    CALLGRIND = "callgrind"
    BOTH = "timer+callgrind"

    @property
    def times(self) -> bool:
        """Whether wall-clock time is measured."""
        return self is not Mode.CALLGRIND

    @property
    def counts(self) -> bool:
        """Whether instructions are counted."""
        return self is not Mode.TIMER


class Level(enum.Enum):
    """Where a Python statement's names live; the value is the word that files and options carry."""

    FUNCTION = "function"
    """Setup and statement share a function's local names, as in `timeit`."""
    MODULE = "module"
    """They share a module's names, looked up in a dictionary, as in torch's Callgrind."""


class Simulation(enum.Enum):
    """What Callgrind simulates beside counting; each makes it slower."""

    CACHE = "cache"
    BRANCH = "branch"


@dataclass(frozen=True, slots=True)
class WorkTree:
    """A copy of the checkout in which a statement runs as it would in the checkout itself."""

    checkout: str
    """The top folder of the checkout that the caller is in."""
    copy: str
    """The top folder of the copy."""
    commit: str


@dataclass(frozen=True, slots=True)
class WorkOrder:
    """One thing to measure; what is left out is chosen when it is measured.

    Exactly one of `stmt` and `function` is given. Made by `measuring.orders.work_order`, which checks it.
    """

    label: str
    stmt: str | None = None
    function: Callable[..., object] | None = None
    args: tuple[object, ...] = ()
    kwargs: Mapping[str, object] = field(default_factory=dict)
    setup: str = ""
    """Runs once in each process, before the statement's blocks."""
    global_setup: str = ""
    """Python: runs once at module level, before `setup`. C++: stands at file scope."""
    mode: Mode = Mode.TIMER
    language: Language = Language.PYTHON
    level: Level = Level.FUNCTION
    num_threads: int = 1
    labels: tuple[tuple[str, str], ...] = ()
    """(name, value) that tell orders of one definition apart, such as ("autograd", "forward")."""
    quick: bool = False
    """One zygote: soon done, and good for comparisons within it only."""
    min_run_time_s: float = 0.2
    """Least time of measuring, summed over all processes."""
    number: int | None = None
    """Executions in a block; None: chosen by the first process, and the same in all."""
    repeats: int = 2
    """Callgrind's blocks; equal counts show that nothing disturbed them."""
    runs: int | None = None
    """At most so many executions of the statement in all, warm-ups included."""
    timeout_s: float = 600.0
    """Longest time of one process."""
    retries: int = 2
    """How often a process that ran out of time is tried again."""
    source_cmd: tuple[str, ...] = ()
    """Words put before the Python that measures, to enter another environment."""
    python: str | None = None
    """The interpreter that measures; None: the one that runs profkit."""
    env: tuple[tuple[str, str], ...] = ()
    imports: tuple[str, ...] | None = None
    """What a zygote imports ahead (of "torch", "numpy"); None: what the order's own text imports."""
    simulate: tuple[Simulation, ...] = ()
    processes: int | None = None
    """How many processes time it, and how many count it; None: 10 to time it, 3 if `quick`, 1 to count it."""
    tree: WorkTree | None = None
    """Where it runs: the current folder and what lies on `sys.path` are those of the copy."""
    memory_limit_bytes: int | None = None
    """Memory that the measured process and what it starts may use; None: half of the machine's."""
    fresh: bool | None = None
    """Whether each execution has arguments, or a setup, of its own; None: if it changes them."""
    path: tuple[str, ...] = ()
    """Folders that come first on the worker's `sys.path`, before those of the caller's."""
    script: str = ""
    """Python that defines `model`; TorchScript of it is what C++ calls `profkit::scripted()`."""
