"""Profiles of the type `sampled`: a stack and a weight per sample, the frames root first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby, islice

from profkit.formats.json_members import member, number, optional, whole
from profkit.model.profile import Frame, ProfileBuilder


def listed_frames(document: object) -> list[Frame]:
    """The frames that all profiles of the file share; columns within a line are passed over."""
    listed = member(member(document, "the file", "shared", dict), "shared", "frames", list)
    return [_frame(entry, f"shared.frames[{n}]") for n, entry in enumerate(listed)]


def add_samples(
    builder: ProfileBuilder,
    frames: Mapping[int, int],
    thread: int,
    samples: list[object],
    weights: Iterable[int],
    where: str,
) -> None:
    """Append a thread's samples, those of no weight left out; `frames` gives the builder's numbers."""
    left = iter(weights)
    done = 0
    stacks = ListedStacks(frames)
    for sample, repeated in groupby(samples):
        count = sum(1 for _ in repeated)
        stack = stacks.stack(sample, where, done)
        if weight := sum(islice(left, count)):
            builder.add_indexed(stack, thread, weight)
        done += count


class ListedStacks:
    """Stacks of the file as stacks of these frame numbers, each mapped once."""

    def __init__(self, frames: Mapping[int, int]) -> None:
        self._frames = frames
        self._known: dict[tuple[int, ...], tuple[int, ...]] = {}

    def stack(self, sample: object, where: str, place: int) -> tuple[int, ...]:
        """The stack of a sample; raises ValueError, naming its place, for what is none."""
        if not isinstance(sample, list):
            raise ValueError(f"{where}.samples[{place}] is no list of frames")
        try:
            listed = tuple(sample)
            stack = self._known.get(listed)
            if stack is None:
                stack = self._known[listed] = tuple(map(self._frames.__getitem__, listed))
        except (KeyError, TypeError) as error:
            raise ValueError(f"{where}.samples[{place}] has a frame that shared.frames lacks") from error
        return stack


def listed_weights(recorded: object, where: str, count: int) -> list[float]:
    """The weights of a sampled profile, which has as many samples, in its own unit."""
    weights = member(recorded, where, "weights", list)
    if len(weights) != count:
        raise ValueError(f"{where} has {count} samples, but {len(weights)} weights")
    return weights if set(map(type, weights)) <= {int} else [number(w, f"{where}.weights") for w in weights]


def _frame(entry: object, where: str) -> Frame:
    name = member(entry, where, "name", str)
    line = entry.get("line") if isinstance(entry, dict) else None
    if line is not None and not isinstance(line, int | float):
        raise ValueError(f"{where}.line is of type {type(line).__name__}, not int")
    return Frame(name, optional(entry, where, "file", ""), whole(line, f"{where}.line"))
