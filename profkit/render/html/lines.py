"""Weights of source lines for an HTML page: by function, line and thread, with their waiting parts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from heapq import nlargest
from itertools import chain, compress, count, islice
from operator import itemgetter
from typing import NamedTuple

from profkit.model.profile import Frame, Profile
from profkit.render.html.document import Columns
from profkit.render.html.samples import add_small, add_weights
from profkit.transforms.trees import by_weight, stack_weights, sum_parts

MAX_LINES = 20_000
"""Maximum number of lines of a run in a page: those with the largest totals."""
MAX_ROWS = 60_000
"""Maximum number of rows, one per line and thread."""
MAX_FUNCTIONS = 500
"""Maximum number of functions of a run whose source is looked up."""
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
    """All lines of the first `MAX_FUNCTIONS` functions, heaviest first, ordered by their heaviest line."""
    heaviest: Mapping[int, int]
    """The heaviest line of each function, in the same order."""


def line_weights(profile: Profile, keys: Sequence[int], waiting: Collection[int] = ()) -> Lines:
    """Return the lines of a profile without order; frame n belongs to function `keys[n]`.

    `waiting` has the indexes of the stacks of waiting threads. A line that is out of range is line 0.
    """
    first_of = _first_frames(profile.frames, keys)
    total = _totals(profile, first_of)
    heaviest = _heaviest_of_functions(total, keys)
    by_function = _by_function(islice(heaviest, MAX_FUNCTIONS), total, keys, profile.frames)
    kept = _heaviest(total, profile.frames)
    stacks = _stacks(profile, first_of, frozenset(kept))
    threads = _Threads.of(profile, stacks, waiting)
    places = {frame: (keys[frame], profile.frames[frame].line) for frame in kept}
    lines = {key: _line_of(profile.frames[frame].line) for key, frame in heaviest.items()}
    stated_totals = total if profile.totals and len(threads.all) == 1 else ()
    return Lines(tuple(sorted(_rows(threads, kept, places, stated_totals))), by_function, lines)


def _line_of(line: int) -> int:
    return line if 0 < line < _NO_LINE else 0


def _first_frames(frames: Sequence[Frame], keys: Sequence[int]) -> Mapping[int, int]:
    """Return the first frame of the same function and line for each frame that repeats one.

    Frames are lines, nearly always. So a line is identified by its first frame; millions need no numbers.
    """
    lines: defaultdict[int, list[int]] = defaultdict(list)
    for key, line in zip(keys, map(itemgetter(2), frames), strict=True):
        lines[key].append(line)
    repeating = {key for key, of_key in lines.items() if _has_equal_lines(of_key)}
    if not repeating:
        return {}
    first: dict[tuple[int, int], int] = {}
    of_repeating = (n for n, key in enumerate(keys) if key in repeating)
    pairs = ((n, first.setdefault((keys[n], _line_of(frames[n].line)), n)) for n in of_repeating)
    return {frame: same for frame, same in pairs if frame != same}


def _has_equal_lines(lines: Sequence[int]) -> bool:
    known = set(lines)
    if min(known) < 0 or max(known) >= _NO_LINE:
        known = set(map(_line_of, known))
    return len(known) < len(lines)


def _totals(profile: Profile, first_of: Mapping[int, int]) -> list[int]:
    """Return the total of each line by its first frame, as stated if it is; 0 for frames that repeat one."""
    total = [0] * len(profile.frames)
    stacks = ((profile.stacks[number], weight) for number, weight in stack_weights(profile).items())
    for frame, weight in sum_parts(by_weight(stacks), partial(_lines_of, first_of)).items():
        total[frame] = weight
    for frame, stated in enumerate(profile.totals):
        if stated is not None:
            total[first_of.get(frame, frame)] = stated
    return total


def _lines_of(first_of: Mapping[int, int], stack: Sequence[int]) -> set[int]:
    """Return the lines of a stack, each once, also if it is recursive."""
    lines = set(stack)
    if first_of and not lines.isdisjoint(first_of):
        return {first_of.get(frame, frame) for frame in lines}
    return lines


def _heaviest_of_functions(total: Sequence[int], keys: Sequence[int]) -> dict[int, int]:
    """Return the heaviest line of each function; functions are ordered by it, as sorting all would."""
    found: dict[int, int] = {}
    for frame in compress(count(), total):
        key = keys[frame]
        if key not in found or total[frame] > total[found[key]]:
            found[key] = frame
    return dict(sorted(found.items(), key=lambda item: (-total[item[1]], item[1])))


def _by_function(
    functions: Iterable[int], total: Sequence[int], keys: Sequence[int], frames: Sequence[Frame]
) -> dict[int, Sequence[int]]:
    """Return the lines of these functions, heaviest first."""
    of_key: dict[int, list[int]] = {key: [] for key in functions}
    for frame in compress(count(), total):
        if keys[frame] in of_key:
            of_key[keys[frame]].append(frame)
    return {
        key: [_line_of(frames[frame].line) for frame in sorted(found, key=total.__getitem__, reverse=True)]
        for key, found in of_key.items()
    }


def _heaviest(total: Sequence[int], frames: Sequence[Frame]) -> list[int]:
    """Return the lines that a page has, heaviest first."""
    known = (frame for frame in compress(count(), total) if 0 < frames[frame][2] < _NO_LINE)
    return nlargest(MAX_LINES, known, key=total.__getitem__)


class _Stack(NamedTuple):
    """Lines of a stack, each identified by its first frame."""

    last: int
    lines: tuple[int, ...]
    """Each line once, also if it is recursive."""


_Stacks = Mapping[int, _Stack]
"""Nonempty stacks by index."""


def _stacks(profile: Profile, first_of: Mapping[int, int], kept: frozenset[int]) -> _Stacks:
    """Return the stacks with the kept lines only."""
    used = {sample.stack for sample in profile.samples}
    frames = ((number, profile.stacks[number]) for number in sorted(used) if profile.stacks[number])
    return {
        number: _Stack(
            first_of.get(stack[-1], stack[-1]), tuple(kept.intersection(_lines_of(first_of, stack)))
        )
        for number, stack in frames
    }


class _Sums(NamedTuple):
    """Own and total weights by line."""

    own: Counter[int]
    total: Counter[int]


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


def _rows(
    threads: _Threads, kept: Sequence[int], places: Mapping[int, tuple[int, int]], stated: Sequence[int]
) -> list[LineWeights]:
    """Return the rows of the heaviest lines, of whole lines only; `stated` has totals that hold instead."""
    rows: list[LineWeights] = []
    for number in kept:
        of_line = list(_rows_of(threads, number, places[number]))
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
