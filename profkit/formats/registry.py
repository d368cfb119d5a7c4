"""Registry of the formats for export and import; commands derive their choices from it.

A new format is one module and one line in `FORMATS`. Its functions import the module when they are called, so
that `--help` does not load it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import NamedTuple, Protocol, cast

from profkit.errors import DamagedFile, UsageError
from profkit.formats.limits import SHORTENED_DEPTH, Budget, ImportLimits, enough_memory
from profkit.formats.values import Selection, only_value
from profkit.model.notes import Note, NoteCode
from profkit.model.profile import Profile

Encode = Callable[[Profile], bytes]
EncodeTimed = Callable[[Profile, "TimeSpan"], bytes]
Decode = Callable[[bytes, Path, Budget | None], Profile]
Select = Callable[[bytes, Path, Budget | None, str | None], Selection]

_INT64_MAX = 2**63 - 1


PROFILING_SAMPLING = "profiling.sampling"
"""The sampling profiler of CPython 3.15 and later, whose files have several formats."""


class TimeSpan(NamedTuple):
    """Time in which a profile was recorded."""

    started_ns: int = 0
    """Unix time; 0 if unknown."""
    duration_ns: int = 0
    """0 if unknown."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Origin of a profile, as its file states it."""

    tool: str = ""
    """The program that took the profile, with its version if the file has it; empty if unknown."""
    started_ns: int | None = None
    """Unix time of the first sample."""
    notes: tuple[Note, ...] = ()
    """Notes for readers of this file."""


@dataclass(frozen=True, slots=True)
class Format:
    """A format of another tool, which profkit reads, writes, or both.

    `encode` raises UsageError for a profile that the format cannot hold. `decode` raises DamagedFile, naming
    its second argument, and LimitExceeded for what its third does not allow; None allows everything.
    `decode`, `sniff` and `origin` get the content without any gzip around it; the last two never raise.
    """

    name: str
    endings: tuple[str, ...]
    """Endings of file names, with the dot, the usual one first."""
    encode: Encode | None
    decode: Decode | None
    sniff: Callable[[bytes], bool]
    """Return whether content looks like this format; called in the order of `FORMATS`."""
    loses: str
    """Losses of any profile in this format, as the end of a sentence; empty if nothing is lost."""
    origin: Callable[[bytes], Origin] | None = None
    binary: bool = False
    """Whether the format is not for terminals."""
    keeps_totals: bool = False
    """Whether the file keeps stated totals, for profkit only."""
    encode_timed: EncodeTimed | None = None
    """Function as `encode` for formats that also have the time in which a profile was recorded."""
    select: Select | None = None
    """Function as `decode` for files that can have several values, which takes the name of one, or None for
    the default. Raises UsageError for a name that the file does not have."""


class _Codec(Protocol):
    """Functions of a format's module; a format may lack some."""

    def encode(self, profile: Profile) -> bytes: ...
    def encode_timed(self, profile: Profile, span: TimeSpan) -> bytes: ...
    def decode(self, data: bytes, source: Path, budget: Budget | None) -> Profile: ...
    def select(self, data: bytes, source: Path, budget: Budget | None, value: str | None) -> Selection: ...
    def sniff(self, data: bytes) -> bool: ...
    def origin_of(self, data: bytes) -> Origin: ...


@dataclass(frozen=True, slots=True)
class _Module:
    """The functions of a module that is imported when one of them is called."""

    name: str

    def encode(self, profile: Profile) -> bytes:
        return self._codec().encode(profile)

    def encode_timed(self, profile: Profile, span: TimeSpan) -> bytes:
        return self._codec().encode_timed(profile, span)

    def decode(self, data: bytes, source: Path, budget: Budget | None) -> Profile:
        return self._codec().decode(data, source, budget)

    def select(self, data: bytes, source: Path, budget: Budget | None, value: str | None) -> Selection:
        return self._codec().select(data, source, budget, value)

    def sniff(self, data: bytes) -> bool:
        return self._codec().sniff(data)

    def origin_of(self, data: bytes) -> Origin:
        return self._codec().origin_of(data)

    def _codec(self) -> _Codec:
        return cast(_Codec, import_module(f"profkit.formats.{self.name}"))


def _read_only(name: str, endings: tuple[str, ...], module: str) -> Format:
    """Return a format of other tools that profkit does not write."""
    codec = _Module(module)
    return Format(name, endings, None, codec.decode, codec.sniff, loses="", origin=codec.origin_of)


_COLLAPSED, _PPROF, _ANY_PPROF = map(_Module, ("collapsed", "pprof", "pprof.foreign"))


def _text(name: str, endings: tuple[str, ...], module: str, loses: str = "") -> Format:
    """Return a text format that profkit writes and reads."""
    codec = _Module(module)
    return Format(name, endings, codec.encode, codec.decode, codec.sniff, loses, codec.origin_of)


def _with_values(known: Format, module: str) -> Format:
    """Return a format whose files can have several values."""
    return replace(known, select=_Module(module).select)


_TOTALS = "the exact totals of functions; readers add them up from stacks, which approximate the call graph"

_STATES = "which samples are of waiting threads; readers recognize waiting only by functions and lines"

FORMATS: Mapping[str, Format] = {
    known.name: known
    for known in (
        Format(
            "pprof",
            (".pb.gz", ".pprof", ".pb"),
            _PPROF.encode,
            _ANY_PPROF.decode,
            _ANY_PPROF.sniff,
            loses="",
            origin=_ANY_PPROF.origin_of,
            binary=True,
            keeps_totals=True,
            encode_timed=_PPROF.encode_timed,
            select=_ANY_PPROF.select,
        ),
        _with_values(_text("speedscope", (".speedscope.json",), "speedscope"), "speedscope"),
        _text("firefox", (".firefox.json",), "firefox"),
        _text(
            "chrome-trace",
            (".trace.json",),
            "chrome_trace",
            loses="empty stacks, line changes within a call, and times below a microsecond; samples are "
            "placed one after the other",
        ),
        _read_only("cpuprofile", (".cpuprofile",), "cpuprofile"),
        _read_only("pstats", (".prof", ".pstats"), "pstats"),
        _read_only("pyinstrument", (".pyisession", ".json"), "pyinstrument"),
        _with_values(_read_only("callgrind", (".callgrind.out", ".out"), "callgrind"), "callgrind"),
        _read_only("austin", (".austin",), "austin"),
        _with_values(_read_only("perf-script", (".perf.txt", ".perf"), "perf_script"), "perf_script"),
        # Last, since lines of others end in numbers too.
        Format(
            "collapsed",
            (".collapsed", ".folded", ".txt"),
            _COLLAPSED.encode,
            _COLLAPSED.decode,
            _COLLAPSED.sniff,
            loses="the order of samples, their unit and the time between them",
            origin=_COLLAPSED.origin_of,
        ),
    )
}
"""Formats by name, in the order of sniffing: the most certain first."""


class ReadProfile(NamedTuple):
    """A profile of another tool, with its format and origin."""

    format: Format
    profile: Profile
    origin: Origin
    value: str = ""
    """Name of the imported value; empty if it is the file's default, or the only one."""


def lost_in(known: Format, profile: Profile) -> Iterator[str]:
    """Yield what this profile loses in a format, as the ends of sentences."""
    if known.loses:
        yield known.loses
    if profile.totals and not known.keeps_totals:
        yield _TOTALS
    if profile.states and known.loses:  # the other formats that profkit writes keep all of a profile
        yield _STATES


def importable() -> tuple[str, ...]:
    """Return the names of the formats that profkit imports."""
    return tuple(known.name for known in FORMATS.values() if known.decode is not None)


def format_of(data: bytes) -> Format | None:
    """Return the format that content looks like; None if there is none."""
    readable = (known for known in FORMATS.values() if known.decode is not None)
    return next((known for known in readable if known.sniff(data)), None)


def read_any(
    data: bytes,
    name: str | None = None,
    limits: ImportLimits | None = None,
    *,
    source: Path = Path("the file"),
    budget: Budget | None = None,
    value: str | None = None,
) -> ReadProfile:
    """Parse a profile, without any gzip around it.

    The format is `name`, or the one that the content looks like. A `budget` that unpacking has partly spent
    replaces `limits`. `value` names one of several values of the file. Raises DamagedFile and LimitExceeded,
    naming `source`, and UsageError for a format that is unknown or not imported, and for an unknown value.
    """
    budget = budget or Budget(limits or ImportLimits(), source)
    known = FORMATS.get(name) if name is not None else format_of(data)
    if known is None or known.decode is None:
        problem = f"the format of {source} is not known" if name is None else f"{name!r} cannot be imported"
        raise UsageError(problem, f"supported formats: {', '.join(importable())}")
    with enough_memory(source):
        budget.check_bytes(len(data))
        selected = _selected(known, known.decode, data, source, budget, value)
        profile = _checked(selected.profile, source)
        budget.check_time()
        origin = Origin() if known.origin is None else known.origin(data)
        shortened = (Note.of(NoteCode.STACKS_SHORTENED, frames=SHORTENED_DEPTH),) if budget.shortened else ()
        origin = replace(origin, notes=(*origin.notes, *selected.notes, *shortened))
        return ReadProfile(known, profile, origin, selected.value)


def _selected(
    known: Format, decode: Decode, data: bytes, source: Path, budget: Budget, value: str | None
) -> Selection:
    if known.select is not None:
        return known.select(data, source, budget, value)
    return only_value(decode(data, source, budget), value, source)


def _checked(profile: Profile, source: Path) -> Profile:
    """Return the profile; raise DamagedFile if its numbers or its time exceed 64 bits, or time goes back."""
    numbers = (
        (sample.weight for sample in profile.samples),
        (frame.line for frame in profile.frames),
        (total for total in profile.totals if total is not None),
        (number for thread in profile.threads for number in (thread.pid, thread.tid)),
    )
    if not 0 <= profile.period_ns < math.inf:
        raise DamagedFile(source, f"its sampling period of {profile.period_ns:g} ns is no time")
    most = max(map(abs, chain.from_iterable(numbers)), default=0)
    if most > _INT64_MAX or not 0 <= profile.period_ns * profile.total_weight <= _INT64_MAX:
        raise DamagedFile(source, "it has numbers of more than 64 bits")
    return profile
