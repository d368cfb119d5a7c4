"""Reading of pprof files that profkit wrote, also if another tool rewrote them without loss."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from profkit.errors import DamagedFile
from profkit.formats import wire
from profkit.formats.limits import Budget, unlimited
from profkit.formats.numbers import PackedLookup
from profkit.formats.pprof.schema import (
    FORMAT,
    GZIP,
    IDLE,
    STATE,
    InFunction,
    InLabel,
    InLine,
    InLocation,
    InProfile,
    InSample,
    unescape_text,
    with_totals,
)
from profkit.formats.pprof.starts import with_starts
from profkit.formats.pprof.turns import Turns, samples_in_order, turns_in
from profkit.model.profile import Frame, Profile, Sample, Thread
from profkit.units import Unit

_PIECE = 1 << 14
"""Size of a piece of compressed data, in bytes."""

_Fields = Mapping[int, Sequence[int | bytes]]
_T = TypeVar("_T")


class _About(NamedTuple):
    """The contents of the comment."""

    unit: Unit
    period_ns: float
    ordered: bool
    turns: bool
    """Whether samples are summed, with their order in a comment."""


def decode(
    data: bytes, source: Path = Path("pprof data"), budget: Budget | None = None, *, in_order: bool = True
) -> Profile:
    """Return the profile that `encode` was given; raises DamagedFile, naming `source`, for any other bytes.

    Without `in_order`, equal samples are summed, which is faster than `sum_samples` afterwards.
    """
    try:
        return _profile(_inflated(data), in_order, budget or unlimited())
    except (zlib.error, ValueError) as error:
        raise DamagedFile(source, f"it is not a profile written by profkit: {error}") from error


def _inflated(data: bytes) -> Iterator[bytes]:
    """Yield the message in pieces: as a whole it would take more memory than the result."""
    inflater = zlib.decompressobj(GZIP)
    for start in range(0, len(data), _PIECE):
        yield inflater.decompress(data[start : start + _PIECE])
    if not inflater.eof:
        raise ValueError("its end is missing")


def _profile(chunks: Iterable[bytes], in_order: bool, budget: Budget) -> Profile:
    # Identify samples by their bytes: of a million, few are distinct.
    found = wire.repeated(chunks, int(InProfile.SAMPLE), budget)
    if InProfile.SAMPLE in found.others:
        raise ValueError("a sample is not a message")
    strings = [unescape_text(_bytes(text).decode()) for text in found.others.get(InProfile.STRING, ())]
    frames, places = _frames(found.others, strings)
    tables = _Tables(places, strings, budget)
    samples = list(tables.samples(found.distinct))
    about = _about(found.others, strings)
    taken = _taken(samples, found, strings, about.turns, budget) if in_order else None
    profile = Profile(
        unit=about.unit,
        period_ns=about.period_ns,
        frames=frames,
        stacks=tuple(tables.stacks),
        threads=tuple(tables.threads),
        samples=tuple(_summed(samples, found.order)) if taken is None else taken,
        ordered=about.ordered and taken is not None,
        idle=frozenset(tables.idle),
    )
    comments = _comments(found.others, strings)
    return with_starts(with_totals(profile, comments), comments)


def _taken(
    samples: Sequence[Sample], found: wire.Repeated, strings: Sequence[str], turns: bool, budget: Budget
) -> tuple[Sample, ...] | None:
    """Return the samples in their order; None if another tool changed them, or omitted their turns."""
    if not turns:
        return tuple(map(samples.__getitem__, found.order))
    taken = turns_in(_comments(found.others, strings), budget)
    if taken is None:
        fields = (InProfile.OLD_TURNS, InProfile.OLD_TURN_WEIGHTS)
        taken = Turns(*(_bytes(found.others.get(field, [b""])[-1]) for field in fields))
        budget.count_records(taken.length)
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
    weight: int
    idle: bool


class _Tables:
    """Stacks and threads by their numbers, filled as samples are read; equal bytes are read once."""

    def __init__(self, places: Mapping[int, int], strings: Sequence[str], budget: Budget) -> None:
        self.stacks: list[tuple[int, ...]] = []
        self.idle: set[int] = set()
        """Numbers of the stacks of idle threads."""
        self.threads: dict[Thread, int] = {}
        self._lookup, self._strings = PackedLookup(places), strings
        self._numbers: tuple[dict[tuple[int, ...], int], ...] = ({}, {})
        """Numbers of the stacks that are not idle, and of those that are."""
        self._numbers_of_bytes: tuple[dict[bytes, int], ...] = ({}, {})
        self._rests: dict[bytes, _Rest] = {}
        self._budget = budget

    def samples(self, messages: Iterable[bytes]) -> Iterator[Sample]:
        """Yield the sample of each message; new stacks and threads take the next numbers."""
        field = int(InSample.LOCATIONS)
        for message in messages:
            first, rest = wire.first_blob(message, field)
            more, thread, weight, idle = self._rests.get(rest) or self._rest(rest)
            packed = first + more if more else first
            stack = self._numbers_of_bytes[idle].get(packed)
            yield Sample(self._stack(packed, idle) if stack is None else stack, thread, weight)

    def _stack(self, packed: bytes, idle: bool) -> int:
        """Return the number of a stack whose bytes are new; with other bytes it may be known."""
        self._budget.check_depth(len(packed) // wire.LONGEST_VARINT)
        root_first = self._lookup.all(packed)[::-1]
        number = self._numbers[idle].setdefault(root_first, len(self.stacks))
        if number == len(self.stacks):
            self.stacks.append(root_first)
            self.idle |= {number} if idle else set()
            self._budget.count_stack(len(root_first))
        self._numbers_of_bytes[idle][packed] = number
        return number

    def _rest(self, rest: bytes) -> _Rest:
        fields = _fields(rest)
        labels = _labels(fields.get(InSample.LABEL, ()), self._strings)
        thread = _thread(labels, self._strings)
        self._rests[rest] = found = _Rest(
            b"".join(map(wire.varint, _integers(fields.get(InSample.LOCATIONS, ())))),
            self.threads.setdefault(thread, len(self.threads)),
            _at(_integers(fields.get(InSample.VALUES, ())), 0, "value"),
            _text(labels, STATE, self._strings) == IDLE,
        )
        return found


def _labels(labels: Iterable[int | bytes], strings: Sequence[str]) -> Mapping[str, _Fields]:
    return {_at(strings, _integer(label, InLabel.KEY), "string"): label for label in map(_fields, labels)}


def _thread(labels: Mapping[str, _Fields], strings: Sequence[str]) -> Thread:
    pid, tid = (_integer(labels.get(key, {}), InLabel.NUMBER) for key in ("pid", "tid"))
    return Thread(pid, tid, _text(labels, "thread", strings))


def _text(labels: Mapping[str, _Fields], key: str, strings: Sequence[str]) -> str:
    return _at(strings, _integer(labels.get(key, {}), InLabel.STRING), "string")


def _about(fields: _Fields, strings: Sequence[str]) -> _About:
    """Parse the comment of `schema.FORMAT`; a tool may have added others."""
    comments = _comments(fields, strings)
    for comment in comments:
        if comment.startswith(f"{FORMAT} "):
            about = json.loads(comment.removeprefix(FORMAT))
            try:
                # Older versions of profkit, which wrote no columns of turns, have no such member.
                turns = bool(about.get("turns", False))
                return _About(Unit(about["unit"]), float(about["period_ns"]), bool(about["ordered"]), turns)
            except (KeyError, TypeError) as error:
                raise ValueError(f"the comment {comment!r} is incomplete") from error
    raise ValueError(f"none of its comments {comments} begins with {FORMAT!r}")


def _comments(fields: _Fields, strings: Sequence[str]) -> list[str]:
    numbers = _integers(fields.get(InProfile.COMMENT, ()))
    return [_at(strings, number, "string") for number in numbers]


def _frames(fields: _Fields, strings: Sequence[str]) -> tuple[tuple[Frame, ...], Mapping[int, int]]:
    """Return the frame of each location in order, and its index by the location's id."""
    functions: dict[int, tuple[str, str]] = {}
    for message in fields.get(InProfile.FUNCTION, ()):
        function = _fields(message)
        name = _at(strings, _integer(function, InFunction.NAME), "string")
        file = _at(strings, _integer(function, InFunction.FILE), "string")
        functions[_integer(function, InFunction.ID)] = (name, file)
    frames: list[Frame] = []
    places: dict[int, int] = {}
    for message in fields.get(InProfile.LOCATION, ()):
        location = _fields(message)
        (line,) = location.get(InLocation.LINE, ()) or (b"",)
        in_line = _fields(line)
        function_id = _integer(in_line, InLine.FUNCTION)
        if function_id not in functions:
            raise ValueError(f"there is no function {function_id}")
        name, file = functions[function_id]
        places[_integer(location, InLocation.ID)] = len(frames)
        frames.append(Frame(name, file, _integer(in_line, InLine.NUMBER)))
    return tuple(frames), places


def _fields(message: int | bytes) -> _Fields:
    fields: dict[int, list[int | bytes]] = {}
    for field, value in wire.fields(_bytes(message)):
        fields.setdefault(field, []).append(value)
    return fields


def _integer(fields: _Fields, field: int) -> int:
    """Return an integer field; 0 if it is absent."""
    value = fields.get(field, (0,))[-1]
    if isinstance(value, bytes):
        raise ValueError(f"field {field} contains bytes instead of a number")
    return value


def _integers(values: Iterable[int | bytes]) -> list[int]:
    """Return a repeated integer field, packed or not."""
    return [number for value in values for number in wire.integers(value)]


def _bytes(value: int | bytes) -> bytes:
    if isinstance(value, int):
        raise ValueError("a field contains a number instead of bytes")
    return value


def _at(items: Sequence[_T], number: int, what: str) -> _T:
    if not 0 <= number < len(items):
        raise ValueError(f"there is no {what} {number}")
    return items[number]
