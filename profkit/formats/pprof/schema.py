"""The pprof schema: field numbers of profile.proto, types of values, and profkit's own comment."""

from __future__ import annotations

import enum

from profkit.model.profile import ThreadState, Value
from profkit.units import Unit

FORMAT = "profkit.pprof/1"
"""First word of the comment; the JSON object of `unit`, `period_ns`, `ordered` and `turns` follows.

Of memory profiles, it also has `values`.
"""

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
    """A field of profkit's own, as the next one: older versions wrote what is now in a comment."""
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
