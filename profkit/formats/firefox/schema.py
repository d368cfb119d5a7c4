"""Words and numbers of the format that both directions know."""

from __future__ import annotations

from profkit.units import Unit

VERSION = 60
"""Of what is written: the first version in which threads share their tables. Newer viewers upgrade it."""

WEIGHT_TYPES = {
    Unit.SAMPLES: "samples",
    Unit.NANOSECONDS: "tracing-ms",
    Unit.BYTES: "bytes",
    # There is no word for instructions; what is one sample shows as what it is, a count.
    Unit.INSTRUCTIONS: "samples",
}

NS_PER_MS = 1_000_000

CATEGORIES = (
    ("Other", "grey"),
    ("User", "yellow"),
    ("Library", "blue"),
    ("Native", "green"),
)
"""Names and colours; the format wants a grey one, which stands for what has none."""

OTHER, USER, LIBRARY, NATIVE = range(len(CATEGORIES))
