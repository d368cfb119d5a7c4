"""A run in slices: the shares that its functions have in equal parts of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from profkit.model.profile import Profile, Sample

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
    """The shares of all functions in all samples; recursion counts once."""
    weights = dict.fromkeys((sample.stack for sample in profile.samples), 0.0)
    for sample in profile.samples:
        weights[sample.stack] += sample.weight
    return _shares(weights, _functions_of(profile, weights))


def sliced(profile: Profile, slices: int = SLICES) -> tuple[Shares, ...]:
    """The shares in each of equal parts of the samples' weight, in the order in which they were taken.

    Each part has the same part of each thread: the beginning of all threads, and so on. What of it lies
    across a boundary is divided.
    """
    parts: list[dict[int, float]] = [{} for _ in range(slices)]
    for samples in _by_thread(profile):
        _cut(samples, parts)
    functions = _functions_of(profile, {stack for part in parts for stack in part})
    return tuple(_shares(part, functions) for part in parts)


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


_Functions = Mapping[int, tuple[Function | None, frozenset[Function]]]
"""For each stack its last function and all of its functions."""


def _functions_of(profile: Profile, stacks: Iterable[int]) -> _Functions:
    keys = [(frame.name, frame.file) for frame in profile.frames]
    found = {}
    for stack in stacks:
        frames = profile.stacks[stack]
        found[stack] = (keys[frames[-1]] if frames else None, frozenset(keys[frame] for frame in frames))
    return found


def _shares(weights: Mapping[int, float], functions: _Functions) -> Shares:
    own: dict[Function, float] = {}
    total: dict[Function, float] = {}
    whole_weight = sum(weights.values())
    for stack, weight in weights.items():
        last, all_of_them = functions[stack]
        share = weight / whole_weight
        if last is not None:
            own[last] = own.get(last, 0.0) + share
        for function in all_of_them:
            total[function] = total.get(function, 0.0) + share
    return Shares(own, total)
