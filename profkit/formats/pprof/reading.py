"""Reading of pprof files that profkit wrote, also if another tool rewrote them without loss."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import repeat
from pathlib import Path
from typing import NamedTuple, TypeVar

from profkit.errors import DamagedFile
from profkit.formats import wire
from profkit.formats.exact import period_of, unescape_text
from profkit.formats.limits import GZIP, Budget, unlimited
from profkit.formats.pprof.comments import read_turns, turns_in, with_starts, with_totals
from profkit.formats.pprof.locations import Locations, look_up_each, read_locations
from profkit.formats.pprof.schema import FORMAT, STATE, STATES, InFunction, InLabel, InProfile, InSample
from profkit.formats.turns import samples_in_order
from profkit.formats.wire import Fields, bytes_of, fields_of, integers_of, number_in
from profkit.model.profile import Column, Frame, Profile, Sample, Thread, ThreadState, Value
from profkit.units import Unit

_PIECE = 1 << 14
"""Size of a piece of data, in bytes."""

_T = TypeVar("_T")


class _About(NamedTuple):
    unit: Unit
    period_ns: float
    ordered: bool
    turns: bool
    """Whether samples are summed, with their order in a comment."""
    values: tuple[Value, ...]
    """Values of each sample, of a memory profile; else none."""


def decode(
    data: bytes,
    source: Path = Path("pprof data"),
    budget: Budget | None = None,
    *,
    in_order: bool = True,
    packed: bool = True,
) -> Profile:
    """Return the profile that `encode` was given; raises DamagedFile, naming `source`, for any other bytes.

    Without `in_order`, equal samples are summed, which is faster than `sum_samples` afterwards. Without
    `packed`, there is no gzip around the data.
    """
    pieces = (data[start : start + _PIECE] for start in range(0, len(data), _PIECE))
    try:
        return _profile(_inflated(pieces) if packed else pieces, in_order, budget or unlimited())
    except (zlib.error, ValueError) as error:
        raise DamagedFile(source, f"it is not a profile written by profkit: {error}") from error


def _inflated(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the message in pieces: as a whole it would take more memory than the result."""
    inflater = zlib.decompressobj(GZIP)
    yield from map(inflater.decompress, pieces)
    if not inflater.eof:
        raise ValueError("its end is missing")


def _profile(chunks: Iterable[bytes], in_order: bool, budget: Budget) -> Profile:
    # Identify samples by their bytes: of a million, few are distinct.
    found = wire.repeated(chunks, int(InProfile.SAMPLE), int(InProfile.LOCATION), budget)
    if not found.others.keys().isdisjoint((InProfile.SAMPLE, InProfile.LOCATION)):
        raise ValueError("a sample or a location is not a message")
    strings = [unescape_text(bytes_of(text).decode()) for text in found.others.get(InProfile.STRING, ())]
    locations = read_locations(found.whole)
    places, frames = locations.places(), _frames(locations, found.others, strings)
    # Millions of locations take much memory.
    del locations
    found.whole.clear()
    tables = _Tables(places, len(frames), strings, budget)
    samples = tables.samples(found.distinct)
    comments = [
        _at(strings, number, "string") for number in integers_of(found.others.get(InProfile.COMMENT, ()))
    ]
    about = _about(comments)
    taken = _taken(samples, found, comments, about.turns, budget) if in_order else None
    profile = Profile(
        unit=about.unit,
        period_ns=about.period_ns,
        frames=frames,
        stacks=tuple(tables.stacks),
        threads=tuple(tables.threads),
        samples=tuple(_summed(samples, found.order)) if taken is None else taken,
        ordered=about.ordered and taken is not None,
        states=tuple(tables.states) if any(tables.states) else (),
    )
    if about.values:
        profile = _with_columns(profile, about.values, found.order, tables)
    return with_starts(with_totals(profile, comments), comments)


def _with_columns(
    profile: Profile, values: Sequence[Value], order: Sequence[int], tables: _Tables
) -> Profile:
    """Return a profile with all values of its samples, each of which has its own stack or thread."""
    if len(order) != len(profile.samples) or len(set(order)) != len(order):
        raise ValueError("some of its samples are equal")
    rows = [tables.values[number] for number in order]
    if any(len(row) != len(values) for row in rows):
        raise ValueError(f"a sample does not have {len(values)} values")
    columns = tuple(
        Column(value, tuple(row[place] for row in rows)) for place, value in enumerate(values) if place
    )
    return replace(profile, value=values[0], columns=columns, ordered=False)


def _taken(
    samples: Sequence[Sample], found: wire.Repeated, comments: Sequence[str], turns: bool, budget: Budget
) -> tuple[Sample, ...] | None:
    """Return the samples in their order; None if another tool changed them, or omitted their turns."""
    if not turns:
        return tuple(map(samples.__getitem__, found.order))
    taken = turns_in(comments, budget)
    if taken is None:
        fields = (InProfile.OLD_TURNS, InProfile.OLD_TURN_WEIGHTS)
        taken = read_turns(*(bytes_of(found.others.get(field, [b""])[-1]) for field in fields))
        budget.count_records(len(taken.numbers))
    return samples_in_order(samples, taken)


def _summed(samples: Sequence[Sample], order: Iterable[int]) -> Iterator[Sample]:
    times = [0] * len(samples)
    for number in order:
        times[number] += 1
    return (
        sample if n == 1 else Sample(sample.stack, sample.thread, sample.weight * n)
        for sample, n in zip(samples, times, strict=True)
    )


class _Rest(NamedTuple):
    """The fields of a sample after its first locations."""

    locations: bytes
    """Further locations, packed; empty if all are packed at the beginning, as protobuf writes them."""
    thread: int
    values: tuple[int, ...]
    state: ThreadState


class _Tables:
    """Stacks and threads by their numbers, filled as samples are read; equal bytes are read once."""

    def __init__(
        self, places: Mapping[int, int] | None, frames: int, strings: Sequence[str], budget: Budget
    ) -> None:
        self.stacks: list[tuple[int, ...]] = []
        self.states: list[ThreadState] = []
        """By stack."""
        self.threads: dict[Thread, int] = {}
        self.values: list[tuple[int, ...]] = []
        """All values of each distinct sample."""
        self._places, self._frames, self._strings = places, frames, strings
        self._numbers: tuple[dict[tuple[int, ...], int], ...] = tuple({} for _ in ThreadState)
        """Numbers of the stacks by state."""
        self._rests: dict[bytes, _Rest] = {}
        self._budget = budget

    def samples(self, messages: Iterable[bytes]) -> list[Sample]:
        """Return the sample of each message; new stacks and threads take the next numbers."""
        field = int(InSample.LOCATIONS)
        # Per sample, a number and an object that many share take less memory than a tuple.
        numbers: tuple[dict[bytes, int], ...] = tuple({} for _ in ThreadState)
        distinct: list[tuple[bytes, ThreadState]] = []
        of_sample: list[int] = []
        rests: list[_Rest] = []
        for message in messages:
            first, rest = wire.first_blob(message, field)
            known = self._rests.get(rest) or self._rest(rest)
            packed = first + known.locations if known.locations else first
            number = numbers[known.state].setdefault(packed, len(distinct))
            if number == len(distinct):
                distinct.append((packed, known.state))
            of_sample.append(number)
            rests.append(known)
        self.values = [rest.values for rest in rests]
        del numbers
        stacks = self._add_stacks(distinct)
        return [
            Sample(stacks[number], rest.thread, _at(rest.values, 0, "value"))
            for number, rest in zip(of_sample, rests, strict=True)
        ]

    def _add_stacks(self, distinct: Sequence[tuple[bytes, ThreadState]]) -> list[int]:
        """Return the number of each stack, given by its bytes and state; two may be equal."""
        longest = max((len(packed) for packed, _ in distinct), default=0)
        self._budget.check_depth(longest // wire.LONGEST_VARINT)
        found = look_up_each((packed for packed, _ in distinct), self._places, self._frames)
        return [self._number(stack[::-1], state) for stack, (_, state) in zip(found, distinct, strict=True)]

    def _number(self, stack: tuple[int, ...], state: ThreadState) -> int:
        number = self._numbers[state].setdefault(stack, len(self.stacks))
        if number == len(self.stacks):
            self.stacks.append(stack)
            self.states.append(state)
            self._budget.count_stack(len(stack))
        return number

    def _rest(self, rest: bytes) -> _Rest:
        fields = fields_of(rest)
        labels = _labels(fields.get(InSample.LABEL, ()), self._strings)
        thread = _thread(labels, self._strings)
        self._rests[rest] = found = _Rest(
            b"".join(map(wire.varint, integers_of(fields.get(InSample.LOCATIONS, ())))),
            self.threads.setdefault(thread, len(self.threads)),
            tuple(integers_of(fields.get(InSample.VALUES, ()))),
            STATES.get(_text(labels, STATE, self._strings), ThreadState.UNKNOWN),
        )
        return found


def _labels(labels: Iterable[int | bytes], strings: Sequence[str]) -> Mapping[str, Fields]:
    return {_at(strings, number_in(label, InLabel.KEY), "string"): label for label in map(fields_of, labels)}


def _thread(labels: Mapping[str, Fields], strings: Sequence[str]) -> Thread:
    pid, tid = (number_in(labels.get(key, {}), InLabel.NUMBER) for key in ("pid", "tid"))
    return Thread(pid, tid, _text(labels, "thread", strings))


def _text(labels: Mapping[str, Fields], key: str, strings: Sequence[str]) -> str:
    return _at(strings, number_in(labels.get(key, {}), InLabel.STRING), "string")


def _about(comments: Sequence[str]) -> _About:
    """Parse the comment of `schema.FORMAT`; a tool may have added others."""
    for comment in comments:
        if comment.startswith(f"{FORMAT} "):
            about = json.loads(comment.removeprefix(FORMAT))
            try:
                return _About(
                    Unit(about["unit"]),
                    period_of(float(about["period_ns"]), "period_ns"),
                    bool(about["ordered"]),
                    # Older versions of profkit wrote no turns, and have no such member.
                    turns=bool(about.get("turns", False)),
                    values=tuple(map(Value, about.get("values", ()))),
                )
            except (KeyError, TypeError) as error:
                raise ValueError(f"the comment {comment!r} is incomplete") from error
    raise ValueError(f"none of its comments {comments} begins with {FORMAT!r}")


def _frames(locations: Locations, fields: Fields, strings: Sequence[str]) -> tuple[Frame, ...]:
    name_of: dict[int, str] = {}
    file_of: dict[int, str] = {}
    for message in fields.get(InProfile.FUNCTION, ()):
        function = fields_of(message)
        number = number_in(function, InFunction.ID)
        name_of[number] = _at(strings, number_in(function, InFunction.NAME), "string")
        file_of[number] = _at(strings, number_in(function, InFunction.FILE), "string")
    try:
        names, files = (map(of.__getitem__, locations.functions) for of in (name_of, file_of))
        columns = zip(names, files, locations.lines, strict=True)
        # Without the constructor of the named tuple, millions take a quarter of the time.
        return tuple(map(tuple.__new__, repeat(Frame), columns))
    except KeyError as error:
        raise ValueError(f"there is no function {error}") from error


def _at(items: Sequence[_T], number: int, what: str) -> _T:
    if not 0 <= number < len(items):
        raise ValueError(f"there is no {what} {number}")
    return items[number]
