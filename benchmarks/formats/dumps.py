"""Sums of the own costs in a file of Callgrind's format, for files that callgrind_annotate cannot read."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

from benchmarks.formats.costs import Costs
from profkit.model.profile import Profile
from profkit.units import Unit

_MILLISECONDS = re.compile(r".*\(ms\)")
_NAMED = re.compile(r"(\(\d+\))(?: (.*))?")


def read_dump(file: Path, profile: Profile) -> Costs | None:
    """Return the own costs of functions by name, of the first event; None for an event in another unit."""
    own: defaultdict[str, float] = defaultdict(float)
    names: dict[str, str] = {}
    positions, event, function, skipped = 1, "", "", False
    for line in file.read_text("utf-8", "surrogateescape").splitlines():
        key, _, value = line.partition("=")
        if line.startswith("positions:"):
            positions = len(line.split()) - 1
        elif line.startswith("events:"):
            event = line.split()[1]
        elif key in ("fn", "cfn"):
            if (match := _NAMED.fullmatch(value)) is not None:
                value = names.setdefault(match[1], match[2] or "")
            function = value if key == "fn" else function
        elif key == "calls":
            skipped = True
        elif line[:1] and line[0] in "+-*0123456789":
            costs = line.split()[positions:]  # costs of 0 may be missing at the end
            own[function] += float(costs[0]) if costs and not skipped else 0
            skipped = False
    if profile.unit is Unit.NANOSECONDS and not _MILLISECONDS.fullmatch(event):
        return None
    factor = 1e6 if profile.unit is Unit.NANOSECONDS else 1.0
    functions = {name: (cost * factor, None) for name, cost in own.items()}
    return Costs("sums of lines", sum(own.values()) * factor, functions)
