"""A profile from a speedscope file, whichever tool wrote it.

Weights that are one time throughout count samples of that period. Other times come as whole nanoseconds,
bytes as bytes, and what has no unit as samples.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import repeat
from pathlib import Path
from typing import NamedTuple

from profkit.errors import DamagedFile
from profkit.formats import exact
from profkit.formats.distinct_threads import distinct_threads
from profkit.formats.json_members import member, optional, read_json, scaled, whole
from profkit.formats.limits import BoundedBuilder, Budget, unlimited
from profkit.formats.pprof.spelling import unspell
from profkit.formats.registry import Origin
from profkit.formats.scaling import weight_of, whole_steps
from profkit.formats.speedscope.evented import add_events
from profkit.formats.speedscope.sampled import ListedStacks, add_samples, listed_frames, listed_weights
from profkit.formats.speedscope.thread_names import parse_thread_name
from profkit.formats.speedscope.units import NANOSECONDS, unit_named
from profkit.model.profile import Profile, Thread
from profkit.units import Unit

# Some JSON encoders write a slash with a backslash.
_SCHEMA = re.compile(rb"speedscope\.app\\?/file-format-schema\.json")
_EXPORTER = re.compile(rb'"exporter"\s*:\s*("(?:[^"\\]|\\.){0,1000}")')


def decode(data: bytes, source: Path = Path("speedscope data"), budget: Budget | None = None) -> Profile:
    """The profile in the file; raises DamagedFile, naming `source` and the first part that is wrong."""
    budget = budget or unlimited()
    try:
        document = read_json(data, budget)
        if isinstance(document, dict) and exact.MEMBER in document:
            return _as_written(document, budget)
        return _of_any_tool(document, BoundedBuilder(budget))
    except (ValueError, ArithmeticError) as error:
        raise DamagedFile(source, str(error)) from error


def sniff(data: bytes) -> bool:
    """Whether the file names the format's schema, as it has to."""
    return _SCHEMA.search(data) is not None


def origin_of(data: bytes) -> Origin:
    """The program that wrote the file."""
    match = _EXPORTER.search(data)
    try:
        return Origin(str(json.loads(match[1])).replace("@", " ") if match else "")
    except ValueError:
        return Origin()


class _Recorded(NamedTuple):
    """One of the file's profiles; `samples` is None for an evented one."""

    where: str
    content: object
    name: str
    unit: Unit
    scale: float
    samples: list[object] | None
    weights: list[float]


def _of_any_tool(document: object, builder: BoundedBuilder) -> Profile:
    frames = {n: builder.frame(frame) for n, frame in enumerate(listed_frames(document))}
    listed = member(document, "the file", "profiles", list)
    profiles = [_recorded(entry, f"profiles[{n}]") for n, entry in enumerate(listed)]
    unit = _common_unit(profiles)
    period_ns = _period_ns(profiles) if unit is Unit.NANOSECONDS else 0.0
    for recorded, thread in zip(profiles, _threads(profiles), strict=True):
        number, where = builder.thread(thread), recorded.where
        if recorded.samples is None:
            add_events(builder, frames, number, recorded.content, where, recorded.scale)
        else:
            weights = repeat(1) if period_ns else _whole_weights(recorded)
            add_samples(builder, frames, number, recorded.samples, weights, where)
    return builder.build(unit=Unit.SAMPLES if period_ns else unit, period_ns=period_ns)


def _recorded(entry: object, where: str) -> _Recorded:
    kind = optional(entry, where, "type", "sampled")
    if kind not in ("sampled", "evented"):
        raise ValueError(f"{where}.type is {kind!r}, neither sampled nor evented")
    word, name = member(entry, where, "unit", str), member(entry, where, "name", str)
    samples = member(entry, where, "samples", list) if kind == "sampled" else None
    weights = [] if samples is None else listed_weights(entry, where, len(samples))
    scale = NANOSECONDS.get(word, 1.0)
    if weights:
        scaled(max(weights), f"the largest of {where}.weights", scale)
    return _Recorded(where, entry, name, unit_named(word, where), scale, samples, weights)


def _common_unit(profiles: Sequence[_Recorded]) -> Unit:
    found: dict[Unit, str] = {}
    for recorded in profiles:
        word = member(recorded.content, recorded.where, "unit", str)
        found.setdefault(recorded.unit, f"{recorded.where} ({recorded.name!r}) in {word}")
    if len(found) > 1:
        raise ValueError(f"its profiles do not share a unit: {' and '.join(found.values())}")
    return next(iter(found), Unit.SAMPLES)


def _period_ns(profiles: Sequence[_Recorded]) -> float:
    """The one time that all weights are; 0 where they differ."""
    if any(recorded.samples is None for recorded in profiles):
        return 0.0
    times = {weight * recorded.scale for recorded in profiles for weight in set(recorded.weights)}
    return float(times.pop()) if len(times) == 1 and min(times) > 0 else 0.0


def _threads(profiles: Sequence[_Recorded]) -> list[Thread]:
    """A thread a profile; those of equal names that tell no id are numbered, to stay apart."""
    return list(distinct_threads(parse_thread_name(recorded.name) for recorded in profiles))


def _whole_weights(recorded: _Recorded) -> Iterator[int]:
    if recorded.weights and min(recorded.weights) < 0:
        raise ValueError(f"{recorded.where}.weights has a negative one")
    if recorded.scale == 1:
        return whole_steps(recorded.weights)
    return whole_steps(weight * recorded.scale for weight in recorded.weights)


def _as_written(document: object, budget: Budget) -> Profile:
    """The profile that `encode` was given."""
    about = exact.read_description(document, "the file")
    frames = [
        frame._replace(name=unspell(frame.name), file=unspell(frame.file))
        for frame in listed_frames(document)
    ]
    stacks = ListedStacks({number: number for number in range(len(frames))})
    profiles = member(document, "the file", "profiles", list)
    by_thread = [_exact_samples(entry, f"profiles[{n}]", about, stacks) for n, entry in enumerate(profiles)]
    return exact.rebuild(about, frames, by_thread, "the file", budget)


def _exact_samples(
    recorded: object, where: str, about: exact.Exact, stacks: ListedStacks
) -> list[exact.StackWeight]:
    samples = member(recorded, where, "samples", list)
    weights = listed_weights(recorded, where, len(samples))
    if about.unit is Unit.SAMPLES and member(recorded, where, "unit", str) == "nanoseconds":
        counts = [weight_of(weight, about.period_ns) for weight in weights]
    else:
        counts = [whole(weight, f"{where}.weights") for weight in weights]
    return [
        exact.StackWeight(stacks.stack(sample, where, place), count)
        for place, (sample, count) in enumerate(zip(samples, counts, strict=True))
    ]
