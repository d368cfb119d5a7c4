"""Weights of source lines for an HTML page: by function, line and thread, with their waiting parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from profkit.model.profile import Profile
from profkit.render.html.document import Columns
from profkit.render.html.samples import add_small, add_weights
from profkit.transforms.trees import picked, stack_weights

MAX_LINES = 20_000
"""Maximum number of lines of a run in a page: those with the largest totals."""
MAX_ROWS = 60_000
"""Maximum number of rows, one per line and thread."""
_NO_LINE = 2**32
"""Limit of line numbers: those of damaged or hostile profiles may not fit 32 bits."""


class LineWeights(NamedTuple):
    """Weights of a function's line in a thread; the function and the thread are numbers."""

    function: int
    line: int
    thread: int
    own: int
    total: int
    waiting: int = 0
    """Part of `own` in which the thread waited."""
    waiting_total: int = 0
    """Part of `total` in which the thread waited."""


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines of a run with samples or a stated total."""

    rows: tuple[LineWeights, ...]
    """By function, line and thread; without unknown lines, and at most `MAX_ROWS`."""
    by_function: Mapping[int, Sequence[int]]
    """All lines of each function, heaviest first; functions are ordered by their heaviest line."""


def line_weights(profile: Profile, keys: Sequence[int], waiting: Collection[int] = ()) -> Lines:
    """Return the lines of a profile without order; frame n belongs to function `keys[n]`.

    `waiting` has the indexes of the stacks of waiting threads. A line that is out of range is line 0.
    """
    places, of_frame = _number_lines(profile, keys)
    stacks = _stacks(profile, of_frame)
    threads = _Threads.of(profile, stacks, waiting) if len(places) <= MAX_LINES else None
    total = [0] * len(places)
    if threads is None:
        _add(stack_weights(profile).items(), stacks, _Sums([0] * len(places), total))
    else:
        threads.add_totals(total)
    for number, stated in zip(of_frame, profile.totals, strict=False):
        total[number] = total[number] if stated is None else stated
    heaviest = sorted(filter(total.__getitem__, range(len(total))), key=total.__getitem__, reverse=True)
    by_function: dict[int, list[int]] = {}
    for number in heaviest:
        function, line = divmod(places[number], _NO_LINE)
        by_function.setdefault(function, []).append(line)
    kept = [number for number in heaviest if places[number] % _NO_LINE][:MAX_LINES]
    threads = threads or _Threads.of(profile, _only(stacks, frozenset(kept)), waiting)
    stated_totals = total if profile.totals and len(threads.all) == 1 else ()
    return Lines(tuple(sorted(_rows(threads, kept, places, stated_totals))), by_function)


def _number_lines(profile: Profile, keys: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return the place of each number, function * _NO_LINE + line, and the number of each frame.

    There can be millions, and integers take less memory than pairs.
    """
    numbers: dict[int, int] = {}
    of_frame = [
        numbers.setdefault(key * _NO_LINE + (line if 0 < line < _NO_LINE else 0), len(numbers))
        for key, (_, _, line) in zip(keys, profile.frames, strict=True)
    ]
    return list(numbers), of_frame


class _Stack(NamedTuple):
    """Lines of a stack by number."""

    last: int
    lines: tuple[int, ...]
    """Each line once, also if it is recursive."""


_Stacks = Mapping[int, _Stack]
"""Nonempty stacks by index."""


def _stacks(profile: Profile, of_frame: Sequence[int]) -> _Stacks:
    used = {sample.stack for sample in profile.samples}
    frames = ((number, profile.stacks[number]) for number in sorted(used) if profile.stacks[number])
    return {
        number: _Stack(of_frame[stack[-1]], tuple(set(picked(stack, of_frame)))) for number, stack in frames
    }


def _only(stacks: _Stacks, kept: frozenset[int]) -> _Stacks:
    """Return the stacks with the kept lines only."""
    return {
        number: _Stack(stack.last, tuple(filter(kept.__contains__, stack.lines)))
        for number, stack in stacks.items()
    }


class _Sums(NamedTuple):
    """Own and total weights by number of the line."""

    own: Counter[int] | list[int]
    total: Counter[int] | list[int]


def _add(weights: Iterable[tuple[int, int]], stacks: _Stacks, sums: _Sums) -> None:
    """Add the weights of stacks, given as index and weight, to sums."""
    by_weight: dict[int, list[_Stack]] = {}
    for number, weight in weights:
        if stack := stacks.get(number):
            by_weight.setdefault(weight, []).append(stack)
    for weight, of_weight in by_weight.items():
        # Stacks of equal weight can be counted, which is fast.
        own = Counter(stack.last for stack in of_weight)
        total = Counter(chain.from_iterable([stack.lines for stack in of_weight]))
        for sum_of, counts in zip(sums, (own, total), strict=True):
            for number, times in counts.items():
                sum_of[number] += weight * times


class _Threads(NamedTuple):
    """Sums by thread, of all samples and of those in which the thread waited."""

    all: dict[int, _Sums]
    waiting: dict[int, _Sums]

    @classmethod
    def of(cls, profile: Profile, stacks: _Stacks, waiting: Collection[int]) -> _Threads:
        """Sum the weights of lines by thread."""
        samples: dict[tuple[int, bool], list[tuple[int, int]]] = {}
        for stack, thread, weight in profile.samples:
            samples.setdefault((thread, stack in waiting), []).append((stack, weight))
        threads = cls({}, {})
        for (thread, waits), weights in sorted(samples.items()):
            _add(weights, stacks, threads.all.setdefault(thread, _Sums(Counter(), Counter())))
            if waits:
                _add(weights, stacks, threads.waiting.setdefault(thread, _Sums(Counter(), Counter())))
        return threads

    def add_totals(self, total: list[int]) -> None:
        """Add the totals of all threads."""
        for sums in self.all.values():
            for number in sums.total:
                total[number] += sums.total[number]


def _rows(
    threads: _Threads, kept: Sequence[int], places: Sequence[int], stated: Sequence[int]
) -> list[LineWeights]:
    """Return the rows of the heaviest lines, of whole lines only; `stated` has totals that hold instead."""
    rows: list[LineWeights] = []
    for number in kept:
        of_line = list(_rows_of(threads, number, divmod(places[number], _NO_LINE)))
        if stated:
            of_line = [row._replace(total=stated[number]) for row in of_line]
        if len(rows) + len(of_line) > MAX_ROWS:
            break
        rows += of_line
    return rows


def _rows_of(threads: _Threads, number: int, place: tuple[int, int]) -> Iterator[LineWeights]:
    for thread, sums in threads.all.items():
        if total := sums.total[number]:
            waits = threads.waiting.get(thread)
            waited = (waits.own[number], waits.total[number]) if waits else (0, 0)
            yield LineWeights(*place, thread, sums.own[number], total, *waited)


def add_lines(columns: Columns, prefix: str, rows: Sequence[LineWeights]) -> None:
    """Add `lines.function`, `.line`, `.thread`, `.self` and `.total`, and the waiting parts if there are any.

    `lines.thread` is omitted if all lines are of the first thread. `lines.waiting` and `.waiting_total` are
    the parts of `lines.self` and `.total` in which the thread waited.
    """
    columns.add(f"{prefix}lines.function", "u32", [row.function for row in rows])
    columns.add(f"{prefix}lines.line", "u32", [row.line for row in rows])
    if any(row.thread for row in rows):
        add_small(columns, f"{prefix}lines.thread", [row.thread for row in rows])
    add_weights(columns, f"{prefix}lines.self", [row.own for row in rows])
    add_weights(columns, f"{prefix}lines.total", [row.total for row in rows])
    if any(row.waiting_total for row in rows):
        add_weights(columns, f"{prefix}lines.waiting", [row.waiting for row in rows])
        add_weights(columns, f"{prefix}lines.waiting_total", [row.waiting_total for row in rows])
