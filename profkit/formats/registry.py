"""The formats that profiles are exported to and imported from; what commands offer derives from here.

A new format is one module and one line in `FORMATS`. Its functions import the module when called, so
that asking for help costs none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from profkit.model.profile import Profile

Encode = Callable[[Profile], bytes]
Decode = Callable[[bytes, Path], Profile]


@dataclass(frozen=True, slots=True)
class Origin:
    """What a file tells about how it came to be."""

    tool: str = ""
    """The program that took the profile, with its version where the file has it; empty if unknown."""
    started_ns: int | None = None
    """Unix time of the first sample."""
    notes: tuple[str, ...] = ()
    """What a reader of this very file should know."""


@dataclass(frozen=True, slots=True)
class Format:
    """A format of other tools, or one of theirs that profkit writes too.

    `encode` raises UsageError for a profile that the format cannot hold, `decode` raises DamagedFile
    naming its second argument. `decode`, `sniff` and `origin` get the content without any gzip around
    it; the last two never raise.
    """

    name: str
    endings: tuple[str, ...]
    """Of file names, with the dot, the usual one first."""
    encode: Encode | None
    decode: Decode | None
    sniff: Callable[[bytes], bool]
    """Whether a content looks like this format; asked in the order of `FORMATS`."""
    loses: str
    """What a profile loses in it, as a sentence's end; empty where nothing is lost."""
    origin: Callable[[bytes], Origin] | None = None
    binary: bool = False
    """Not for terminals."""


def _encode_pprof(profile: Profile) -> bytes:
    from profkit.formats.pprof import encode

    return encode(profile)


def _decode_pprof(data: bytes, source: Path) -> Profile:
    from profkit.formats.pprof.foreign import decode_any

    return decode_any(data, source)


def _is_pprof(data: bytes) -> bool:
    from profkit.formats.pprof.foreign import looks_like_pprof

    return looks_like_pprof(data)


def _origin_of_pprof(data: bytes) -> Origin:
    from profkit.formats.pprof.foreign import origin_of

    return origin_of(data)


def _encode_collapsed(profile: Profile) -> bytes:
    from profkit.formats.collapsed import encode

    return encode(profile)


def _decode_collapsed(data: bytes, source: Path) -> Profile:
    from profkit.formats.collapsed import decode

    return decode(data, source)


def _is_collapsed(data: bytes) -> bool:
    from profkit.formats.collapsed import looks_collapsed

    return looks_collapsed(data)


def _origin_of_collapsed(data: bytes) -> Origin:
    from profkit.formats.collapsed import origin_of

    return origin_of(data)


def _encode_speedscope(profile: Profile) -> bytes:
    from profkit.formats.speedscope import encode

    return encode(profile)


def _decode_speedscope(data: bytes, source: Path) -> Profile:
    from profkit.formats.speedscope import decode

    return decode(data, source)


def _is_speedscope(data: bytes) -> bool:
    from profkit.formats.speedscope import looks_like_speedscope

    return looks_like_speedscope(data)


def _origin_of_speedscope(data: bytes) -> Origin:
    from profkit.formats.speedscope import origin_of

    return origin_of(data)


FORMATS: Mapping[str, Format] = {
    known.name: known
    for known in (
        Format(
            "pprof",
            (".pb.gz", ".pprof", ".pb"),
            _encode_pprof,
            _decode_pprof,
            _is_pprof,
            loses="",
            origin=_origin_of_pprof,
            binary=True,
        ),
        Format(
            "speedscope",
            (".speedscope.json",),
            _encode_speedscope,
            _decode_speedscope,
            _is_speedscope,
            loses="",
            origin=_origin_of_speedscope,
        ),
        # Last, since lines of others end in numbers too.
        Format(
            "collapsed",
            (".collapsed", ".folded", ".txt"),
            _encode_collapsed,
            _decode_collapsed,
            _is_collapsed,
            loses="the order of samples, their unit and the time between them",
            origin=_origin_of_collapsed,
        ),
    )
}
"""By name, in the order in which contents are sniffed: what can be told for certain first."""
