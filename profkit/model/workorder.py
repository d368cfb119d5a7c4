"""Work orders: the statement or callable to measure, its surroundings, and how."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


class Language(enum.Enum):
    """Language of a statement; the value is the word in files and options."""

    PYTHON = "python"
    CPP = "c++"


class Mode(enum.Enum):
    """Quantities to measure; the value is the word in files and options."""

    TIMER = "timer"
    CALLGRIND = "callgrind"
    BOTH = "timer+callgrind"

    @property
    def times(self) -> bool:
        """True if wall-clock time is measured."""
        return self is not Mode.CALLGRIND

    @property
    def counts(self) -> bool:
        """True if instructions are counted."""
        return self is not Mode.TIMER


class Level(enum.Enum):
    """Scope of a Python statement's names; the value is the word in files and options."""

    FUNCTION = "function"
    """Setup and statement share a function's local names, as in `timeit`."""
    MODULE = "module"
    """They share a module's names, which are looked up in a dictionary, as in torch's Callgrind."""


class Simulation(enum.Enum):
    """Simulations that Callgrind adds to counting; each makes it slower."""

    CACHE = "cache"
    BRANCH = "branch"


@dataclass(frozen=True, slots=True)
class WorkTree:
    """A copy of the checkout, in which a statement runs as it would in the checkout itself."""

    checkout: str
    """Top folder of the caller's checkout."""
    copy: str
    """Top folder of the copy."""
    commit: str


@dataclass(frozen=True, slots=True)
class WorkOrder:
    """One statement or callable to measure; settings left out are chosen at measurement.

    Exactly one of `stmt` and `function` is given. `measuring.orders.work_order` makes and checks work orders.
    """

    label: str
    stmt: str | None = None
    function: Callable[..., object] | None = None
    args: tuple[object, ...] = ()
    kwargs: Mapping[str, object] = field(default_factory=dict)
    setup: str = ""
    """Runs once in each process, before the statement's blocks."""
    global_setup: str = ""
    """Python: runs once at module level, before `setup`. C++: placed at file scope."""
    mode: Mode = Mode.TIMER
    language: Language = Language.PYTHON
    level: Level = Level.FUNCTION
    num_threads: int = 1
    labels: tuple[tuple[str, str], ...] = ()
    """(name, value) pairs that distinguish orders of one definition, such as ("autograd", "forward")."""
    quick: bool = False
    """If true, use one zygote: faster, but results compare only within it."""
    min_run_time_s: float = 0.2
    """Minimum measuring time, summed over all processes."""
    number: int | None = None
    """Executions per block; None: the first process chooses, and all use the same."""
    repeats: int = 2
    """Number of Callgrind's blocks; equal counts show that nothing disturbed them."""
    runs: int | None = None
    """Maximum number of executions of the statement in all, warm-ups included."""
    timeout_s: float = 600.0
    """Timeout per process, in seconds."""
    retries: int = 2
    """Number of retries of a process that timed out."""
    source_cmd: tuple[str, ...] = ()
    """Command words prepended to the measuring Python, to enter another environment."""
    python: str | None = None
    """Measuring interpreter; None: the one that runs profkit."""
    env: tuple[tuple[str, str], ...] = ()
    imports: tuple[str, ...] | None = None
    """Packages that a zygote preloads (of "torch", "numpy"); None: those that the order's text imports."""
    simulate: tuple[Simulation, ...] = ()
    python_functions: bool = True
    """True to count instructions by Python function as well, in a run of its own (from Python 3.12)."""
    processes: int | None = None
    """Number of timing and of counting processes; None: 10 for timing (3 if `quick`), up to 4 for
    counting."""
    tree: WorkTree | None = None
    """Copy in which it runs: current folder and `sys.path` entries are those of the copy."""
    memory_limit_bytes: int | None = None
    """Memory limit of the measured process and its children; None: half of the machine's."""
    fresh: bool | None = None
    """True if each execution has its own arguments or setup; None: only if it changes them."""
    path: tuple[str, ...] = ()
    """Folders that come first on the worker's `sys.path`, before the caller's."""
    script: str = ""
    """Python code that defines `model`; C++ calls its TorchScript as `profkit::scripted()`."""
