"""The pprof schema: field numbers of profile.proto, profkit's own comment, UTF-8 for any string."""

from __future__ import annotations

import enum
import re
import zlib
from collections.abc import Iterable
from dataclasses import replace

from profkit.model.profile import Profile, ThreadState, Value
from profkit.units import Unit

FORMAT = "profkit.pprof/1"
"""First word of the comment; the JSON object of `unit`, `period_ns`, `ordered` and `turns` follows.

Of memory profiles, it also has `values`.
"""

GZIP = 31
"""zlib's `wbits` for a gzip header, which then has no time."""

SAMPLE_TYPES = {
    Unit.SAMPLES: ("samples", "count"),
    Unit.NANOSECONDS: ("wall", "nanoseconds"),
    Unit.INSTRUCTIONS: ("instructions", "count"),
    Unit.BYTES: ("space", "bytes"),
    Unit.ALLOCATIONS: ("allocations", "count"),
}
"""Type and unit of a sample's first value."""

VALUE_TYPES = {
    Value.PEAK: ("inuse_space", "bytes"),
    Value.ALLOCATED: ("alloc_space", "bytes"),
    Value.ALLOCATIONS: ("alloc_objects", "count"),
    Value.LEFT: ("left_space", "bytes"),
}
"""Types and units of the values of memory profiles; the first three are those of Go's heap profiles."""

WALL = ("wall", "nanoseconds")
"""Type and unit of the period, and of the second value."""


STATE = "state"
"""Label of the samples of threads whose state is known."""
STATES = {
    "working": ThreadState.WORKING,
    "waiting": ThreadState.WAITING,
    "waiting for the GIL": ThreadState.GIL,
    "idle": ThreadState.WAITING,  # as earlier versions wrote
}
"""Its values."""


class InProfile(enum.IntEnum):
    """Fields of the outermost message."""

    SAMPLE_TYPE = 1
    SAMPLE = 2
    LOCATION = 4
    FUNCTION = 5
    STRING = 6
    TIME_NS = 9
    DURATION_NS = 10
    PERIOD_TYPE = 11
    PERIOD = 12
    COMMENT = 13
    OLD_TURNS = 1000
    """A field of profkit's own, as the next one: older versions wrote what is now in a comment of `turns`."""
    OLD_TURN_WEIGHTS = 1001


class InValueType(enum.IntEnum):
    """Fields of ValueType."""

    TYPE = 1
    UNIT = 2


class InSample(enum.IntEnum):
    """Fields of Sample; its locations begin at the leaf."""

    LOCATIONS = 1
    VALUES = 2
    LABEL = 3


class InLabel(enum.IntEnum):
    """Fields of Label."""

    KEY = 1
    STRING = 2
    NUMBER = 3


class InLocation(enum.IntEnum):
    """Fields of Location."""

    ID = 1
    LINE = 4


class InLine(enum.IntEnum):
    """Fields of Line."""

    FUNCTION = 1
    NUMBER = 2


class InFunction(enum.IntEnum):
    """Fields of Function."""

    ID = 1
    NAME = 2
    FILE = 4


# Match a run of backslashes from its beginning only: matching from each position would be quadratic.
_TO_ESCAPE = re.compile(r"(?<!\\)(\\*)([\ud800-\udfff])|(?<!\\)(\\+)(?=ud[89a-f][0-9a-f]{2})")
_ESCAPED = re.compile(r"(?<!\\)(\\+)u(d[89a-f][0-9a-f]{2})")


def escape_text(text: str) -> str:
    """Return `text` with its lone surrogates escaped."""
    if text.isprintable() and "\\" not in text:
        return text
    return _TO_ESCAPE.sub(_escaped, text)


def unescape_text(text: str) -> str:
    """Return the string that `escape_text` was given."""
    return _ESCAPED.sub(_unescaped, text) if "\\ud" in text else text


def _escaped(match: re.Match[str]) -> str:
    before, surrogate, backslashes = match.groups()
    return f"{before * 2}\\u{ord(surrogate):x}" if surrogate else backslashes * 2


def _unescaped(match: re.Match[str]) -> str:
    backslashes, digits = match.groups()
    before = backslashes[: len(backslashes) // 2]
    return before + (chr(int(digits, 16)) if len(backslashes) % 2 else f"u{digits}")


_HEAD = "#profkit.totals/1"
_NOT_STATED = "-"


def states_totals(data: bytes) -> bool:
    """Return whether an uncompressed file has a comment with totals."""
    return f"{_HEAD} ".encode() in data


def totals_comment(profile: Profile) -> str:
    """Return the comment for a profile that states totals."""
    texts = (_NOT_STATED if total is None else str(total) for total in profile.totals)
    return " ".join((_beginning(profile), *texts))


def with_totals(profile: Profile, comments: Iterable[str]) -> Profile:
    """Return the profile with the totals that a comment states for it; unchanged if none does.

    Raises ValueError for a comment that `totals_comment` does not write.
    """
    comment = next((one for one in comments if one.startswith(_HEAD)), None)
    if comment is None:
        return profile
    beginning = _beginning(profile)
    texts = comment[len(beginning) :].split()
    if not comment.startswith(f"{beginning} ") or len(texts) != len(profile.frames):
        return profile
    totals = tuple(None if text == _NOT_STATED else int(text) for text in texts)
    if any(total is not None and total < 0 for total in totals):
        raise ValueError("one of its totals is negative")
    return replace(profile, totals=totals)


def _beginning(profile: Profile) -> str:
    frames = "".join(f"{name}\0{file}\0{line}\n" for name, file, line in profile.frames)
    checksum = zlib.crc32(frames.encode("utf-8", "surrogatepass"))
    return f"{_HEAD} {profile.total_weight} {checksum}"
