"""Measurements: times per process and block, instruction counts, and warnings about both."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field, replace
from statistics import median
from typing import TypeVar

from profkit.model.notebook import ShownInNotebooks
from profkit.model.run import Run, RunInfo
from profkit.model.session import ProcessInfo
from profkit.model.workorder import Language, Level, Mode
from profkit.units import format_duration, short_repr

INSTRUCTIONS = "Ir"
"""Callgrind's name for instructions executed."""


@dataclass(frozen=True, slots=True)
class FunctionCount:
    """A function's instructions in one dump; `name` is `file:function` as callgrind_annotate writes it."""

    name: str
    exclusive: float
    """Executed in the function itself."""
    inclusive: float
    """With everything that it called."""
    calls: float = 0
    """How often it was called; 0 where Callgrind saw no call, as for what was running already."""
    object: str = ""
    """The shared object that holds it, empty where Callgrind does not say."""


@dataclass(frozen=True, slots=True)
class CallCount:
    """Calls from one function to another, with what they cost inclusively."""

    caller: str
    callee: str
    calls: float
    inclusive: float


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


_LATER = {"later": True}
"""Of a field that older documents lack: it has its default then."""


class Tool(enum.Enum):
    """What a zygote runs under."""

    NONE = "none"
    VALGRIND = "valgrind"


class Preload(enum.Enum):
    """What a zygote imports before it forks anything."""

    NOTHING = "stdlib"
    NUMPY = "numpy"
    TORCH = "torch"


class Manner(enum.Enum):
    """How orders of a batch were timed, which says what can be known of their ratios; JSON's word for it."""

    INTERLEAVED = "interleaved"
    """Block by block in the same processes."""
    IN_TURNS = "in-turns"
    """In processes that took turns: A, B, B, A."""
    APART = "apart"
    """One after the other: whatever changed on the machine in between is part of the ratio."""

    def batch(self, digits: str) -> str:
        """The id of a batch that was timed so; `MeasuredInfo.manner` reads it back."""
        return digits if self is Manner.APART else f"{self.value}-{digits}"


@dataclass(frozen=True, slots=True)
class MeasuredIn:
    """Where numbers come from; numbers from different places are not compared."""

    tool: Tool
    preload: Preload
    python: str
    packages: tuple[tuple[str, str], ...] = ()
    """(package, version) of what was preloaded."""
    isolated: bool = True
    """False: measured in the caller's own process."""


@dataclass(frozen=True, slots=True)
class ProcessTimes:
    """The blocks of one process."""

    times_s: tuple[float, ...]
    """Of one execution, for each block its mean."""
    zygote: int
    """Processes of one zygote share a draw of memory layout and hash seed."""
    cpu_share: float
    """CPU time by wall time of the blocks; below 0.95 somebody else had the core."""
    involuntary_switches: int


@dataclass(frozen=True, slots=True)
class Freshness:
    """Whether each execution had arguments, or a setup, of its own."""

    fresh: bool = False
    changes: tuple[str, ...] = ()
    """What an execution changes, in words."""
    why_not: str = ""
    """Why executions shared a state that they change; empty if that made no difference."""
    loop_s: float = 0.0
    """Time of handing a state to an execution, which was subtracted from each time."""


@dataclass(frozen=True, slots=True)
class Timing:
    """Wall-clock times; `number` executions in each block."""

    number: int
    processes: tuple[ProcessTimes, ...]
    measured_in: MeasuredIn
    freshness: Freshness = field(default=Freshness(), metadata=_LATER)

    @property
    def times_s(self) -> tuple[tuple[float, ...], ...]:
        """[process][block], of one execution."""
        return tuple(process.times_s for process in self.processes)

    @property
    def minima_s(self) -> tuple[float, ...]:
        """Each process's least time: what disturbs a block makes it longer."""
        return tuple(min(process.times_s) for process in self.processes)


@dataclass(frozen=True, slots=True)
class SentryCount:
    """Instructions of a fixed C++ statement, which should be the same in all environments of a machine."""

    name: str
    instructions: float


@dataclass(frozen=True, slots=True)
class InstructionCounts:
    """Instructions; all per execution of the statement but `raw` and `raw_stripped`."""

    number: int
    """Executions in each repeat."""
    raw: tuple[int, ...]
    """Each repeat's total, loop and all."""
    baseline: float
    """What the same loop around `pass` costs."""
    net: float
    """Raw without the baseline; the least of the repeats."""
    stripped: float
    """Net without memory allocators, whose counts depend on the state of the heap."""
    measured_in: MeasuredIn
    functions: tuple[FunctionCount, ...] = ()
    """Per execution and without the baseline, most exclusive first."""
    calls: tuple[CallCount, ...] = ()
    """Per execution."""
    events: tuple[tuple[str, float], ...] = ()
    """(event, net count) of everything that was simulated, and "cycles", as Callgrind estimates them."""
    raw_stripped: tuple[int, ...] = ()
    """Each repeat's total without allocators: what tells whether it did the same each time."""
    sentries: tuple[SentryCount, ...] = field(default=(), metadata=_LATER)
    """Counted in the same zygote, where the order named an environment."""
    processes: int = field(default=1, metadata=_LATER)
    """How many processes counted, each as many of the repeats."""
    freshness: Freshness = field(default=Freshness(), metadata=_LATER)


class Flag(enum.Enum):
    """Why a measurement is not to be trusted, or not in full; the value is what JSON carries."""

    QUICK = "quick"
    FEW_PROCESSES = "few-processes"
    FEW_BLOCKS = "few-blocks"
    CPU_SHARE = "cpu-share"
    SWITCHES = "involuntary-switches"
    SPREAD = "spread"
    SHORT = "too-short"
    NOT_ISOLATED = "not-isolated"
    COUNTS_DIFFER = "counts-differ"
    MANY_WORKERS = "many-workers"
    LIMITED = "limited-runs"
    CHANGES_STATE = "changes-state"


@dataclass(frozen=True, slots=True)
class Doubt:
    """A flag and the sentence that explains it with its figures."""

    flag: Flag
    why: str


@dataclass(frozen=True, slots=True)
class OrderInfo:
    """What was measured, as files keep it; a WorkOrder without what cannot be written down."""

    label: str
    what: str
    """The statement, or `module:function(signature)` of a callable."""
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
    """Of a callable, where it is defined."""
    line: int = 0
    python: str = field(default="", metadata=_LATER)
    """The interpreter that measured, where the order named one."""

    @property
    def unlabelled_language(self) -> str:
        """The language's name; empty for Python, and if a label says it already."""
        named = self.language is Language.PYTHON or self.language.value in dict(self.labels).values()
        return "" if named else self.language.value


@dataclass(frozen=True, slots=True, repr=False)
class Measurement(ShownInNotebooks):
    """One order's numbers; what its mode does not ask for is None."""

    order: OrderInfo
    timing: Timing | None = None
    instructions: InstructionCounts | None = None
    doubts: tuple[Doubt, ...] = ()

    @property
    def min_s(self) -> float | None:
        """The least time of an execution; None without times."""
        return min(self.timing.minima_s) if self.timing is not None else None

    @property
    def median_s(self) -> float | None:
        """The median of the processes' least times; None without times."""
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
        doubts = f", in doubt: {', '.join(doubt.flag.value for doubt in self.doubts)}" if self.doubts else ""
        return f"{self.order.label}: {', '.join(parts)}{doubts}"


@dataclass(frozen=True, slots=True, repr=False)
class MeasuredInfo:
    """Everything about a kept measurement but its numbers one by one; what lists are made of."""

    id: str
    batch: str
    """Orders that were measured together share it; made by `Manner.batch`."""
    started_ns: int
    duration_s: float
    """Time of its own processes, without those of other orders in between."""
    process: ProcessInfo
    """Who asked for it."""
    order: OrderInfo
    min_s: float | None = None
    median_s: float | None = None
    instructions: float | None = None
    """The allocator-stripped count."""
    doubts: tuple[Doubt, ...] = ()
    notes: tuple[str, ...] = ()
    error: str | None = None
    """Why there are no numbers: the message, with the worker's traceback and output."""
    ended_ns: int = field(default=0, metadata=_LATER)
    """When its last process had ended; others of its batch may have run in between."""

    @property
    def last_ns(self) -> int:
        """When it ended, also of a run that does not say so, and if the clock was set back meanwhile."""
        return max(self.ended_ns, self.started_ns + round(self.duration_s * 1e9))

    @property
    def label(self) -> str:
        """The order's label."""
        return self.order.label

    @property
    def manner(self) -> Manner:
        """How it was timed beside the others of its batch, those with the same environment."""
        together = (Manner.INTERLEAVED, Manner.IN_TURNS)
        return next((one for one in together if self.batch.startswith(f"{one.value}-")), Manner.APART)

    def __repr__(self) -> str:
        figures = _figures(self.median_s, self.instructions) if self.error is None else ", failed"
        return f"<MeasuredInfo {self.id} of {short_repr(self.label)}{figures}>"


@dataclass(frozen=True, slots=True, repr=False)
class MeasuredRun(ShownInNotebooks):
    """A run of a measurement: what the store keeps about one order."""

    info: MeasuredInfo
    measurement: Measurement | None = None
    """None where it failed."""

    def __repr__(self) -> str:
        return f"<MeasuredRun of {self.info!r}>"


def _figures(median_s: float | None, instructions: float | None) -> str:
    time = "" if median_s is None else f", median {format_duration(median_s)}"
    return time + ("" if instructions is None else f", {instructions:,.0f} instructions")


AnyInfo = RunInfo | MeasuredInfo
"""Everything about a kept run but its samples or numbers."""


AnyRun = Run | MeasuredRun
"""A kept run, whole."""


_Info = TypeVar("_Info", RunInfo, MeasuredInfo, AnyInfo)


def unsealed(info: _Info) -> _Info:
    """Return what is known of a run without what shows who recorded it."""
    return replace(info, process=replace(info.process, seal="")) if info.process.seal else info
