"""Reading of speedscope files of any tool, with `evented` and `sampled` profiles."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice, repeat
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from profkit.errors import DamagedFile
from profkit.formats import exact
from profkit.formats.exact import distinct_threads, unescape_text, weight_of
from profkit.formats.json_members import (
    bounded,
    member,
    number,
    optional,
    read_json_with_stacks,
    scaled,
    whole,
    whole_steps,
)
from profkit.formats.limits import BoundedBuilder, Budget, unlimited
from profkit.formats.registry import Origin, Selection, Values, only_value
from profkit.model.profile import Frame, Profile, ProfileBuilder, Thread
from profkit.units import Unit

_NAME = re.compile(r'(?:Process (\d+) )?Thread (0x[0-9a-fA-F]+|\d+) "(.*)"', re.DOTALL)


def parse_thread_name(name: str, pid: int = 0) -> Thread:
    """Parse the thread from py-spy's name of a profile; `tid` is 0 if the name has another form.

    A hexadecimal id is the pthread address, which py-spy writes if it cannot find the system's id.
    """
    match = _NAME.fullmatch(name)
    if match is None:
        return Thread(pid, 0, name)
    process, tid, label = match.groups()
    return Thread(int(process) if process else pid, int(tid, 0), label)


def thread_name(thread: Thread) -> str:
    """Return the name of a thread from which `parse_thread_name` reads it."""
    process = f"Process {thread.pid} " if thread.pid else ""
    return f'{process}Thread {thread.tid} "{thread.name}"'


NANOSECONDS = {"seconds": 1e9, "milliseconds": 1e6, "microseconds": 1e3, "nanoseconds": 1.0}
"""Nanoseconds in each unit of time."""

COUNTED = {"bytes": Unit.BYTES, "none": Unit.SAMPLES}
"""Units of weights that are not times; `none` is any other unit."""


def unit_named(word: str, where: str) -> Unit:
    """Return the unit for a word of the format; raises ValueError, naming `where`, for an unknown word."""
    if word in NANOSECONDS:
        return Unit.NANOSECONDS
    if word not in COUNTED:
        known = ", ".join((*NANOSECONDS, *COUNTED))
        raise ValueError(f"{where}.unit is {word!r}, not one of {known}")
    return COUNTED[word]


_INT64_MAX = 2**63 - 1


class _Event(NamedTuple):
    opens: bool
    at: float
    frame: int


def add_events(
    builder: BoundedBuilder,
    frames: Mapping[int, int],
    thread: int,
    recorded: object,
    where: str,
    scale: float,
) -> None:
    """Append a thread's stacks between events; time without an open frame is skipped.

    Frames that no event closes end with the profile. Times are multiplied by `scale` and rounded, so that no
    sum is off by more than the rounding of its ends.
    """
    events = list(_events(member(recorded, where, "events", list), frames, where))
    if not events:
        return
    start = events[0].at
    end = bounded(member(recorded, where, "endValue", object), f"{where}.endValue")
    stack: list[int] = []
    done = 0
    for place, event in enumerate(events):
        now = round((event.at - start) * scale)
        if not done <= now <= _INT64_MAX:
            problem = "earlier than the event before it" if now < done else "beyond 64 bits"
            raise ValueError(f"{where}.events[{place}] is {problem}")
        _spend(builder, stack, thread, now - done)
        done = now
        if event.opens:
            stack.append(event.frame)
        elif stack and stack[-1] == event.frame:
            stack.pop()
        else:
            raise ValueError(f"{where}.events[{place}] closes a frame that is not the innermost open one")
    _spend(builder, stack, thread, max(0, scaled(end - start, f"{where}.endValue", scale) - done))


def _events(listed: list[object], frames: Mapping[int, int], where: str) -> Iterator[_Event]:
    for place, entry in enumerate(listed):
        at_entry = f"{where}.events[{place}]"
        kind = member(entry, at_entry, "type", str)
        if kind not in ("O", "C"):
            raise ValueError(f"{at_entry}.type is {kind!r}, neither O nor C")
        frame = frames.get(member(entry, at_entry, "frame", int))
        if frame is None:
            raise ValueError(f"{at_entry} has a frame that shared.frames lacks")
        at = bounded(member(entry, at_entry, "at", object), f"{at_entry}.at")
        yield _Event(kind == "O", at, frame)


def _spend(builder: BoundedBuilder, stack: list[int], thread: int, weight: int) -> None:
    if stack and weight:
        builder.add_fitted(builder.fitted(stack), thread, weight)


def listed_frames(document: object) -> list[Frame]:
    """Return the frames that all profiles of the file share; columns within a line are ignored."""
    listed = member(member(document, "the file", "shared", dict), "shared", "frames", list)
    return _plain_frames(listed) or [_frame(entry, f"shared.frames[{n}]") for n, entry in enumerate(listed)]


def _plain_frames(listed: list[object]) -> list[Frame]:
    """Return frames as samplers write them, in a fraction of the time; none if any has another form."""
    entries = [entry for entry in listed if isinstance(entry, dict)]
    try:
        names, files, lines = (list(map(itemgetter(key), entries)) for key in ("name", "file", "line"))
    except KeyError:
        return []
    are_plain = {*map(type, names), *map(type, files)} == {str} and set(map(type, lines)) == {int}
    if not are_plain or len(entries) < len(listed) or min(lines) < 0 or max(lines) >= _INT64_MAX:
        return []
    return list(map(tuple.__new__, repeat(Frame), zip(names, files, lines, strict=True)))


def add_samples(
    builder: ProfileBuilder,
    stacks: ListedStacks,
    thread: int,
    samples: list[object],
    weights: Iterable[int],
    where: str,
) -> None:
    """Append a thread's samples, except those without weight; `stacks` has the builder's numbers."""
    left = iter(weights)
    done = 0
    numbers: dict[int, int] = {}  # by id: equal lists of a file are one object
    for sample, repeated in groupby(samples):
        count = len(list(repeated))
        weight = sum(islice(left, count))
        number = numbers.get(id(sample))
        if number is None:
            stack = stacks.stack(sample, where, done)
            if weight:
                number = numbers[id(sample)] = builder.stack(stack)
        if weight and number is not None:
            builder.add_numbered(number, thread, weight)
        done += count


class ListedStacks:
    """Stacks of the file, with each distinct one mapped once to the builder's frame numbers."""

    def __init__(self, frames: Mapping[int, int]) -> None:
        self._frames = frames
        self._known: dict[tuple[int, ...], tuple[int, ...]] = {}

    def stack(self, sample: object, where: str, place: int) -> tuple[int, ...]:
        """Return the stack of a sample; raises ValueError, naming its place, for anything else."""
        if not isinstance(sample, list):
            raise ValueError(f"{where}.samples[{place}] is not a list of frames")
        try:
            listed = tuple(sample)
            stack = self._known.get(listed)
            if stack is None:
                stack = self._known[listed] = tuple(map(self._frames.__getitem__, listed))
        except (KeyError, TypeError) as error:
            raise ValueError(f"{where}.samples[{place}] has a frame that shared.frames lacks") from error
        return stack


def listed_weights(recorded: object, where: str, count: int) -> list[float]:
    """Return the weights of a sampled profile, in its own unit; it has `count` samples."""
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


# Some JSON encoders escape a slash with a backslash.
_SCHEMA = re.compile(rb"speedscope\.app\\?/file-format-schema\.json")
_EXPORTER = re.compile(rb'"exporter"\s*:\s*("(?:[^"\\]|\\.){0,1000}")')


def decode(data: bytes, source: Path = Path("speedscope data"), budget: Budget | None = None) -> Profile:
    """Parse the profiles that are imported by default; raises as `select` does."""
    return select(data, source, budget).profile


def select(data: bytes, source: Path, budget: Budget | None = None, value: str | None = None) -> Selection:
    """Parse the profiles that share a unit: those called `value`, or those of the profile to show first.

    A unit's profile is called by its name; several are called by their unit. Raises UsageError for an unknown
    name, and DamagedFile, naming `source` and the first part that is wrong.
    """
    budget = budget or unlimited()
    try:
        document = read_json_with_stacks(data, budget)
        if isinstance(document, dict) and exact.MEMBER in document:
            return only_value(_as_written(document, budget), value, source)
        listed = member(document, "the file", "profiles", list)
        profiles = [_recorded(entry, f"profiles[{n}]") for n, entry in enumerate(listed)]
        groups = _groups(profiles)
        values = Values.named(map(_group_name, groups), _first_group(document, profiles, groups))
        place = values.index(value, source)
        return values.select(place, _of_group(document, groups[place], BoundedBuilder(budget)))
    except (ValueError, ArithmeticError) as error:
        raise DamagedFile(source, str(error)) from error


def sniff(data: bytes) -> bool:
    """Return whether the file names the format's schema, which is mandatory."""
    return _SCHEMA.search(data) is not None


def origin_of(data: bytes) -> Origin:
    """Return the program that wrote the file."""
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


def _groups(profiles: Sequence[_Recorded]) -> list[list[_Recorded]]:
    """Return the profiles by unit; one empty group for none."""
    groups: dict[Unit, list[_Recorded]] = {}
    for recorded in profiles:
        groups.setdefault(recorded.unit, []).append(recorded)
    return list(groups.values()) or [[]]


def _group_name(group: Sequence[_Recorded]) -> str:
    if len(group) == 1 and group[0].name:
        return group[0].name
    return member(group[0].content, group[0].where, "unit", str) if group else Unit.SAMPLES.value


def _first_group(
    document: object, profiles: Sequence[_Recorded], groups: Sequence[Sequence[_Recorded]]
) -> int:
    active = document.get("activeProfileIndex") if isinstance(document, dict) else None
    if not isinstance(active, int) or not 0 <= active < len(profiles):
        return 0
    unit = profiles[active].unit
    return next(place for place, group in enumerate(groups) if group[0].unit is unit)


def _of_group(document: object, group: Sequence[_Recorded], builder: BoundedBuilder) -> Profile:
    frames = dict(enumerate(builder.frame_numbers(listed_frames(document))))
    unit = group[0].unit if group else Unit.SAMPLES
    period_ns = _period_ns(group) if unit is Unit.NANOSECONDS else 0.0
    stacks = ListedStacks(frames)
    threads = distinct_threads(parse_thread_name(recorded.name) for recorded in group)
    for recorded, thread in zip(group, threads, strict=True):
        number, where = builder.thread(thread), recorded.where
        if recorded.samples is None:
            add_events(builder, frames, number, recorded.content, where, recorded.scale)
        else:
            weights = repeat(1) if period_ns else _whole_weights(recorded)
            add_samples(builder, stacks, number, recorded.samples, weights, where)
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


def _period_ns(profiles: Sequence[_Recorded]) -> float:
    """Return the time that all weights share; 0 if they differ."""
    if any(recorded.samples is None for recorded in profiles):
        return 0.0
    times = {weight * recorded.scale for recorded in profiles for weight in set(recorded.weights)}
    return float(times.pop()) if len(times) == 1 and min(times) > 0 else 0.0


def _whole_weights(recorded: _Recorded) -> Iterator[int]:
    if recorded.weights and min(recorded.weights) < 0:
        raise ValueError(f"{recorded.where}.weights has a negative value")
    if recorded.scale == 1:
        return whole_steps(recorded.weights)
    return whole_steps(weight * recorded.scale for weight in recorded.weights)


def _as_written(document: object, budget: Budget) -> Profile:
    about = exact.read_description(document, "the file")
    frames = [
        frame._replace(name=unescape_text(frame.name), file=unescape_text(frame.file))
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
