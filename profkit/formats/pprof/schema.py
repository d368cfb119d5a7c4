"""What writing and reading agree on: profile.proto's field numbers, and profkit's own comment."""

from __future__ import annotations

import enum

from profkit.units import Unit

FORMAT = "profkit.pprof/1"
"""The comment's first word; the JSON object of `unit`, `period_ns`, `ordered` and `turns` follows."""

GZIP = 31
"""zlib's `wbits` for a gzip header, which then holds no time."""

SAMPLE_TYPES = {
    Unit.SAMPLES: ("samples", "count"),
    Unit.NANOSECONDS: ("wall", "nanoseconds"),
    Unit.INSTRUCTIONS: ("instructions", "count"),
    Unit.BYTES: ("space", "bytes"),
}
"""Type and unit of a sample's first value."""

WALL = ("wall", "nanoseconds")
"""Type and unit of the period, and of the second value."""


class InProfile(enum.IntEnum):
    """Fields of the outermost message."""

    SAMPLE_TYPE = 1
    SAMPLE = 2
    LOCATION = 4
    FUNCTION = 5
    STRING = 6
    PERIOD_TYPE = 11
    PERIOD = 12
    COMMENT = 13
    TURNS = 1000
    """Profkit's own, as the next one: see `turns`."""
    TURN_WEIGHTS = 1001


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
