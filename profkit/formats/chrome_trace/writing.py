"""Writing of Chrome traces: an X event per call, over the consecutive samples that contain it.

A thread's samples follow each other from time 0: their times are unknown, only their durations are known.
Times are whole microseconds, so that calls that end together also do so for readers that add start and
duration as floats.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator, Sequence
from io import BytesIO
from typing import NamedTuple

from profkit.errors import UsageError
from profkit.formats import exact
from profkit.formats.exact import escape_text
from profkit.model.profile import Frame, Profile, Sample, Thread
from profkit.transforms.origin import is_library_file, is_native_file
from profkit.transforms.trees import common_length
from profkit.units import Unit

EXPORTER = "profkit"
MAX_CALLS = 2_500_000
"""About half a gigabyte, the longest string in Chromium, which limits its viewers."""

Stack = tuple[int, ...]
_Track = tuple[int, int]


class _Parts(NamedTuple):
    functions: Sequence[Stack]
    """Its stacks with a number per function instead of per frame: frames change from line to line."""
    stacks: Sequence[Stack]
    calls: Sequence[bytes]
    """The beginning of the event for a call, by frame."""
    time_ns: float


def encode(profile: Profile) -> bytes:
    """Write the file, one event per line.

    Raises UsageError for a profile with unknown order or times, or with too many calls.
    """
    parts = _parts(profile, _sample_time_ns(profile))
    threads = exact.samples_by_thread(profile)
    _check_size(sum(_count_calls(samples, parts.functions) for samples in threads))
    out = BytesIO()
    out.write(b'{"displayTimeUnit": "ms", "otherData": {"exporter": "%b"},\n' % EXPORTER.encode())
    out.write(b'"traceEvents": [\n')
    tracks = _tracks(profile.threads)
    out.write(b",\n".join(_names(profile.threads, tracks)))
    for track, samples in zip(tracks, threads, strict=True):
        out.writelines(_events(samples, track, parts))
    out.write(b"\n]}\n")
    return out.getvalue()


def _sample_time_ns(profile: Profile) -> float:
    if not profile.ordered:
        raise UsageError(
            "a Chrome trace shows samples in the order they were taken, which this profile lacks",
            "export it as speedscope, pprof or collapsed stacks",
        )
    if profile.unit is Unit.NANOSECONDS:
        return 1.0
    if profile.unit is Unit.SAMPLES and profile.period_ns > 0:
        return profile.period_ns
    raise UsageError(
        f"a Chrome trace shows time, and this profile counts {profile.unit.value} of unknown duration",
        "export it as speedscope, pprof or collapsed stacks",
    )


def _parts(profile: Profile, time_ns: float) -> _Parts:
    functions: dict[tuple[str, str], int] = {}
    numbers = [functions.setdefault((frame.name, frame.file), len(functions)) for frame in profile.frames]
    return _Parts(
        functions=[tuple(map(numbers.__getitem__, stack)) for stack in profile.stacks],
        stacks=profile.stacks,
        calls=list(map(_call, profile.frames)),
        time_ns=time_ns,
    )


def _call(frame: Frame) -> bytes:
    """Return the beginning of an event; its category is user code, library or machine code.

    A call that continues from line to line is one event, with the line of its first sample.
    """
    kind = "native" if is_native_file(frame.file) else "library" if is_library_file(frame.file) else "user"
    place: dict[str, object] = {"file": escape_text(frame.file)} if frame.file else {}
    if frame.line:
        place["line"] = frame.line
    event = {"ph": "X", "name": escape_text(frame.name), "cat": kind} | ({"args": place} if place else {})
    return json.dumps(event).encode()[:-1]


def _count_calls(samples: Sequence[Sample], functions: Sequence[Stack]) -> int:
    count, before = 0, Stack()
    for sample in samples:
        stack = functions[sample.stack]
        count += len(stack) - common_length(before, stack)
        before = stack
    return count


def _check_size(calls: int) -> None:
    if calls > MAX_CALLS:
        raise UsageError(
            f"a Chrome trace of this profile has {calls:,} calls, and viewers support at most {MAX_CALLS:,}",
            "export one of its regions, or all of it as speedscope or firefox",
        )


def _tracks(threads: Sequence[Thread]) -> list[_Track]:
    """Return process and thread id of each thread; an id in use becomes the next free one."""
    tracks: dict[_Track, None] = {}
    for thread in threads:
        tid = thread.tid
        while (thread.pid, tid) in tracks:
            tid += 1
        tracks[thread.pid, tid] = None
    return list(tracks)


def _names(threads: Sequence[Thread], tracks: Sequence[_Track]) -> Iterator[bytes]:
    for place, (thread, (pid, tid)) in enumerate(zip(threads, tracks, strict=True)):
        shared = {"ph": "M", "pid": pid, "tid": tid}
        name, order = {"name": escape_text(thread.name)}, {"sort_index": place}
        yield json.dumps({"name": "thread_name", **shared, "args": name}).encode()
        yield json.dumps({"name": "thread_sort_index", **shared, "args": order}).encode()


class _Calls(NamedTuple):
    """The calls of a thread by their start, callers first: in columns, since there may be millions."""

    frames: array[int]
    starts_us: array[int]
    ends_us: array[int]


def _events(samples: Sequence[Sample], track: _Track, parts: _Parts) -> Iterator[bytes]:
    end = b', "pid": %d, "tid": %d}' % track
    for frame, start_us, end_us in zip(*_calls(samples, parts), strict=True):
        if end_us > start_us:
            times = b', "ts": %d, "dur": %d' % (start_us, end_us - start_us)
            yield b",\n" + parts.calls[frame] + times + end


def _calls(samples: Sequence[Sample], parts: _Parts) -> _Calls:
    """Return the calls of samples: a frame stays on the stack as long as the next sample has it too."""
    calls = _Calls(array("q"), array("q"), array("q"))
    opened: list[int] = []
    functions, weight, now_us = Stack(), 0, 0
    for sample in samples:
        stack = parts.functions[sample.stack]
        common = common_length(functions, stack)
        for call in opened[common:]:
            calls.ends_us[call] = now_us
        del opened[common:]
        for frame in parts.stacks[sample.stack][common:]:
            opened.append(len(calls.frames))
            calls.frames.append(frame)
            calls.starts_us.append(now_us)
            calls.ends_us.append(now_us)
        functions, weight = stack, weight + sample.weight
        now_us = round(weight * parts.time_ns / 1000)
    for call in opened:
        calls.ends_us[call] = now_us
    return calls
