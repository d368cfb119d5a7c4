"""Measurements: times per process and block, instruction counts, and warnings about both."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import TypeVar

from profkit.model.function_counts import CallCount, FunctionCount, PythonCounts
from profkit.model.notes import Figure, Note
from profkit.model.run import Run, RunInfo, ShownInNotebooks
from profkit.model.session import ProcessInfo
from profkit.model.workorder import Language, Level, Mode
from profkit.units import format_duration, short_repr

INSTRUCTIONS = "Ir"
"""Callgrind's name for executed instructions."""


@dataclass(frozen=True, slots=True)
class CallgrindDump:
    """One parsed `callgrind.out`: totals per event, and instructions per function and call."""

    events: tuple[str, ...]
    totals: tuple[int, ...]
    """One for each event."""
    functions: tuple[FunctionCount, ...]
    calls: tuple[CallCount, ...] = ()

    @property
    def instructions(self) -> int:
        """The total of `INSTRUCTIONS`."""
        return self.totals[self.events.index(INSTRUCTIONS)]


class Tool(enum.Enum):
    """Tool that runs a zygote."""

    NONE = "none"
    VALGRIND = "valgrind"


class Preload(enum.Enum):
    """Packages that a zygote imports before it forks."""

    NOTHING = "stdlib"
    NUMPY = "numpy"
    TORCH = "torch"


class Design(enum.Enum):
    """Design: how orders of a batch were timed, and so how reliable their ratios are; the word in JSON."""

    INTERLEAVED = "interleaved"
    """Block by block in the same processes."""
    ALTERNATING = "alternating"
    """Alternating, in separate processes: A, B, B, A."""
    SEPARATE = "separate"
    """Separate, one after the other: changes of the machine in between are part of the ratio."""

    def batch(self, digits: str) -> str:
        """Return the id of a batch with this design; `MeasuredInfo.design` reads it back."""
        return digits if self is Design.SEPARATE else f"{self.value}-{digits}"


@dataclass(frozen=True, slots=True)
class MeasuredIn:
    """Environment of numbers; those of different environments are not compared."""

    tool: Tool
    preload: Preload
    python: str
    packages: tuple[tuple[str, str], ...] = ()
    """(package, version) of the preloaded packages."""
    isolated: bool = True
    """False if measured in the caller's own process."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Resources that one execution of a program used, with the children that it waited for."""

    user_s: float
    system_s: float
    peak_bytes: int
    """Peak resident memory of the largest of the processes."""


@dataclass(frozen=True, slots=True)
class ProcessTimes:
    """Times of the blocks of one process; an execution of a whole program is a process of one block."""

    times_s: tuple[float, ...]
    """Time per execution, the mean of each block."""
    zygote: int
    """Number of the zygote; processes of one zygote share a memory layout and hash seed."""
    cpu_share: float
    """CPU time divided by wall time of the blocks; below 0.95, other processes used the core."""
    involuntary_switches: int
    usage: Usage | None = field(default=None, metadata={"later": True})
    """None if the process is not a program of its own."""


@dataclass(frozen=True, slots=True)
class Freshness:
    """State of executions: whether each had its own arguments or setup."""

    fresh: bool = False
    changes: tuple[str, ...] = ()
    """Descriptions of the state that an execution changes."""
    why_not: str = ""
    """Reason why executions shared a state that they change; empty if that made no difference."""
    loop_s: float = 0.0
    """Time to pass a state to an execution, which was subtracted from each time."""


@dataclass(frozen=True, slots=True)
class Timing:
    """Wall-clock times, with `number` executions in each block."""

    number: int
    processes: tuple[ProcessTimes, ...]
    measured_in: MeasuredIn
    freshness: Freshness = Freshness()

    @property
    def times_s(self) -> tuple[tuple[float, ...], ...]:
        """Times per execution: [process][block]."""
        return tuple(process.times_s for process in self.processes)

    @property
    def minima_s(self) -> tuple[float, ...]:
        """The minimum time of each process: disturbances only make a block longer."""
        return tuple(min(process.times_s) for process in self.processes)


@dataclass(frozen=True, slots=True)
class ControlCount:
    """Count of a control, a fixed C++ statement; it should be equal in all environments of a machine."""

    name: str
    instructions: float


@dataclass(frozen=True, slots=True)
class InstructionCounts:
    """Instruction counts per execution of the statement, except `raw` and `raw_stripped`."""

    number: int
    """Executions in each repeat."""
    raw: tuple[int, ...]
    """Total of each repeat, including the loop."""
    baseline: float
    """Cost of the same loop around `pass`."""
    net: float
    """Minimum of the repeats, without the baseline."""
    stripped: float
    """Net without memory allocators, whose counts depend on the state of the heap."""
    measured_in: MeasuredIn
    functions: tuple[FunctionCount, ...] = ()
    """Per execution and without the baseline, most exclusive first."""
    calls: tuple[CallCount, ...] = ()
    """Per execution."""
    events: tuple[tuple[str, float], ...] = ()
    """(event, net count) of all simulated events, and "cycles", estimated as in KCachegrind."""
    raw_stripped: tuple[int, ...] = ()
    """Total of each repeat without allocators: shows whether all did the same."""
    controls: tuple[ControlCount, ...] = ()
    """Controls, counted in the same zygote if the order named an environment."""
    processes: int = 1
    """Number of counting processes; each made an equal part of the repeats."""
    freshness: Freshness = Freshness()
    python: PythonCounts | None = field(default=None, metadata={"later": True})
    """None if it was not asked for."""

    @property
    def repeats(self) -> tuple[int, ...]:
        """Totals of the repeats, which should be equal: without allocators, if those are known."""
        return self.raw_stripped or self.raw


def relative_range(values: Sequence[float]) -> float:
    """Return by which part of the smallest value the largest one exceeds it; 0 if that is not above 0."""
    least, most = min(values, default=0), max(values, default=0)
    return (most - least) / least if least > 0 else 0.0


class WarningCode(enum.Enum):
    """Reason of a warning about a measurement; the value is the word in JSON."""

    QUICK = "quick"
    FEW_PROCESSES = "few-processes"
    FEW_BLOCKS = "few-blocks"
    CPU_SHARE = "cpu-share"
    SWITCHES = "involuntary-switches"
    SPREAD = "spread"
    SHORT = "too-short"
    NOT_ISOLATED = "not-isolated"
    COUNTS_DIFFER = "counts-differ"
    """Repeats within a process differ."""
    INPUT_DEPENDENT = "input-dependent"
    """Processes differ, the repeats of each do not."""
    MANY_WORKERS = "many-workers"
    LIMITED = "limited-runs"
    CHANGES_STATE = "changes-state"


COUNT_WARNINGS = frozenset({WarningCode.COUNTS_DIFFER, WarningCode.INPUT_DEPENDENT})
"""Codes of warnings that concern instruction counts only."""


@dataclass(frozen=True, slots=True)
class MeasurementWarning:
    """Reason why numbers may not be trusted, as a code and its figures; reports put it into words."""

    code: WarningCode
    figures: tuple[tuple[str, Figure], ...] = ()

    @classmethod
    def of(cls, code: WarningCode, **figures: Figure) -> MeasurementWarning:
        """Return a warning with figures by name."""
        return cls(code, tuple(figures.items()))


@dataclass(frozen=True, slots=True)
class ProgramInfo:
    """A whole program that was measured."""

    command: tuple[str, ...]
    """The command that was started, without secrets."""
    stdin: str = ""
    """File that it read as stdin, - for the stdin of profkit; empty for /dev/null."""
    subprocesses: bool = False
    """Whether instructions of child processes were counted; times always include them."""


@dataclass(frozen=True, slots=True)
class OrderInfo:
    """The measured work order as files keep it, without what cannot be written down."""

    label: str
    what: str
    """Statement, or `module:function(signature)` of a callable."""
    setup: str
    global_setup: str
    mode: Mode
    language: Language
    level: Level
    num_threads: int
    quick: bool
    labels: tuple[tuple[str, str], ...] = ()
    source_cmd: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    file: str = ""
    """File that defines a callable."""
    line: int = 0
    python: str = ""
    """The measuring interpreter, if the order named one."""
    program: ProgramInfo | None = field(default=None, metadata={"later": True})
    """The program if it is a whole one; None for a statement or a function."""

    @property
    def unlabelled_language(self) -> str:
        """The language's name; empty for Python, or if a label contains it."""
        named = self.language is Language.PYTHON or self.language.value in dict(self.labels).values()
        return "" if named else self.language.value


@dataclass(frozen=True, slots=True, repr=False)
class Measurement(ShownInNotebooks):
    """Numbers of one order; those that its mode does not request are None."""

    order: OrderInfo
    timing: Timing | None = None
    instructions: InstructionCounts | None = None
    warnings: tuple[MeasurementWarning, ...] = ()

    @property
    def min_s(self) -> float | None:
        """The minimum time of an execution; None without times."""
        return min(self.timing.minima_s) if self.timing is not None else None

    @property
    def median_s(self) -> float | None:
        """The median of the processes' minimum times; None without times."""
        return median(self.timing.minima_s) if self.timing is not None else None

    def __repr__(self) -> str:
        return f"<Measurement of {short_repr(self.order.label)}{_figures(self.median_s, self._stripped)}>"

    @property
    def _stripped(self) -> float | None:
        return None if self.instructions is None else self.instructions.stripped

    def __str__(self) -> str:
        parts = []
        if self.timing is not None:
            middle, least = median(self.timing.minima_s), min(self.timing.minima_s)
            parts.append(f"{format_duration(middle)} (min {format_duration(least)})")
        if self.instructions is not None:
            parts.append(f"{self.instructions.stripped:,.0f} instructions")
        warnings = (
            f"; warnings: {', '.join(warning.code.value for warning in self.warnings)}"
            if self.warnings
            else ""
        )
        return f"{self.order.label}: {', '.join(parts)}{warnings}"


@dataclass(frozen=True, slots=True, repr=False)
class MeasuredInfo:
    """Everything about a kept measurement except the individual numbers; used for lists."""

    id: str
    batch: str
    """Id shared by orders that were measured together; made by `Design.batch`."""
    started_ns: int
    duration_s: float
    """Time of its own processes, without other orders in between."""
    process: ProcessInfo
    """The process that requested it."""
    order: OrderInfo
    min_s: float | None = None
    median_s: float | None = None
    instructions: float | None = None
    """The allocator-stripped count."""
    warnings: tuple[MeasurementWarning, ...] = ()
    notes: tuple[Note, ...] = ()
    error: str | None = None
    """Reason why there are no numbers: the message, with the worker's traceback and output."""
    ended_ns: int = 0
    """Unix time at which its last process ended; other orders of its batch may have run in between."""
    machine: str = field(default="", metadata={"later": True})
    """Model and number of the processors on which it was measured; empty if unknown."""

    @property
    def last_ns(self) -> int:
        """The time it ended, even if the run lacks it or the clock was set back meanwhile."""
        return max(self.ended_ns, self.started_ns + round(self.duration_s * 1e9))

    @property
    def label(self) -> str:
        """The order's label."""
        return self.order.label

    @property
    def design(self) -> Design:
        """The design by which it was timed with orders of its batch in the same environment."""
        together = (Design.INTERLEAVED, Design.ALTERNATING)
        return next((one for one in together if self.batch.startswith(f"{one.value}-")), Design.SEPARATE)

    def __repr__(self) -> str:
        figures = _figures(self.median_s, self.instructions) if self.error is None else ", failed"
        return f"<MeasuredInfo {self.id} of {short_repr(self.label)}{figures}>"


@dataclass(frozen=True, slots=True, repr=False)
class MeasuredRun(ShownInNotebooks):
    """Run of a measurement: what the store keeps about one order."""

    info: MeasuredInfo
    measurement: Measurement | None = None
    """None if it failed."""

    def __repr__(self) -> str:
        return f"<MeasuredRun of {self.info!r}>"


def _figures(median_s: float | None, instructions: float | None) -> str:
    time = "" if median_s is None else f", median {format_duration(median_s)}"
    return time + ("" if instructions is None else f", {instructions:,.0f} instructions")


AnyInfo = RunInfo | MeasuredInfo
"""Everything about a kept run except its samples or numbers."""


AnyRun = Run | MeasuredRun
"""A complete kept run."""


_Info = TypeVar("_Info", RunInfo, MeasuredInfo, AnyInfo)


def unsealed(info: _Info) -> _Info:
    """Return the info without the seal, which shows who recorded the run."""
    return replace(info, process=replace(info.process, seal="")) if info.process.seal else info
