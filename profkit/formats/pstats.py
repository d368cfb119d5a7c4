"""Files of cProfile and profile, which `python -m cProfile -o FILE` and `dump_stats` write for `pstats`.

They contain a marshalled dictionary (Lib/pstats.py): for each function its calls, its own time, its time with
callees, and its part under each of its callers. This is a call graph, which `transforms/call_graphs` unfolds
into stacks in proportion. Functions have their first line.

Files of `python -m profiling.sampling` have a mark. Their functions have the line that ran, and instead of
calls, samples: on top of the stack and anywhere on it, and for each caller those in which it was called.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from profkit.errors import DamagedFile
from profkit.formats.json_members import written
from profkit.formats.limits import BoundedBuilder, Budget, unlimited
from profkit.formats.registry import PROFILING_SAMPLING, Origin
from profkit.model.notes import Note, NoteCode
from profkit.model.profile import Frame, Profile
from profkit.transforms.call_graphs import Calls, Recursion, Roots, unfold
from profkit.units import Unit

_FLAG_REF = 0x80
_DEEPEST = 8
_COUNTED_AT_ONCE = 1024
_LONGEST = 64
"""Maximum number of 15-bit digits in an integer."""
_DOUBLE = struct.Struct("<d")
_NULL = object()
_UNFINISHED = object()
_CONSTANTS: dict[int, object] = {ord("0"): _NULL, ord("N"): None, ord("T"): True, ord("F"): False}
_SHORT_TEXTS = b"zZ"
_TEXTS = b"aAustu"


def read_marshalled(data: bytes, budget: Budget | None = None) -> object:
    """Parse the first object in the bytes; raises ValueError if it is incomplete or of another type."""
    found = _Reader(data, budget or unlimited()).value(0)
    if found is _NULL:
        raise ValueError("it is empty")
    return found


class _Reader:
    """A position in the bytes, and the objects that later ones refer to."""

    def __init__(self, data: bytes, budget: Budget) -> None:
        self._data, self._at = data, 0
        self._budget, self._uncounted = budget, 0
        self._known: list[object] = []

    def value(self, depth: int) -> object:
        if depth > _DEEPEST:
            raise ValueError("it is nested too deeply")
        self._uncounted += 1
        if self._uncounted == _COUNTED_AT_ONCE:
            self._budget.count_records(self._uncounted)
            self._uncounted = 0
        code = self._byte()
        kind = code & ~_FLAG_REF
        if kind == ord("r"):
            return self._reference()
        if kind in _CONSTANTS:
            return _CONSTANTS[kind]
        # A container gets its number before its contents do.
        number = len(self._known)
        if code & _FLAG_REF:
            self._known.append(_UNFINISHED)
        found = self._content(kind, depth)
        if code & _FLAG_REF:
            self._known[number] = found
        return found

    def _content(self, kind: int, depth: int) -> object:
        if kind in b"()":
            size = self._byte() if kind == ord(")") else self._size()
            return tuple([self.value(depth + 1) for _ in range(size)])
        if kind == ord("{"):
            return self._dictionary(depth)
        if kind in _SHORT_TEXTS:
            return self._text(self._byte())
        if kind in _TEXTS:
            return self._text(self._size())
        return self._number(kind)

    def _dictionary(self, depth: int) -> dict[object, object]:
        found: dict[object, object] = {}
        while (key := self.value(depth + 1)) is not _NULL:
            # Tuples of tuples could have a hash that takes excessively long.
            if not isinstance(key, tuple) or not all(isinstance(part, str | int) for part in key):
                raise ValueError(f"a dictionary has a key of type {type(key).__name__}")
            found[key] = self.value(depth + 1)
        return found

    def _number(self, kind: int) -> int | float:
        match chr(kind):
            case "i":
                return self._signed(4)
            case "I":
                return self._signed(8)
            case "g":
                (number,) = _DOUBLE.unpack(self._taken(8))
                return float(number)
            case "f":
                return float(self._taken(self._byte()))
            case "l":
                return self._long()
            case "c":
                raise ValueError(
                    "it has code objects, like files of `python -m profile`; use cProfile instead"
                )
            case other:
                raise ValueError(f"it contains an object of type {other!r}, unlike files of cProfile")

    def _long(self) -> int:
        """Parse 15-bit digits, least significant first; a negative digit count means a negative number."""
        size = self._signed(4)
        if abs(size) > _LONGEST:
            raise ValueError(f"a number in it has {abs(size)} digits")
        number = 0
        for place in range(abs(size)):
            number |= int.from_bytes(self._taken(2), "little") << 15 * place
        return -number if size < 0 else number

    def _reference(self) -> object:
        number = self._size()
        found = self._known[number] if number < len(self._known) else _UNFINISHED
        if found is _UNFINISHED or isinstance(found, dict):
            raise ValueError(f"it refers to object {number}, which is not a text, number or tuple")
        return found

    def _text(self, size: int) -> str:
        return self._taken(size).decode("utf-8", "surrogatepass")

    def _size(self) -> int:
        """Parse a count of things of at least one byte each; an excessive count is rejected at once."""
        size = self._signed(4)
        if not 0 <= size <= len(self._data):
            raise ValueError(f"it states a size of {size} for a part")
        return size

    def _byte(self) -> int:
        return self._taken(1)[0]

    def _signed(self, size: int) -> int:
        return int.from_bytes(self._taken(size), "little", signed=True)

    def _taken(self, size: int) -> bytes:
        data = self._data[self._at : self._at + size]
        if len(data) < size:
            raise ValueError("it is cut short")
        self._at += size
        return data


_NOTES = (
    Note(NoteCode.CALL_GRAPH),
    Note.of(NoteCode.TREE_APPROXIMATED, unit=Unit.NANOSECONDS.value),
)

_SAMPLED = ("__sampled__",)
"""Key of the mark for samples."""
_SAMPLED_NOTES = (Note.of(NoteCode.TREE_APPROXIMATED, unit=Unit.SAMPLES.value),)
_LONGEST_S = 2**63 / 1e9
"""Maximum time: 64 bits of nanoseconds, in seconds."""


def decode(data: bytes, source: Path = Path("statistics"), budget: Budget | None = None) -> Profile:
    """Return the calls or samples as unordered stacks of one thread; raises DamagedFile, naming `source`.

    Own times and totals of calls are those of the file, each to the nanosecond.
    """
    builder = BoundedBuilder(budget or unlimited())
    try:
        document = read_marshalled(data, builder.budget)
        if isinstance(document, dict) and document.pop(_SAMPLED, False):
            return _sampled(dict(_entries(document)), builder)
        return _profile(dict(_entries(document)), builder)
    except (ValueError, OverflowError) as error:
        raise DamagedFile(source, f"it is not a file of cProfile: {error}") from error


def sniff(data: bytes) -> bool:
    """Return whether content begins as a marshalled dictionary whose first key is a tuple of three."""
    start = bytes(byte & 0x7F for byte in data[:6])
    return start[:3] == b"{)\x03" or start == b"{(\x03\x00\x00\x00"


def origin_of(data: bytes) -> Origin:
    """Return the origin, with notes on what statistics lack."""
    if _SAMPLED[0].encode() in data:
        return Origin(PROFILING_SAMPLING, notes=_SAMPLED_NOTES)
    return Origin("cProfile", notes=_NOTES)


@dataclass(frozen=True, slots=True)
class _Entry:
    outermost: float
    """Calls that are not within another call of the function."""
    calls: float
    own_s: float
    total_s: float
    callers: Mapping[Frame, tuple[float, float | None]]
    """(calls, time with callees) under each caller; the time is None if only calls were counted."""


def _profile(entries: Mapping[Frame, _Entry], builder: BoundedBuilder) -> Profile:
    own = {function: round(entry.own_s * 1e9) for function, entry in entries.items()}
    calls: defaultdict[tuple[Frame, Frame], float] = defaultdict(float)
    for function, entry in entries.items():
        counted = sum(calls for calls, _ in entry.callers.values())
        for caller, (number, total_s) in entry.callers.items():
            own.setdefault(caller, 0)
            if total_s is None:
                # The module `profile` counts calls under each caller, but does not time them.
                total_s = entry.total_s * number / counted if counted else 0.0
            calls[caller, function] += total_s * 1e9
    totals = {function: round(entry.total_s * 1e9) for function, entry in entries.items()}
    return unfold(
        own,
        calls,
        Unit.NANOSECONDS,
        builder,
        totals=totals,
        roots=_roots(entries, calls),
        recursion=_recursion(entries),
    )


def _sampled(entries: Mapping[Frame, _Entry], builder: BoundedBuilder) -> Profile:
    """Return samples as stacks of lines.

    A line that was on a stack more than once has its callers counted as often, but itself once.
    """
    own = {line: round(entry.outermost) for line, entry in entries.items()}
    totals = {line: entry.calls for line, entry in entries.items()}
    calls = {(caller, line): n for line, entry in entries.items() for caller, (n, _) in entry.callers.items()}
    spent, received = defaultdict[Frame, float](float, own), defaultdict[Frame, float](float)
    for (caller, line), count in calls.items():
        own.setdefault(caller, 0)
        if caller != line:
            spent[caller] += count
            received[line] += count
    recursive = frozenset(line for line, total in totals.items() if spent[line] > total)
    profile = unfold(
        own,
        calls,
        Unit.SAMPLES,
        builder,
        roots={line: max(0.0, total - received[line]) for line, total in totals.items()},
        recursion=Recursion(recursive, totals),
    )
    periods = (entry.own_s / entry.outermost for entry in entries.values() if entry.outermost > 0)
    return replace(profile, period_ns=float(max(0, round(1e9 * next(periods, 0.0)))))


def _recursion(entries: Mapping[Frame, _Entry]) -> Recursion:
    totals = {f: entry.total_s * 1e9 for f, entry in entries.items() if entry.calls > entry.outermost}
    return Recursion(frozenset(totals), totals)


def _roots(entries: Mapping[Frame, _Entry], calls: Calls) -> Roots:
    """Return the functions with unrecorded callers, and the time of these calls.

    Such a function has more calls than it has under all callers together.
    """
    received: defaultdict[Frame, float] = defaultdict(float)
    spent: defaultdict[Frame, float] = defaultdict(float)
    for (caller, function), cost in calls.items():
        spent[caller] += cost
        received[function] += cost if caller != function else 0.0
    roots = {caller: spent[caller] for caller in spent if caller not in entries}
    for function, entry in entries.items():
        from_nowhere = entry.calls - sum(number for number, _ in entry.callers.values())
        total = entry.total_s * 1e9
        if not entry.callers:
            roots[function] = total
        elif from_nowhere > 0 and entry.calls == entry.outermost:
            roots[function] = max(0.0, total - received[function])
        elif from_nowhere > 0:
            # Each of these calls is outermost.
            roots[function] = total * min(1.0, from_nowhere / max(1.0, entry.outermost))
    return roots


def _entries(document: object) -> Iterator[tuple[Frame, _Entry]]:
    if not isinstance(document, dict):
        raise ValueError("it is not a dictionary")
    for key, value in document.items():
        # calls that were not recursive, all calls, own time, time with callees, callers
        if not isinstance(value, tuple) or len(value) != 5 or not isinstance(value[4], dict):
            raise ValueError(f"the entry of {key} does not have five parts")
        callers = {_function(caller): _caller(under) for caller, under in value[4].items()}
        outermost, called = _number(value[0]), _number(value[1])
        yield (
            _function(key),
            _Entry(outermost, called, _time_s(value[2], key), _time_s(value[3], key), callers),
        )


def _function(key: object) -> Frame:
    if isinstance(key, tuple) and len(key) == 3:
        file, line, name = key
        if isinstance(file, str) and isinstance(line, int) and isinstance(name, str):
            # Built-in functions have the file "~".
            return Frame(name, "" if file == "~" else file, max(0, line))
    raise ValueError(f"{key} is not a function")


def _caller(value: object) -> tuple[float, float | None]:
    if isinstance(value, tuple) and len(value) == 4:
        return _number(value[0]), _time_s(value[3], "a caller")
    return _number(value), None


def _time_s(value: object, function: object) -> float:
    time_s = _number(value)
    if not -_LONGEST_S <= time_s <= _LONGEST_S:
        raise ValueError(f"the entry of {function} has the time {written(time_s)} s, which is too long")
    return time_s


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or value - value != 0:
        raise ValueError(f"{value!r} is not a number")
    return cast(float, value)
