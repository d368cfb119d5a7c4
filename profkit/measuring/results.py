"""Measurements from workers' replies: checks for altered replies, and for times that are too short."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from statistics import median
from typing import TYPE_CHECKING, cast, get_args, get_origin, get_type_hints, is_typeddict

from profkit.errors import BadReply, DamagedFile, TooShort, UsageError
from profkit.measuring.pool.command import PROGRAM
from profkit.measuring.worker.protocol import FUNCTION, NOTHING, Fresh, Times
from profkit.model.function_counts import STATEMENT, PythonCounts
from profkit.model.measurement import (
    CallgrindDump,
    Freshness,
    InstructionCounts,
    MeasuredIn,
    Preload,
    ProcessTimes,
    Timing,
    Tool,
)
from profkit.transforms.counts import subtract_baseline
from profkit.transforms.python_counts import Stub, python_counts

if TYPE_CHECKING:
    from profkit.measuring.pool.jobs import Reply, ZygoteFacts


class _Fields:
    """Checked access to the fields of one case of a reply."""

    def __init__(self, label: str, reply: Reply, case: int) -> None:
        cases = _cases(label, reply)
        fields = cases[case] if case < len(cases) else None
        if not isinstance(fields, Mapping):
            raise BadReply(label, f"statement {case} of {len(cases)} is missing", reply.output)
        self._label, self._reply, self._fields = label, reply, fields

    def count(self, name: str, least: int = 0) -> int:
        """Return a whole number of `least` or more."""
        value = self._fields.get(name)
        if not _fits(value, int) or cast(int, value) < least:
            raise self._error(name, value)
        return cast(int, value)

    def times(self) -> Times:
        """Return the times of the statement."""
        times = self._checked(_hints_of(Times))
        for name in ("number", "times_s"):
            if not times[name]:
                raise self._error(name, times[name])
        return cast(Times, {**times, "fresh": self.fresh()})

    def fresh(self) -> Fresh:
        """Return what the worker found out about state that executions change."""
        found = cast(Fresh, self._checked({"fresh": Fresh})["fresh"])
        if any(len(pair) != 2 for pair in found["globals"]):
            raise self._error("fresh", found)
        return cast(Fresh, {name: value for name, value in found.items() if name in _hints_of(Fresh)})

    def _checked(self, hints: Mapping[str, object]) -> dict[str, object]:
        for name, hint in hints.items():
            if not _fits(self._fields.get(name), hint):
                raise self._error(name, self._fields.get(name))
        return {name: self._fields[name] for name in hints}

    def stubs(self) -> tuple[Stub, ...]:
        """Return the stubs of Python functions."""
        return tuple(self._stub(fields) for fields in self._list("stubs", least=0))

    def _stub(self, fields: object) -> Stub:
        if _fits(fields, tuple[int, str, str, int]):
            address, name, file, line = cast("tuple[int, str, str, int]", fields)
            own = _is_own(name, file)
            return Stub(address, STATEMENT, "", 0) if own else Stub(address, name, file, line)
        raise self._error("stubs", fields)

    def dumps(self, name: str, least: int = 1) -> tuple[CallgrindDump, ...]:
        """Return `least` or more dumps that came with the reply."""
        return tuple(self._dump(name, path) for path in self._list(name, least))

    def _dump(self, name: str, path: object) -> CallgrindDump:
        dump = self._reply.dumps.get(path) if isinstance(path, str) else None
        if dump is None:
            raise self._error(name, path)
        try:
            return dump.parsed
        except DamagedFile as damage:
            raise BadReply(self._label, damage.detail, self._reply.output) from damage

    def _list(self, name: str, least: int = 1) -> list[object]:
        values = self._fields.get(name)
        if not isinstance(values, list) or len(values) < least:
            raise self._error(name, values)
        return values

    def _error(self, name: str, value: object) -> BadReply:
        return BadReply(self._label, f"{name} is {_shortened(value)}", self._reply.output)


def _all_fields(label: str, reply: Reply) -> list[_Fields]:
    return [_Fields(label, reply, case) for case in range(len(_cases(label, reply)))]


def _cases(label: str, reply: Reply) -> list[object]:
    cases = reply.message.get("cases")
    if not isinstance(cases, list):
        raise BadReply(label, f"cases is {_shortened(cases)}", reply.output)
    return cases


def _is_own(name: str, file: str) -> bool:
    """Return whether a function is the loop around the statement, or other code of the worker."""
    inside = name == FUNCTION or (name == "<module>" and file.startswith(("<stmt", NOTHING)))
    return inside or file.startswith(f"{PROGRAM.parent}{os.sep}")


def _fits(value: object, hint: object) -> bool:
    """Return whether a value read from JSON is of a type in `worker.protocol`; numbers are not negative."""
    if is_typeddict(hint):
        fields = value if isinstance(value, Mapping) else {}
        return all(_fits(fields.get(name), inner) for name, inner in _hints_of(hint).items())
    origin, inner = get_origin(hint), get_args(hint)
    if origin is list:
        return isinstance(value, list) and all(_fits(one, inner[0]) for one in value)
    if origin is tuple:  # a list in JSON
        return isinstance(value, list) and len(value) == len(inner) and all(map(_fits, value, inner))
    if inner:
        return any(_fits(value, one) for one in inner)
    if hint in (int, float):
        kinds = (int,) if hint is int else (int, float)
        return isinstance(value, kinds) and not isinstance(value, bool) and 0 <= value < math.inf
    return isinstance(value, cast(type, hint))


_hints_of = cache(get_type_hints)


def _shortened(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


MAX_UNCERTAINTY = 0.05
"""Maximum uncertainty of the subtracted time, relative to the remaining time."""


def timing_of(label: str, replies: Sequence[Reply], case: int = 0) -> Timing:
    """Return one statement's times in the replies of all its processes; raise BadReply.

    Timings of several cases of the same replies were measured interleaved, process by process.
    """
    cases = [_Fields(label, reply, case).times() for reply in replies]
    numbers = sorted({timed["number"] for timed in cases})
    if len(numbers) != 1:
        raise BadReply(label, f"its processes used different numbers of executions per block: {numbers}")
    loop_s = min(timed["loop_s"] for timed in cases)
    _refuse_too_short(label, cases, loop_s)
    return Timing(
        number=numbers[0],
        processes=tuple(_process(timed, reply) for timed, reply in zip(cases, replies, strict=True)),
        measured_in=_all_in(label, replies),
        freshness=_freshness(cases[0]["fresh"], loop_s),
    )


def _freshness(fresh: Fresh, loop_s: float = 0.0) -> Freshness:
    return Freshness(bool(fresh["decided"]), tuple(fresh["changes"]), fresh["why_not"], loop_s)


def _refuse_too_short(label: str, cases: Sequence[Times], loop_s: float) -> None:
    """Raise TooShort if the subtracted time is too uncertain compared with the remaining time."""
    spread_s = median([timed["loop_spread_s"] for timed in cases])
    least_s = median([min(timed["times_s"]) for timed in cases])
    if spread_s > MAX_UNCERTAINTY * least_s:
        raise TooShort(label, tuple(cases[0]["fresh"]["changes"]), least_s, loop_s, spread_s)


def numbers_of(label: str, reply: Reply) -> tuple[int, ...]:
    """Return the number of executions per block for each statement; raise BadReply."""
    return tuple(fields.times()["number"] for fields in _all_fields(label, reply))


def counts_of(label: str, reply: Reply, case: int = 0) -> InstructionCounts:
    """Return one statement's instruction counts in a reply, per execution; raise BadReply."""
    fields, environment = _Fields(label, reply, case), measured_in(Tool.VALGRIND, reply.zygote)
    number, dumps = fields.count("number", least=1), fields.dumps("dumps")
    try:
        counts = subtract_baseline(dumps, fields.dumps("baseline_dumps", least=0), number, environment)
    except UsageError as mixed:
        raise BadReply(label, mixed.problem, reply.output) from mixed
    return replace(counts, freshness=_freshness(fields.fresh()))


def python_counts_of(label: str, reply: Reply, case: int = 0) -> PythonCounts:
    """Return one statement's counts by Python function in a reply, per execution; raise BadReply."""
    fields = _Fields(label, reply, case)
    (dump, *_), (base, *_) = fields.dumps("dumps"), fields.dumps("baseline_dumps")
    return python_counts(dump, base, fields.stubs(), fields.count("number", least=1))


def together(counts: Sequence[InstructionCounts]) -> InstructionCounts:
    """Merge counts of one order from several processes: all repeats, and the lowest process's counts."""
    least = min(counts, key=lambda one: one.stripped)
    return replace(
        least,
        raw=tuple(total for one in counts for total in one.raw),
        raw_stripped=tuple(total for one in counts for total in one.raw_stripped),
        processes=sum(one.processes for one in counts),
    )


def fresh_of(label: str, reply: Reply) -> tuple[Fresh, ...]:
    """Return how to execute the statements of a reply; raise BadReply."""
    return tuple(fields.fresh() for fields in _all_fields(label, reply))


def measured_in(tool: Tool, zygote: ZygoteFacts) -> MeasuredIn:
    """Return the environment in which a zygote's children measure."""
    loaded = dict(zygote.packages)
    # Torch imports numpy, if it is installed.
    preloads = (preload for preload in (Preload.TORCH, Preload.NUMPY) if preload.value in loaded)
    return MeasuredIn(tool, next(preloads, Preload.NOTHING), zygote.python, zygote.packages)


def _all_in(label: str, replies: Sequence[Reply]) -> MeasuredIn:
    environments = list(dict.fromkeys(measured_in(Tool.NONE, reply.zygote) for reply in replies))
    if len(environments) != 1:
        known = ", ".join(f"Python {each.python} with {dict(each.packages)}" for each in environments)
        raise BadReply(label, f"its processes ran in different environments: {known}")
    return environments[0]


def _process(timed: Times, reply: Reply) -> ProcessTimes:
    return ProcessTimes(
        times_s=tuple(timed["times_s"]),
        zygote=reply.zygote.serial,
        # Blocks too short for the clock's resolution do not show the CPU share.
        cpu_share=timed["cpu_s"] / timed["wall_s"] if timed["wall_s"] > 0 else 1.0,
        involuntary_switches=timed["involuntary"],
    )
