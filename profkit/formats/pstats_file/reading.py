"""Statistics of cProfile and profile as a profile in nanoseconds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from profkit.errors import DamagedFile
from profkit.formats.json_members import written
from profkit.formats.limits import BoundedBuilder, Budget, unlimited
from profkit.formats.pstats_file.marshal_reader import read_marshalled
from profkit.formats.registry import Origin
from profkit.model.profile import Frame, Profile
from profkit.transforms.call_graphs import Calls, Recursion, Roots, unfold
from profkit.units import Unit

_NOTES = (
    "The file is a call graph. Self and total of functions are its own; lines are where functions begin.",
    "The file has no stacks, so the call tree is an approximation: a function's time is split among its "
    "callers in proportion, and recursion is shown once.",
)

_LONGEST_S = 2**63 / 1e9
"""What has room in 64 bits of nanoseconds."""


def decode(data: bytes, source: Path = Path("statistics"), budget: Budget | None = None) -> Profile:
    """The calls as stacks, unordered and of one thread; raises DamagedFile, naming `source`.

    Own times and totals are those of the file, each to the nanosecond.
    """
    builder = BoundedBuilder(budget or unlimited())
    try:
        return _profile(dict(_entries(read_marshalled(data, builder.budget))), builder)
    except (ValueError, OverflowError) as error:
        raise DamagedFile(source, f"it has no statistics of cProfile: {error}") from error


def sniff(data: bytes) -> bool:
    """Whether a content begins as a marshalled dictionary whose first key is a tuple of three."""
    start = bytes(byte & 0x7F for byte in data[:6])
    return start[:3] == b"{)\x03" or start == b"{(\x03\x00\x00\x00"


def origin_of(data: bytes) -> Origin:
    """What statistics cannot tell."""
    return Origin("cProfile", notes=_NOTES)


@dataclass(frozen=True, slots=True)
class _Entry:
    outermost: float
    """Calls that no other call of the function was around."""
    calls: float
    own_s: float
    total_s: float
    callers: Mapping[Frame, tuple[float, float | None]]
    """(calls, time with callees) under each; the time is None if only calls were counted."""


def _profile(entries: Mapping[Frame, _Entry], builder: BoundedBuilder) -> Profile:
    own = {function: round(entry.own_s * 1e9) for function, entry in entries.items()}
    calls: defaultdict[tuple[Frame, Frame], float] = defaultdict(float)
    for function, entry in entries.items():
        counted = sum(calls for calls, _ in entry.callers.values())
        for caller, (number, total_s) in entry.callers.items():
            own.setdefault(caller, 0)
            if total_s is None:
                # The module `profile` counts calls under each caller, but times none.
                total_s = entry.total_s * number / counted if counted else 0.0
            calls[caller, function] += total_s * 1e9
    totals = {function: round(entry.total_s * 1e9) for function, entry in entries.items()}
    return unfold(
        own,
        calls,
        Unit.NANOSECONDS,
        builder,
        builder.budget.check_path,
        totals=totals,
        roots=_roots(entries, calls),
        recursion=_recursion(entries),
    )


def _recursion(entries: Mapping[Frame, _Entry]) -> Recursion:
    totals = {f: entry.total_s * 1e9 for f, entry in entries.items() if entry.calls > entry.outermost}
    return Recursion(frozenset(totals), totals)


def _roots(entries: Mapping[Frame, _Entry], calls: Calls) -> Roots:
    """The functions that were called from where nothing was recorded, with the time of these calls.

    Their calls are more than those under all callers together.
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
        raise ValueError("it is no dictionary")
    for key, value in document.items():
        # calls that were not recursive, all calls, own time, time with callees, callers
        if not isinstance(value, tuple) or len(value) != 5 or not isinstance(value[4], dict):
            raise ValueError(f"the entry of {key} is not one of five parts")
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
            # Built-in functions are of the file "~".
            return Frame(name, "" if file == "~" else file, max(0, line))
    raise ValueError(f"{key} is no function")


def _caller(value: object) -> tuple[float, float | None]:
    if isinstance(value, tuple) and len(value) == 4:
        return _number(value[0]), _time_s(value[3], "a caller")
    return _number(value), None


def _time_s(value: object, function: object) -> float:
    time_s = _number(value)
    if not -_LONGEST_S <= time_s <= _LONGEST_S:
        raise ValueError(f"the entry of {function} has the time {written(time_s)} s, more than centuries")
    return time_s


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or value - value != 0:
        raise ValueError(f"{value!r} is no number")
    return cast(float, value)
