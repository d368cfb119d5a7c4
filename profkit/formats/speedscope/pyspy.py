"""Reading of py-spy's speedscope files for its sampler: weights count sampling rounds."""

from __future__ import annotations

import math
from itertools import repeat
from pathlib import Path

from profkit.errors import DamagedFile
from profkit.formats.json_members import member, read_json_with_stacks
from profkit.formats.speedscope.reading import (
    NANOSECONDS,
    ListedStacks,
    add_samples,
    listed_frames,
    parse_thread_name,
)
from profkit.model.profile import Profile, ProfileBuilder, Thread

_MAIN = "MainThread"


def read_speedscope(source: Path | bytes, pid: int = 0) -> Profile:
    """Parse a file (`Path`) or its content (`bytes`); a sample's weight counts sampling rounds.

    `pid` is the process of threads whose names do not contain one, which is the case without
    `--subprocesses`. Raises DamagedFile, naming the first part that is missing or of a wrong type.
    """
    try:
        data = source if isinstance(source, bytes) else source.read_bytes()
        return _pyspy_profile(read_json_with_stacks(data), pid)
    except (OSError, ValueError) as error:
        path = source if isinstance(source, Path) else Path("speedscope data")
        raise DamagedFile(path, str(error)) from error


def _pyspy_profile(document: object, pid: int) -> Profile:
    builder = ProfileBuilder()
    profiles = member(document, "the file", "profiles", list)
    # py-spy lists some frames twice, so its numbers differ from the builder's.
    stacks = ListedStacks(dict(enumerate(builder.frame_numbers(listed_frames(document)))))
    periods_ns: dict[float, str] = {}
    for place, recorded in enumerate(profiles):
        where = f"profiles[{place}]"
        thread = builder.thread(_named(parse_thread_name(member(recorded, where, "name", str), pid)))
        samples = member(recorded, where, "samples", list)
        add_samples(builder, stacks, thread, samples, repeat(1), where)
        if period_ns := _pyspy_period_ns(recorded, where, len(samples)):
            periods_ns.setdefault(period_ns, where)
    if len(periods_ns) > 1:
        raise ValueError(f"the weights of {' and '.join(periods_ns.values())} differ")
    return builder.build(period_ns=next(iter(periods_ns), 0.0))


def _named(thread: Thread) -> Thread:
    """Return a thread with its name: py-spy finds none while `threading` is not yet imported."""
    return thread._replace(name=_MAIN) if thread.tid == thread.pid and not thread.name else thread


def _pyspy_period_ns(recorded: object, where: str, count: int) -> float:
    unit = member(recorded, where, "unit", str)
    weights = member(recorded, where, "weights", list)
    if unit not in NANOSECONDS:
        raise ValueError(f"{where}.unit is {unit!r}, not one of {', '.join(NANOSECONDS)}")
    if len(weights) != count:
        raise ValueError(f"{where} has {count} samples, but {len(weights)} weights")
    if not weights:
        return 0.0
    weight: object = weights[0]
    if not isinstance(weight, int | float) or not 0 < weight < math.inf or weights.count(weight) != count:
        raise ValueError(f"{where}.weights are not all the same positive number")
    return weight * NANOSECONDS[unit]
