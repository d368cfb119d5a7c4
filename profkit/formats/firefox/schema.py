"""Constants of the format for reading and writing."""

from __future__ import annotations

from profkit.units import Unit

VERSION = 60
"""Format version that is written: the first in which threads share their tables. Newer viewers upgrade it."""

WEIGHT_TYPES = {
    Unit.SAMPLES: "samples",
    Unit.NANOSECONDS: "tracing-ms",
    Unit.BYTES: "bytes",
    # The format has no word for instructions; "samples" shows them as a count.
    Unit.INSTRUCTIONS: "samples",
}

NS_PER_MS = 1_000_000

CATEGORIES = (
    ("Other", "grey"),
    ("User", "yellow"),
    ("Library", "blue"),
    ("Native", "green"),
)
"""Names and colours; the format wants a grey one, for everything without a category."""

OTHER, USER, LIBRARY, NATIVE = range(len(CATEGORIES))
