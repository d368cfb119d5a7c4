"""A run in slices: the shares that its functions have in equal parts of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from profkit.model.profile import Profile, Sample
from profkit.transforms.tables import function_rows

SLICES = 20
"""Enough to tell their spread within a sixth; few, so that what is alike in neighbours stays within one."""

Function = tuple[str, str]
"""Name and file."""


@dataclass(frozen=True, slots=True)
class Shares:
    """Own and total shares of functions, parts of 1; functions that are not there have none."""

    own: Mapping[Function, float]
    total: Mapping[Function, float]


def whole(profile: Profile) -> Shares:
    """The shares of all functions in all samples; recursion counts once.

    Totals that a file states can exceed the whole: their shares are 1.
    """
    weight, rows = profile.total_weight, function_rows(profile)
    return Shares(
        {(row.name, row.file): row.self_weight / weight for row in rows},
        {(row.name, row.file): min(1.0, row.total_weight / weight) for row in rows},
    )


def sliced(profile: Profile, functions: Collection[Function], slices: int = SLICES) -> tuple[Shares, ...]:
    """These functions' shares in equal parts of the samples' weight, in the order in which they were taken.

    Each part has the same part of each thread: the beginning of all threads, and so on. What of it lies
    across a boundary is divided.
    """
    parts: list[dict[int, float]] = [{} for _ in range(slices)]
    for samples in _by_thread(profile):
        _cut(samples, parts)
    wanted = {function: number for number, function in enumerate(functions)}
    of_stacks = _functions_of(profile, {stack for part in parts for stack in part}, wanted)
    return tuple(_shares(part, of_stacks, tuple(wanted)) for part in parts)


def effective_samples(profile: Profile) -> float:
    """How many samples of equal weight tell as much as these: L. Kish, "Survey Sampling", 1965, 11.7.

    Weights that count samples, taken one by one, tell as much as they are.
    """
    total = profile.total_weight
    squares = sum(sample.weight**2 for sample in profile.samples)
    return total * total / squares if squares else 0.0


def _by_thread(profile: Profile) -> Iterator[list[Sample]]:
    threads: dict[int, list[Sample]] = {}
    for sample in profile.samples:
        threads.setdefault(sample.thread, []).append(sample)
    yield from threads.values()


def _cut(samples: Iterable[Sample], parts: list[dict[int, float]]) -> None:
    """Deal samples to the parts in turn, as much weight to each."""
    kept = [sample for sample in samples if sample.weight > 0]
    size = sum(sample.weight for sample in kept) / len(parts)
    number, room = 0, size
    for stack, _, weight in kept:
        left = float(weight)
        while left > 0:
            if room <= 0 and number < len(parts) - 1:
                number, room = number + 1, size
            taken = left if number == len(parts) - 1 else min(left, room)
            parts[number][stack] = parts[number].get(stack, 0.0) + taken
            left, room = left - taken, room - taken


_Functions = Mapping[int, tuple[int | None, Sequence[int]]]
"""For each stack the number of its last function, and those of all, as far as they are wanted."""


def _functions_of(profile: Profile, stacks: Iterable[int], wanted: Mapping[Function, int]) -> _Functions:
    numbers = [wanted.get((frame.name, frame.file)) for frame in profile.frames]
    found: dict[int, tuple[int | None, Sequence[int]]] = {}
    for stack in stacks:
        of_frames = [numbers[frame] for frame in profile.stacks[stack]]
        every = {number for number in of_frames if number is not None}
        found[stack] = (of_frames[-1] if of_frames else None, tuple(every))
    return found


def _shares(weights: Mapping[int, float], functions: _Functions, wanted: Sequence[Function]) -> Shares:
    own, total = [0.0] * len(wanted), [0.0] * len(wanted)
    whole_weight = sum(weights.values())
    for stack, weight in weights.items():
        last, every = functions[stack]
        if last is not None:
            own[last] += weight
        for number in every:
            total[number] += weight
    return Shares(*({one: of[n] / whole_weight for n, one in enumerate(wanted)} for of in (own, total)))
