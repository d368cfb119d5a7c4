"""Registry of formats: endings of files, recognition, values and origins, and what each one loses.

A new format is one module and one line in `FORMATS`. Its functions import the module when they are called, so
that `--help` does not load it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

from profkit.errors import DamagedFile, UsageError
from profkit.formats.limits import SHORTENED_DEPTH, Budget, ImportLimits, enough_memory
from profkit.model.notes import Note, NoteCode
from profkit.model.profile import Profile
from profkit.model.session import NO_MEMBER, Member

if TYPE_CHECKING:
    from profkit.model.measurement import AnyInfo

Encode = Callable[[Profile], bytes]
EncodeTimed = Callable[[Profile, "TimeSpan"], bytes]
Decode = Callable[[bytes, Path, Budget | None], Profile]
Select = Callable[[bytes, Path, Budget | None, str | None], "Selection"]

_INT64_MAX = 2**63 - 1


PROFILING_SAMPLING = "profiling.sampling"
"""The sampling profiler of CPython 3.15 and later, whose files have several formats."""


class TimeSpan(NamedTuple):
    """Time in which a profile was recorded."""

    started_ns: int = 0
    """Unix time; 0 if unknown."""
    duration_ns: int = 0
    """0 if unknown."""


def span_of(info: AnyInfo) -> TimeSpan:
    """Return when a run was recorded, and for how long it was sampled or measured."""
    from profkit.model.run import RunInfo

    duration_s = info.session_s or info.wall_s if isinstance(info, RunInfo) else info.duration_s
    return TimeSpan(info.started_ns, round(1e9 * duration_s))


@dataclass(frozen=True, slots=True)
class Origin:
    """Origin of a profile, as its file states it."""

    tool: str = ""
    """The program that took the profile, with its version if the file has it; empty if unknown."""
    started_ns: int | None = None
    """Unix time of the first sample."""
    notes: tuple[Note, ...] = ()
    """Notes for readers of this file."""
    member: Member = NO_MEMBER
    """Rank of the process, if it is one."""
    host: str = ""
    pid: int = 0
    """Id of the process; 0 if only threads have one."""


class Selection(NamedTuple):
    """The profile of one of a file's values."""

    profile: Profile
    value: str = ""
    """Name of the value; empty if it is the one that is imported by default."""
    notes: tuple[Note, ...] = ()
    """Notes on this value and on those that are left out."""


@dataclass(frozen=True, slots=True)
class Values:
    """Names of a file's values, and the one that is imported by default."""

    names: tuple[str, ...]
    default: int = 0

    @classmethod
    def named(cls, names: Iterable[str], default: int = 0) -> Values:
        """Return values by name; one whose name is empty or not unique is called by its number, from 1."""
        listed = tuple(names)
        times = Counter(listed)
        unique = (n if n and times[n] == 1 else str(number) for number, n in enumerate(listed, 1))
        return cls(tuple(unique), default)

    def index(self, wanted: str | None, source: Path) -> int:
        """Return the place of a name, or that of the default value for None.

        Raises UsageError, naming `source` and the names that exist.
        """
        if wanted is None:
            return self.default
        if wanted in self.names:
            return self.names.index(wanted)
        if len(self.names) == 1:
            fix = f"its only value is {self.names[0]}: leave out --value"
        else:
            fix = f"give one of these with --value: {', '.join(self.names)}"
        raise UsageError(f"{source} has no value {wanted!r}", fix)

    def select(
        self, place: int, profile: Profile, notes: Iterable[Note] = (), same: Collection[int] = ()
    ) -> Selection:
        """Return the selection of a value, with a note on others, except the `same` in another unit."""
        kept = {place, *same}
        others = ", ".join(name for number, name in enumerate(self.names) if number not in kept)
        name = self.names[place]
        left_out = (Note.of(NoteCode.VALUES_LEFT_OUT, kept=name, left_out=others),) if others else ()
        return Selection(profile, "" if place == self.default else name, (*left_out, *notes))


def only_value(profile: Profile, wanted: str | None, source: Path) -> Selection:
    """Return the selection of a file with one value, which is named by its unit; raises as `Values.index`."""
    values = Values((profile.unit.value,))
    return values.select(values.index(wanted, source), profile)


@dataclass(frozen=True, slots=True)
class Format:
    """A format of another tool, which profkit reads, writes, or both.

    `encode` raises UsageError for a profile that the format cannot hold; it is None for formats that are only
    read. `decode` raises DamagedFile, naming its second argument, and LimitExceeded for what its third does
    not allow; None allows everything. It is None itself for formats that are only written.
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
    origin: Callable[[bytes], Origin]
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


class _Module:
    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, function: str) -> Callable[..., object]:
        return partial(_call, f"profkit.formats.{self._name}", function)


def _call(module: str, function: str, *arguments: object) -> object:
    return getattr(import_module(module), function)(*arguments)


def _format(
    name: str,
    endings: tuple[str, ...],
    *,
    module: str = "",
    written: bool = False,
    several_values: bool = False,
    loses: str = "",
) -> Format:
    """Return a format whose functions are in a module of this package, by default of the same name."""
    codec = cast(_Codec, _Module(module or name))
    return Format(
        name,
        endings,
        encode=codec.encode if written else None,
        decode=codec.decode,
        sniff=codec.sniff,
        loses=loses,
        origin=codec.origin_of,
        select=codec.select if several_values else None,
    )


def _is_never_read(_: bytes) -> bool:
    return False


def _no_origin(_: bytes) -> Origin:
    return Origin()


_TOTALS = "the exact totals of functions; readers add them up from stacks, which approximate the call graph"

_STATES = "which samples are of waiting threads; readers recognize waiting only by functions and lines"

_PPROF = cast(_Codec, _Module("pprof"))

FORMATS: Mapping[str, Format] = {
    known.name: known
    for known in (
        replace(
            _format("pprof", (".pb.gz", ".pprof", ".pb"), module="pprof.foreign", several_values=True),
            encode=_PPROF.encode,
            encode_timed=_PPROF.encode_timed,
            binary=True,
            keeps_totals=True,
        ),
        _format("speedscope", (".speedscope.json",), written=True, several_values=True),
        _format("firefox", (".firefox.json",), written=True),
        _format(
            "chrome-trace",
            (".trace.json",),
            module="chrome_trace",
            written=True,
            loses="empty stacks, line changes within a call, and times below a microsecond; samples are "
            "placed one after the other",
        ),
        replace(
            _format(
                "otlp",
                (".otlp.pb",),
                written=True,
                loses="the order of samples and the exact totals of functions; it is experimental, since the "
                "messages of OpenTelemetry's profiles still change",
            ),
            decode=None,
            sniff=_is_never_read,
            origin=_no_origin,
            encode_timed=cast(_Codec, _Module("otlp")).encode_timed,
            binary=True,
        ),
        _format("cpuprofile", (".cpuprofile",)),
        _format("pstats", (".prof", ".pstats")),
        _format("pyinstrument", (".pyisession", ".json")),
        _format("callgrind", (".callgrind.out", ".out"), several_values=True),
        _format("austin", (".austin",)),
        _format("perf-script", (".perf.txt", ".perf"), module="perf_script", several_values=True),
        # Last, since lines of others end in numbers too.
        _format(
            "collapsed",
            (".collapsed", ".folded", ".txt"),
            written=True,
            loses="the order of samples, their unit and the time between them",
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
    return tuple(name for name, known in FORMATS.items() if known.decode is not None)


def format_of(data: bytes) -> Format | None:
    """Return the format that content looks like; None if there is none."""
    return next((known for known in FORMATS.values() if known.sniff(data)), None)


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
        if known.select is not None:
            selected = known.select(data, source, budget, value)
        else:
            selected = only_value(known.decode(data, source, budget), value, source)
        profile = _checked(selected.profile, source)
        budget.check_time()
        origin = known.origin(data)
        shortened = (Note.of(NoteCode.STACKS_SHORTENED, frames=SHORTENED_DEPTH),) if budget.shortened else ()
        origin = replace(origin, notes=(*origin.notes, *selected.notes, *shortened))
        return ReadProfile(known, profile, origin, selected.value)


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
