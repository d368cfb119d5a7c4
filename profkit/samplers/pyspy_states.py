"""States of the threads in py-spy's samples, from the journal of rounds that is written beside it.

Each sample is matched with its round. Its state is read up to a millisecond after its stack, and py-spy's
stops wake threads, so some states are wrong. The thread's time on processors says how many. A wrong one is as
likely at each line, so the working parts of lines are corrected until they add up to that time.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from typing import NamedTuple

from profkit.model.profile import Profile, ProfileBuilder, ThreadState
from profkit.samplers.helper.thread_lookups import PAUSED, WAITS, WANTS_GIL, WORKS
from profkit.samplers.state_correction import Placed, Use, corrected
from profkit.samplers.thread_rounds import ProcessRounds, ThreadRounds
from profkit.transforms.simplify import build_like

_PAUSE_MS, _PAUSE_ROUNDS = 100, 3
"""Time between two rounds from which on it is a gap, if it is also so many times as long as the mean one."""
_LATEST = 3
"""The most rounds by which a thread's first sample comes after the first round in which it existed."""
_MOST_ABSENT = 0.02
"""Part of a thread's rounds without a sample up to which its samples are in consecutive rounds."""
_SHORTEST_S = 0.2
"""Time of a thread below which its use of processors is not known."""
_UNCHANGED_MS = 600
"""Time without new times of a thread after which it has not run: they are looked up twice a second."""
_UNKNOWN = 0
_STATES = {
    ord(WORKS): ThreadState.WORKING,
    ord(WAITS): ThreadState.WAITING,
    ord(WANTS_GIL): ThreadState.GIL,
    _UNKNOWN: ThreadState.UNKNOWN,
}
_PAUSED = ord(PAUSED)

Run = tuple[int, int]
"""A stack, and the number of samples in a row that have it."""


class Measured(NamedTuple):
    """A profile with the states of threads and the starts of samples, and what was not sampled."""

    profile: Profile
    rounds: int | None
    """Rounds in which the first process could be read."""
    unseen_ns: int
    """Time in which it could not be read, or was stopped."""


def with_states(profile: Profile, processes: Mapping[int, ProcessRounds], *, stops: bool) -> Measured:
    """Return the profile with the states of its threads; those without a pid are of the first process.

    `stops` says whether the sampler stopped the processes for its samples.
    """
    first = next(iter(processes))
    runs: list[list[Run]] = [[] for _ in profile.threads]
    for stack, thread, weight in profile.samples:
        runs[thread].append((stack, weight))
    leaves = [stack[-1] if stack else -1 for stack in profile.stacks]
    timelines = {pid: _Timeline(process) for pid, process in processes.items()}
    for pid, timeline in timelines.items():
        own = [n for n, thread in enumerate(profile.threads) if (thread.pid or first) == pid]
        timeline.choose_first([(profile.threads[n].tid, runs[n]) for n in own], leaves)
    builder = ProfileBuilder()
    for frame in profile.frames:
        builder.frame(frame)
    for one, of_one in zip(profile.threads, runs, strict=True):
        number, owner = builder.thread(one), timelines.get(one.pid or first)
        for start, stack, weight, state in _placed(owner, one.tid, of_one, leaves, stops=stops):
            builder.add_indexed(profile.stacks[stack], number, weight, start, state=state)
    built, sampled = build_like(profile, builder), Counter[int]()
    for _, thread, weight in built.samples:
        sampled[thread] += weight if (built.threads[thread].pid or first) == first else 0
    # There are more samples than rounds if these were not observed to the end.
    rounds = max(timelines[first].good_rounds, *sampled.values(), 0)
    return Measured(built, rounds, timelines[first].unseen_ns())


def _placed(
    timeline: _Timeline | None, tid: int, runs: Sequence[Run], leaves: Sequence[int], *, stops: bool
) -> Iterator[Placed]:
    found = None if timeline is None else timeline.lifetime(tid)
    if found is None or not found.letters:
        start = 0
        for stack, weight in runs:
            yield Placed(start, stack, weight, ThreadState.UNKNOWN)
            start += weight
    else:
        yield from corrected(list(found.place(runs, leaves)), found.use, leaves, stops=stops)


class _Lifetime:
    def __init__(self, first: int, letters: bytes, use: Use | None, *, is_new: bool) -> None:
        self.first, self.letters = first, letters
        self.use = use
        """None if it is not known."""
        self._is_new = is_new
        """Whether it began after the sampling."""

    def place(self, runs: Sequence[Run], leaves: Sequence[int]) -> Iterator[Placed]:
        """Yield the samples with their rounds and states; those of a stopped process are left out."""
        number, known = sum(weight for _, weight in runs), len(self.letters)
        tolerated = max(_LATEST, _MOST_ABSENT * known)
        if 0 <= known - number <= tolerated:
            offset, _ = self.best_offset(runs, leaves)
            letters, start = self.letters[offset:], self.first + offset
        elif number > known:  # the rounds were not observed to the end
            letters, start = self.letters + bytes([_UNKNOWN]) * (number - known), self.first
        else:
            letters = bytes([self.letters[place * known // number] for place in range(number)])
            start = self.first
        done = 0
        for stack, weight in runs:
            for letter, same in groupby(letters[done : done + weight]):
                length = sum(1 for _ in same)
                if letter != _PAUSED:
                    yield Placed(start + done, stack, length, _STATES[letter])
                done += length

    def best_offset(self, runs: Sequence[Run], leaves: Sequence[int]) -> tuple[int, int]:
        """Return the number of rounds before the first sample, and the agreement with it."""
        most = len(self.letters) - sum(weight for _, weight in runs) if self._is_new else 0
        offsets = range(max(0, min(_LATEST, most)) + 1)
        best, negative = max((agreement(runs, self.letters[one:], leaves), -one) for one in offsets)
        return -negative, best


class _Timeline:
    def __init__(self, process: ProcessRounds) -> None:
        self._process = process
        self._failed = sorted(set(_failed_rounds(process)))
        self._first = 1
        self._gaps = list(self._long(_in_a_row(self._failed)))
        """First rounds and ends of rows of failed rounds that are no mere loss of samples."""

    @property
    def good_rounds(self) -> int:
        """Number of rounds in which the process could be read, and was not stopped."""
        return self._good_before(self._process.rounds) - self._stopped_rounds()

    def choose_first(self, threads: Sequence[tuple[int, Sequence[Run]]], leaves: Sequence[int]) -> None:
        """Choose the first round with samples, by the best match of states and lines.

        Before, the sampler tries whether it can read. It may say that it samples after its first round has
        begun. The observer may have begun later: then the first round is negative.
        """

        def matches(first: int) -> int:
            self._first = first
            lifetimes = ((self.lifetime(tid), runs) for tid, runs in threads)
            return sum(one.best_offset(runs, leaves)[1] for one, runs in lifetimes if one is not None)

        usual = self._process.trials
        samples = max((sum(weight for _, weight in runs) for _, runs in threads), default=0)
        missed = samples + len(self._failed) - self._process.rounds
        unobserved = range(max(1, missed - _LATEST), missed + _LATEST + 1) if missed > 0 else ()
        firsts = (*range(max(usual, _LATEST) + 1), *(-number for number in unobserved))
        self._first = max(firsts, key=lambda first: (matches(first), -abs(first - usual)))

    def lifetime(self, tid: int) -> _Lifetime | None:
        """Return what is known of a thread; if its id was used again, of all threads with it."""
        found = self._process.threads.get(tid)
        if not found:
            return None
        unobserved = max(0, -self._first) if found[0].first == 0 else 0
        letters = bytes([_UNKNOWN]) * unobserved + b"".join(map(self._good_letters, found))
        first = found[0].first - unobserved
        use = self._use(found[0]) if len(found) == 1 else None
        return _Lifetime(self._good_before(first), letters, use, is_new=first > self._first)

    def unseen_ns(self) -> int:
        """Return the time in which the process could not be read, or was stopped."""
        mean_ms, unseen_ms = self._mean_ms(), 0.0
        for (before, since_ms), (after, until_ms) in pairwise(self._process.clock):
            length_ms = until_ms - since_ms
            is_pause = after - before <= 1 and length_ms >= max(_PAUSE_MS, _PAUSE_ROUNDS * mean_ms)
            if is_pause and not self._is_in_gap(before, after):
                unseen_ms += length_ms
        unseen_ms += sum(self._ms_at(end) - self._ms_at(first) for first, end in self._gaps)
        return round(1e6 * (unseen_ms + self._stopped_rounds() * mean_ms))

    def _long(self, rows: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
        for first, end in rows:
            if self._ms_at(end) - self._ms_at(first) >= _PAUSE_MS:
                yield first, end

    def _is_in_gap(self, first: int, end: int) -> bool:
        return any(began < end and first < ended for began, ended in self._gaps)

    def _mean_ms(self) -> float:
        """Return the mean time between two rounds, 0 if there are too few."""
        clock = self._process.clock
        rounds = clock[-1][0] - clock[0][0] if clock else 0
        return (clock[-1][1] - clock[0][1]) / rounds if rounds else 0.0

    def _stopped_rounds(self) -> int:
        """Return in how many rounds the process was stopped by a signal: all of its threads then are."""
        threads = (thread for known in self._process.threads.values() for thread in known)
        return max((thread.letters.count(_PAUSED) for thread in threads), default=0)

    def _good_before(self, number: int) -> int:
        if number <= self._first:
            return 0
        failed = bisect_left(self._failed, number) - bisect_left(self._failed, self._first)
        return number - self._first - failed

    def _good_letters(self, thread: ThreadRounds) -> bytes:
        since = max(0, self._first - thread.first)
        letters, begin = thread.letters[since:], thread.first + since
        pieces, done = list[bytes](), 0
        for number in self._failed[bisect_left(self._failed, begin) :]:
            pieces.append(bytes(letters[done : number - begin]))
            done = number - begin + 1
        return b"".join((*pieces, letters[done:]))

    def _use(self, thread: ThreadRounds) -> Use | None:
        """Return a thread's use of processors, None if too little is known."""
        times = thread.times
        end = thread.first + len(thread.letters)
        # What it used after the last times is not known; they are only recorded if they change.
        if times and self._ms_at(end) - self._ms_at(times[-1].round) >= _UNCHANGED_MS:
            times = [*times, replace(times[-1], round=end)]
        length_s = cpu_s = late_s = 0.0
        rounds = slices = 0
        for before, after in pairwise(times):
            number = after.round - before.round
            if number <= 0 or self._is_in_gap(before.round, after.round):
                continue
            letters = thread.letters[max(0, before.round - thread.first) : after.round - thread.first]
            part = 1 - letters.count(_PAUSED) / number
            length_s += part * (self._ms_at(after.round) - self._ms_at(before.round)) / 1e3
            cpu_s += after.cpu_s - before.cpu_s
            late_s += after.late_s - before.late_s
            slices += after.slices - before.slices
            rounds += number
        if length_s < _SHORTEST_S:
            return None
        return Use(min(1.0, cpu_s / length_s), min(1.0, late_s / length_s), slices / rounds)

    def _ms_at(self, number: int) -> float:
        clock = self._process.clock
        place = bisect_right(clock, (number, float("inf")))
        if not clock or place in (0, len(clock)):
            return float(clock[min(place, len(clock) - 1)][1]) if clock else 0.0
        (before, since_ms), (after, until_ms) = clock[place - 1], clock[place]
        return since_ms + (until_ms - since_ms) * (number - before) / max(1, after - before)


def _failed_rounds(process: ProcessRounds) -> Iterator[int]:
    """Yield the rounds that failed: when that is logged, the next one has usually begun."""
    known: set[int] = set()
    for seen in process.failed:
        number = seen - 2
        while number in known:
            number -= 1
        known.add(number)
        yield number


def _in_a_row(numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yield the first number and the end of each row of consecutive ones."""
    for _, row in groupby(enumerate(numbers), key=lambda one: one[1] - one[0]):
        found = [number for _, number in row]
        yield found[0], found[-1] + 1


def agreement(runs: Iterable[Run], letters: bytes, leaves: Sequence[int]) -> int:
    """Return how many samples have the most frequent state of their line, of those with a known one."""
    counts: Counter[tuple[int, bool]] = Counter()
    done = 0
    for stack, weight in runs:
        part = letters[done : done + weight]
        works = part.count(WORKS.encode())
        counts[leaves[stack], True] += works
        counts[leaves[stack], False] += len(part) - works - part.count(_UNKNOWN)
        done += weight
    return sum(max(counts[leaf, True], counts[leaf, False]) for leaf in {leaf for leaf, _ in counts})
