"""Rows of the live view: functions, filtered by a text and sorted; threads; and source lines. Pure."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from profkit.live.samples import FunctionKey, LiveSamples, Tables, Weights
from profkit.model.profile import Node, Sample, Thread
from profkit.render.options import Activity
from profkit.transforms.trees import call_tree


class Order(enum.Enum):
    """Sort order of functions; values are those of the keys' help."""

    RECENT_SELF = "self, last seconds"
    RECENT_TOTAL = "total, last seconds"
    SELF = "self, since the start"
    TOTAL = "total, since the start"
    NAME = "name"


@dataclass(frozen=True, slots=True)
class Chosen:
    """Samples to show."""

    thread: int | None = None
    """Number of the only thread; None for all."""
    activity: Activity = Activity.ALL

    def has(self, thread: int, *, waits: bool) -> bool:
        """Return whether samples of a thread that waits or works are shown."""
        if self.thread not in (None, thread):
            return False
        return self.activity is Activity.ALL or waits is (self.activity is Activity.WAITING)


ALL = Chosen()


@dataclass(frozen=True, slots=True)
class Cost:
    """Weights of a function in the chosen samples."""

    own: int = 0
    total: int = 0
    waiting: int = 0
    """Part of `own` in which the thread waited."""

    @property
    def heat(self) -> tuple[int, int, int]:
        """Sort key for self weight: work comes before waiting."""
        return -(self.own - self.waiting), -self.own, -self.total


_NOTHING = Cost()


@dataclass(frozen=True, slots=True)
class FunctionRow:
    """A function in the last seconds and since the start."""

    number: int
    name: str
    file: str
    recent: Cost
    overall: Cost


@dataclass(frozen=True, slots=True)
class ThreadRow:
    """A thread in the shown samples; shares are of its own samples."""

    number: int
    thread: Thread
    samples: int
    working: int
    waits_now: bool | None
    """Whether its newest sample waited; None if there is none."""
    function: str
    """Function with the most self weight."""


@dataclass(frozen=True, slots=True)
class LineRow:
    """A source line of a function, with the weights of the samples there."""

    number: int
    own: int
    total: int


def costs(weights: Weights, chosen: Chosen = ALL) -> dict[int, Cost]:
    """Return the cost of each function with samples among the chosen ones."""
    own, waiting = _sums(weights.own, chosen)
    total, _ = _sums(weights.total, chosen)
    return {number: Cost(own[number], weight, waiting[number]) for number, weight in total.items()}


def _sums(by_key: Mapping[FunctionKey, int], chosen: Chosen) -> tuple[Counter[int], Counter[int]]:
    sums, waiting = Counter[int](), Counter[int]()
    for (function, thread, waits), weight in by_key.items():
        if chosen.has(thread, waits=waits):
            sums[function] += weight
            if waits:
                waiting[function] += weight
    return sums, waiting


def function_rows(
    samples: LiveSamples, recent: Weights, chosen: Chosen = ALL, order: Order = Order.RECENT_SELF,
    text: str = "",
) -> list[FunctionRow]:  # fmt: skip
    """Return the functions with chosen samples whose name or file contains a text, in an order."""
    now, ever = costs(recent, chosen), costs(samples.overall, chosen)
    wanted = text.casefold()
    rows = []
    for number, overall in ever.items():
        name, file = samples.tables.functions[number]
        if not wanted or wanted in name.casefold() or wanted in file.casefold():
            rows.append(FunctionRow(number, name, file, now.get(number, _NOTHING), overall))
    rows.sort(key=lambda row: (*_rank(row, order), row.name, row.file))
    return rows


def _rank(row: FunctionRow, order: Order) -> tuple[int | str, ...]:
    match order:
        case Order.RECENT_SELF:
            return *row.recent.heat, *row.overall.heat
        case Order.RECENT_TOTAL:
            return -row.recent.total, *row.recent.heat, *row.overall.heat
        case Order.SELF:
            return row.overall.heat
        case Order.TOTAL:
            return -row.overall.total, *row.overall.heat
        case Order.NAME:
            return (row.name.casefold(),)


def chosen_samples(tables: Tables, weights: Weights, chosen: Chosen = ALL) -> Iterator[Sample]:
    """Yield the chosen samples, each stack of a thread once."""
    for (stack, thread), weight in weights.stacks.items():
        if chosen.has(thread, waits=stack in tables.waiting):
            yield Sample(stack, thread, weight)


def weight_of(tables: Tables, weights: Weights, chosen: Chosen = ALL) -> int:
    """Return the number of chosen samples: the whole of which shares are parts."""
    return sum(sample.weight for sample in chosen_samples(tables, weights, chosen))


def tree_of(tables: Tables, weights: Weights, chosen: Chosen = ALL) -> Node:
    """Return the call tree of the chosen samples."""
    return call_tree(tables.profile_of(chosen_samples(tables, weights, chosen)))


def thread_rows(samples: LiveSamples, weights: Weights) -> list[ThreadRow]:
    """Return the threads with samples: those that worked most first, then by id."""
    tables = samples.tables
    seen, working, hottest = Counter[int](), Counter[int](), dict[int, Counter[int]]()
    for (stack, thread), weight in weights.stacks.items():
        seen[thread] += weight
        working[thread] += weight if stack not in tables.waiting else 0
    for (function, thread, _), weight in weights.own.items():
        hottest.setdefault(thread, Counter())[function] += weight
    rows = [
        ThreadRow(
            number=thread,
            thread=tables.threads[thread],
            samples=weight,
            working=working[thread],
            waits_now=tables.waits(samples.newest.get(thread)),
            function=_hottest(tables, hottest.get(thread, Counter())),
        )
        for thread, weight in seen.items()
    ]
    return sorted(rows, key=lambda row: (-row.working, -row.samples, row.thread))


def _hottest(tables: Tables, of_thread: Counter[int]) -> str:
    found = max(of_thread.items(), key=lambda item: (item[1], -item[0]), default=None)
    return tables.functions[found[0]][0] if found is not None else ""


def line_rows(
    tables: Tables, weights: Weights, function: int, chosen: Chosen = ALL
) -> dict[int, LineRow]:  # fmt: skip
    """Return the lines of a function with chosen samples, by number."""
    frames = frozenset(tables.frames_of[function])
    own, total = Counter[int](), Counter[int]()
    for stack, _, weight in chosen_samples(tables, weights, chosen):
        for line in {tables.frames[frame].line for frame in frames.intersection(tables.stacks[stack])}:
            total[line] += weight
        if tables.stacks[stack] and tables.stacks[stack][-1] in frames:
            own[tables.frames[tables.stacks[stack][-1]].line] += weight
    return {line: LineRow(line, own[line], weight) for line, weight in total.items()}
