"""Sums of the lasting events of a Chrome trace by name, for traces that speedscope cannot read."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.formats.costs import Costs
from benchmarks.formats.sums import document_in
from profkit.model.profile import Profile

_PLACE = re.compile(r".+\.py\(\d+\): (.+)", re.DOTALL)
"""File and line, which torch.profiler writes before the name of a Python function."""

Event = Mapping[str, Any]


def read_spans(file: Path, profile: Profile) -> Costs | None:
    """Return self and total time in nanoseconds; None for other events than X, or if they do not nest."""
    document = document_in(file)
    events = document.get("traceEvents", ()) if isinstance(document, dict) else document or ()
    lasting = [event for event in events if event.get("ph") in ("B", "E", "X")]
    lasting = [event for event in lasting if event.get("cat") != "Trace"]
    if not lasting or any(event["ph"] != "X" or isinstance(event["ts"], str) for event in lasting):
        return None
    tracks: defaultdict[tuple[str, str], list[Event]] = defaultdict(list)
    for event in lasting:
        tracks[str(event.get("pid")), str(event.get("tid"))].append(event)
    own: defaultdict[str, float] = defaultdict(float)
    total: defaultdict[str, float] = defaultdict(float)
    if not all(_add(track, own, total) for track in tracks.values()):
        return None
    functions = {name: (own[name] * 1000, total[name] * 1000) for name in total}
    return Costs("sums of events", sum(own.values()) * 1000, functions, tolerance=1e-6, least=len(lasting))


def _add(events: Iterable[Event], own: dict[str, float], total: dict[str, float]) -> bool:
    """Add the times of one thread; return whether all events nest."""
    opened: list[tuple[float, str]] = []
    for event in sorted(events, key=lambda event: (event["ts"], -event.get("dur", 0))):
        start, time_us, name = event["ts"], event.get("dur", 0), _name(event)
        while opened and opened[-1][0] <= start + _LEAST_US:
            opened.pop()
        if opened and start + time_us > opened[-1][0] + _LEAST_US:
            return False
        if opened:
            own[opened[-1][1]] -= time_us
        own[name] += time_us
        if name not in [other for _, other in opened]:
            total[name] += time_us
        opened.append((start + time_us, name))
    return True


_LEAST_US = 1e-3
"""Rounding error of times that are floats."""


def _name(event: Event) -> str:
    match = _PLACE.fullmatch(event["name"])
    return match[1] if match else str(event["name"])
