"""The speedscope file that py-spy writes, read as a profile.

The format: https://www.speedscope.app/file-format-schema.json. Of it py-spy uses one `sampled`
profile per (process, thread), named `Thread TID "name"` or `Process PID Thread TID "name"`, with the
frames of each sample root first and one constant weight, the sampling interval (py-spy 0.4,
src/speedscope.rs). Threads that follow each other under one pthread address share a profile there,
and so the name of the first.
"""

from __future__ import annotations

import json
import math
import re
from itertools import groupby
from pathlib import Path
from typing import TypeVar

from profkit.errors import DamagedFile
from profkit.model.frame import Frame, Thread
from profkit.model.profile import Profile, ProfileBuilder

_NAME = re.compile(r'(?:Process (\d+) )?Thread (0x[0-9a-fA-F]+|\d+) "(.*)"', re.DOTALL)
_NANOSECONDS = {"seconds": 1e9, "milliseconds": 1e6, "microseconds": 1e3, "nanoseconds": 1.0}

_T = TypeVar("_T")


def read_speedscope(source: Path | str, pid: int = 0) -> Profile:
    """The profile in a file (`Path`) or in its text (`str`): a sample's weight counts sampling rounds.

    `pid` is the process of threads whose name does not tell one, as it is without `--subprocesses`.
    Raises DamagedFile, naming the first part that is missing or of a wrong type.
    """
    try:
        document: object = json.loads(source if isinstance(source, str) else source.read_bytes())
        return _profile(document, pid)
    except (OSError, ValueError, RecursionError) as error:
        path = source if isinstance(source, Path) else Path("speedscope text")
        raise DamagedFile(path, str(error)) from error


def parse_thread_name(name: str, pid: int = 0) -> Thread:
    """The thread that py-spy's name of a profile tells; `tid` 0 where the name has another form.

    A hexadecimal id is the pthread address, which py-spy gives where it cannot find the system's id.
    """
    match = _NAME.fullmatch(name)
    if match is None:
        return Thread(pid, 0, name)
    process, tid, label = match.groups()
    return Thread(int(process) if process else pid, int(tid, 0), label)


def _profile(document: object, pid: int) -> Profile:
    builder = ProfileBuilder()
    # py-spy lists some frames twice, so its numbers are not the builder's.
    listed = _member(_member(document, "the file", "shared", dict), "shared", "frames", list)
    frames = {n: builder.frame(_frame(entry, f"shared.frames[{n}]")) for n, entry in enumerate(listed)}
    periods_ns: dict[float, str] = {}
    for number, recorded in enumerate(_member(document, "the file", "profiles", list)):
        where = f"profiles[{number}]"
        thread = builder.thread(parse_thread_name(_member(recorded, where, "name", str), pid))
        count = _add_samples(builder, frames, thread, _member(recorded, where, "samples", list), where)
        if period_ns := _period_ns(recorded, where, count):
            periods_ns.setdefault(period_ns, where)
    if len(periods_ns) > 1:
        raise ValueError(f"the weights of {' and '.join(periods_ns.values())} differ")
    return builder.build(period_ns=next(iter(periods_ns), 0.0))


def _frame(entry: object, where: str) -> Frame:
    name = _member(entry, where, "name", str)
    return Frame(name, _optional(entry, where, "file", ""), _optional(entry, where, "line", 0))


def _add_samples(
    builder: ProfileBuilder, frames: dict[int, int], thread: int, samples: list[object], where: str
) -> int:
    """Append a thread's samples, and return how many there are."""
    done = 0
    known: dict[tuple[int, ...], tuple[int, ...]] = {}
    for sample, repeated in groupby(samples):
        weight = sum(1 for _ in repeated)
        if not isinstance(sample, list):
            raise ValueError(f"{where}.samples[{done}] is no list of frames")
        try:
            listed = tuple(sample)
            stack = known.get(listed)
            if stack is None:
                stack = known[listed] = tuple(map(frames.__getitem__, listed))
        except (KeyError, TypeError) as error:
            raise ValueError(f"{where}.samples[{done}] has a frame that shared.frames lacks") from error
        builder.add_indexed(stack, thread, weight)
        done += weight
    return done


def _period_ns(recorded: object, where: str, count: int) -> float:
    """The time that one sample stands for, 0 for a profile without samples."""
    unit = _member(recorded, where, "unit", str)
    weights = _member(recorded, where, "weights", list)
    if unit not in _NANOSECONDS:
        raise ValueError(f"{where}.unit is {unit!r}, not one of {', '.join(_NANOSECONDS)}")
    if len(weights) != count:
        raise ValueError(f"{where} has {count} samples, but {len(weights)} weights")
    if not weights:
        return 0.0
    weight: object = weights[0]
    if not isinstance(weight, int | float) or not 0 < weight < math.inf or weights.count(weight) != count:
        raise ValueError(f"{where}.weights are not one positive number throughout")
    return weight * _NANOSECONDS[unit]


def _member(holder: object, where: str, key: str, kind: type[_T]) -> _T:
    if not isinstance(holder, dict):
        raise ValueError(f"{where} is no JSON object")
    if key not in holder:
        raise ValueError(f"{where} has no {key!r}")
    value: object = holder[key]
    if not isinstance(value, kind):
        raise ValueError(f"{where}.{key} is of type {type(value).__name__}, not {kind.__name__}")
    return value


def _optional(holder: object, where: str, key: str, default: _T) -> _T:
    """A member that may be null or missing, as py-spy writes lines that it was told to leave out."""
    if isinstance(holder, dict) and holder.get(key) is None:
        return default
    return _member(holder, where, key, type(default))
