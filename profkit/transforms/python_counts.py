"""Instruction counts by Python function, from dumps in which native code belongs to its caller.

In such dumps, each Python function has a stub, named by its address, and its own copy of the evaluator, named
after the stub. Other native functions appear only if they have no symbol; each is divided among its callers.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from profkit.model.function_counts import CallCount, PythonCounts, PythonFunctionCount
from profkit.model.measurement import CallgrindDump
from profkit.transforms.counts import by_key, calls_by_cost, functions_by_cost, no_counts

_NODE = re.compile(
    r"(?:^|:)(?P<evaluator>_PyEval_EvalFrameDefault(?:'\d+)?')?0x0*(?P<address>[0-9a-f]+)(?P<nested>'\d+)?"
    r"(?: \[.*\])?$"
)
"""A stub, or the evaluator as called by one. `nested`: Callgrind's mark of calls within a recursion."""
_ROUNDS = 50
"""Maximum length of a chain of native functions without symbols."""
_OUTSIDE = ""
"""Key of instructions outside Python functions."""

Shares = Mapping[str, float]
"""Parts, which add up to 1, by key of a Python function."""


@dataclass(frozen=True, slots=True)
class Stub:
    """A Python function, and where the stub begins by which it is entered."""

    address: int
    name: str
    file: str
    line: int

    @property
    def key(self) -> str:
        """`file:name`, as of a `PythonFunctionCount`."""
        return f"{self.file}:{self.name}"


@dataclass(frozen=True, slots=True)
class _Place:
    key: str
    entered: bool
    """True for the stub, False for the evaluator."""
    nested: bool
    """True within a call of the same function."""


@dataclass(slots=True)
class _Sums:
    exclusive: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    inclusive: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    calls: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    between: dict[tuple[str, str], list[float]] = field(default_factory=lambda: defaultdict(lambda: [0, 0]))
    """(caller, callee): [calls, inclusive]."""


def python_counts(
    dump: CallgrindDump, base: CallgrindDump, stubs: Iterable[Stub], number: int
) -> PythonCounts:
    """Return counts per execution from a dump of `number` executions, and one of the same loop, empty."""
    known = {stub.address: stub for stub in stubs}
    of_dump, of_base = _sums(dump, known), _sums(base, known)
    functions = [_function(stub, of_dump, of_base, number) for stub in _by_key(known.values())]
    kept = [row for row in functions if row.exclusive or row.calls]
    elsewhere = (of_dump.exclusive[_OUTSIDE] - of_base.exclusive[_OUTSIDE]) / number
    return PythonCounts(
        functions=functions_by_cost(kept),
        calls=_calls(of_dump, of_base, number, {row.key for row in kept}),
        net=sum(row.exclusive for row in functions) + elsewhere,
        elsewhere=elsewhere,
    )


def python_counts_of_run(dump: CallgrindDump, stubs: Iterable[Stub]) -> PythonCounts:
    """Return the counts of one run of a whole program, in which there is nothing to subtract."""
    return python_counts(dump, no_counts(dump.events), stubs, 1)


def add_python_counts(counts: Sequence[PythonCounts]) -> PythonCounts:
    """Return the sums of counts of several processes."""
    functions = by_key((row for one in counts for row in one.functions), lambda row: row.key)
    calls = by_key((call for one in counts for call in one.calls), lambda call: (call.caller, call.callee))
    return PythonCounts(
        functions=functions_by_cost(functions.values()),
        calls=calls_by_cost(calls.values()),
        net=sum(one.net for one in counts),
        elsewhere=sum(one.elsewhere for one in counts),
    )


def _by_key(stubs: Iterable[Stub]) -> Iterable[Stub]:
    """Return one stub for each key, the one whose line comes first: functions of one name count as one."""
    first: dict[str, Stub] = {}
    for stub in sorted(stubs, key=lambda stub: stub.line or 1 << 31):
        first.setdefault(stub.key, stub)
    return first.values()


def _function(stub: Stub, of_dump: _Sums, of_base: _Sums, number: int) -> PythonFunctionCount:
    def net(sums: Mapping[str, float], less: Mapping[str, float]) -> float:
        return (sums.get(stub.key, 0.0) - less.get(stub.key, 0.0)) / number

    return PythonFunctionCount(
        stub.name,
        stub.file,
        stub.line,
        exclusive=net(of_dump.exclusive, of_base.exclusive),
        inclusive=net(of_dump.inclusive, of_base.inclusive),
        calls=net(of_dump.calls, of_base.calls),
    )


def _calls(of_dump: _Sums, of_base: _Sums, number: int, functions: Container[str]) -> tuple[CallCount, ...]:
    """Return the net calls between functions, most expensive first."""
    rows = []
    for (caller, callee), (calls, inclusive) in of_dump.between.items():
        less_calls, less = of_base.between.get((caller, callee), (0.0, 0.0))
        if calls != less_calls and caller in functions and callee in functions:
            rows.append(CallCount(caller, callee, (calls - less_calls) / number, (inclusive - less) / number))
    return calls_by_cost(rows)


def _sums(dump: CallgrindDump, known: Mapping[int, Stub]) -> _Sums:
    names = {row.name for row in dump.functions} | {call.callee for call in dump.calls}
    places = {name: place for name in names if (place := _place(name, known)) is not None}
    shares = _shares(dump, places)
    sums = _Sums()
    for row in dump.functions:
        for key, part in shares.get(row.name, {_OUTSIDE: 1.0}).items():
            sums.exclusive[key] += row.exclusive * part
    for call in dump.calls:
        callee = places.get(call.callee)
        if callee is None or not callee.entered:
            continue
        sums.calls[callee.key] += call.calls
        sums.inclusive[callee.key] += 0.0 if callee.nested else call.inclusive
        for key, part in shares.get(call.caller, {_OUTSIDE: 1.0}).items():
            between = sums.between[key, callee.key]
            between[0] += call.calls * part
            between[1] += call.inclusive * part
    return sums


def _place(name: str, known: Mapping[int, Stub]) -> _Place | None:
    """Return the Python function of a row; None for native functions without a symbol."""
    match = _NODE.search(name)
    stub = known.get(int(match["address"], 16)) if match else None
    if match is None or stub is None:
        return None
    return _Place(stub.key, match["evaluator"] is None, match["nested"] is not None)


def _shares(dump: CallgrindDump, places: Mapping[str, _Place]) -> dict[str, Shares]:
    """Return to which Python functions each row belongs.

    A native function belongs to its callers, in proportion to the cost of their calls. This is exact for one
    that calls no Python function.
    """
    shares: dict[str, Shares] = {name: {place.key: 1.0} for name, place in places.items()}
    callers: dict[str, list[CallCount]] = defaultdict(list)
    for call in dump.calls:
        if call.callee not in places:
            callers[call.callee].append(call)
    for _ in range(_ROUNDS):
        changed = False
        for name, calls in callers.items():
            found = _divided(calls, shares)
            changed = changed or found != shares.get(name)
            shares[name] = found
        if not changed:
            break
    return shares


def _divided(calls: Iterable[CallCount], shares: Mapping[str, Shares]) -> Shares:
    weights: dict[str, float] = defaultdict(float)
    for call in calls:
        for key, part in shares.get(call.caller, {_OUTSIDE: 1.0}).items():
            weights[key] += part * (call.inclusive or call.calls)
    whole = sum(weights.values())
    return {key: weight / whole for key, weight in weights.items()} if whole else {_OUTSIDE: 1.0}
