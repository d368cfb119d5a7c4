"""Weights of source lines for an HTML page, by function, line and thread; which lines a page has."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from itertools import accumulate, chain, compress, count, islice
from operator import itemgetter
from typing import NamedTuple

from profkit.model.profile import Frame, Profile
from profkit.render.html.document import Columns
from profkit.render.html.samples import add_small, add_weights
from profkit.transforms.trees import Stack, Vectors, sum_parts

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
    frames, first_of = profile.frames, _first_frames(profile.frames, keys)
    threads = profile.weights_by_thread
    lines_of = _lines_of_stacks(profile.stacks, first_of)
    of_threads: Mapping[int, Sequence[LineWeights]] = {}
    if are_few := len(frames) <= MAX_LINES and len(threads) <= _TOGETHER:
        of_threads = _by_thread(profile, keys, lines_of.__getitem__, first_of, waiting)
        total = [sum(row.total for row in of_threads.get(frame, ())) for frame in range(len(frames))]
    else:
        total = sum_parts(profile.weights_by_stack.items(), lines_of.__getitem__, len(frames))
    for frame, stated in enumerate(profile.totals):
        if stated is not None:
            total[first_of.get(frame, frame)] = stated
    heaviest = _heaviest_of_functions(total, keys)
    by_function = _by_function(islice(heaviest, MAX_FUNCTIONS), total, keys, frames)
    kept = _heaviest(total, frames)
    if not are_few:
        kept = _that_fit(kept, profile, lines_of)
        among = frozenset(kept)

        def lines_among(stack: int) -> list[int]:
            return [line for line in lines_of[stack] if line in among]

        of_threads = _by_thread(profile, keys, lines_among, first_of, waiting)
    rows = _rows(kept, of_threads, total if profile.totals and len(threads) == 1 else ())
    lines = {key: _line_of(frames[frame].line) for key, frame in heaviest.items()}
    return Lines(tuple(sorted(rows)), by_function, lines)


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


def _lines_of_stacks(stacks: Iterable[Stack], first_of: Mapping[int, int]) -> list[Sequence[int]]:
    """Return the lines of each stack, each once; those of most stacks are the stacks themselves."""
    found: list[Sequence[int]] = []
    for stack in stacks:
        lines = set(stack)
        if first_of and not lines.isdisjoint(first_of):
            lines = {first_of.get(frame, frame) for frame in lines}
            found.append(tuple(lines))
        else:
            found.append(stack if len(lines) == len(stack) else tuple(lines))
    return found


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


def _that_fit(lines: Sequence[int], profile: Profile, lines_of: Sequence[Iterable[int]]) -> list[int]:
    """Return the first of these lines, which have at most `MAX_ROWS` rows: one in each thread that has it."""
    threads = profile.weights_by_thread
    if len(lines) * len(threads) <= MAX_ROWS:
        return list(lines)
    counts: Counter[int] = Counter()
    for of_thread in threads.values():
        counts.update(set[int]().union(*map(lines_of.__getitem__, of_thread)))
    rows = accumulate(map(counts.__getitem__, lines))
    return list(compress(lines, map(MAX_ROWS.__ge__, rows)))


_TOGETHER = 16
"""Number of threads whose weights are added up together; more make vectors too long."""


def _by_thread(
    profile: Profile,
    keys: Sequence[int],
    lines_of: Callable[[int], Iterable[int]],
    first_of: Mapping[int, int],
    waiting: Collection[int],
) -> Mapping[int, Sequence[LineWeights]]:
    """Return the rows by thread of the lines, as first frames, that a function returns of each stack."""
    rows: defaultdict[int, list[LineWeights]] = defaultdict(list)
    present = sorted(profile.weights_by_thread)
    for start in range(0, len(present), _TOGETHER):
        threads = present[start : start + _TOGETHER]
        vectors, stacks = _vectors_of_stacks(profile, threads, waiting)
        own, total = [0] * len(keys), sum_parts(stacks, lines_of, len(keys))
        for number, vector in stacks:
            leaf = profile.stacks[number][-1]
            own[first_of.get(leaf, leaf)] += vector
        for frame in compress(count(), total):
            own_weights, totals = vectors.elements(own[frame]), vectors.elements(total[frame])
            for number, thread in enumerate(threads):
                if totals[number]:
                    place = keys[frame], profile.frames[frame].line, thread
                    weights = zip(
                        own_weights[number :: len(threads)], totals[number :: len(threads)], strict=True
                    )
                    rows[frame].append(LineWeights(*place, *chain.from_iterable(weights)))
    return rows


def _vectors_of_stacks(
    profile: Profile, threads: Sequence[int], waiting: Collection[int]
) -> tuple[Vectors, list[tuple[int, int]]]:
    """Return nonempty stacks with their weights by thread, followed by the waiting parts of these."""
    weights = [profile.weights_by_thread[thread] for thread in threads]
    vectors = Vectors.that_hold(chain.from_iterable(one.values() for one in weights), 2 * len(threads))
    units = vectors.units()
    sums: defaultdict[int, int] = defaultdict(int)
    for of_thread, unit, unit_waiting in zip(weights, units, units[len(threads) :], strict=False):
        for number, weight in of_thread.items():
            sums[number] += weight * (unit + unit_waiting if number in waiting else unit)
    return vectors, [(number, vector) for number, vector in sums.items() if profile.stacks[number]]


def _rows(
    kept: Sequence[int], of_threads: Mapping[int, Sequence[LineWeights]], stated: Sequence[int]
) -> list[LineWeights]:
    """Return the rows of the heaviest lines, of whole lines only; `stated` has totals that hold instead."""
    rows: list[LineWeights] = []
    for frame in kept:
        of_line = of_threads.get(frame, ())
        if stated:
            of_line = [row._replace(total=stated[frame]) for row in of_line]
        if len(rows) + len(of_line) > MAX_ROWS:
            break
        rows += of_line
    return rows


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
