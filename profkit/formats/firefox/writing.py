"""A profile as the Firefox Profiler's JSON: tables that all threads share, and the samples of each."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from itertools import accumulate

from profkit.formats import exact
from profkit.formats.firefox.schema import CATEGORIES, NS_PER_MS, VERSION, WEIGHT_TYPES
from profkit.formats.firefox.tables import shared_tables, stack_tree
from profkit.formats.pprof.spelling import spell
from profkit.model.profile import Profile, Sample, Thread
from profkit.units import Unit

_GECKO_VERSION = 30
"""Of the browser's own format, which this is not: the field has to be there."""


def encode(profile: Profile) -> bytes:
    """The file, one line for `meta`, for each shared table and for each thread."""
    tree = stack_tree(profile)
    out = BytesIO()
    out.write(b'{"meta": %b,\n"libs": [],\n"shared": {' % _json(_meta(profile)))
    shared = shared_tables(profile.frames, tree)
    out.write(b",".join(b"\n%b: %b" % (_json(name), _json(table)) for name, table in shared.items()))
    out.write(b'},\n"threads": [')
    mains = _main_threads(profile.threads)
    for number, samples in enumerate(exact.samples_by_thread(profile)):
        out.write(b",\n" if number else b"\n")
        thread = _thread(profile.threads[number], is_main=number in mains)
        out.write(_json({**thread, "samples": _samples(samples, profile, tree.leaves)}))
    out.write(b"]}\n")
    return out.getvalue()


def _meta(profile: Profile) -> Mapping[str, object]:
    used = sorted({sample.thread for sample in profile.samples})
    return {
        "interval": _interval_ms(profile),
        "startTime": 0,
        "processType": 0,
        "product": "profkit",
        "importedFrom": "profkit",
        "stackwalk": 0,
        "version": _GECKO_VERSION,
        "preprocessedProfileVersion": VERSION,
        "categories": [
            {"name": name, "color": color, "subcategories": ["Other"]} for name, color in CATEGORIES
        ],
        "markerSchema": [],
        "sampleUnits": {"time": "ms", "eventDelay": "ms", "threadCPUDelta": "ns"},
        "symbolicated": True,
        "symbolicationNotSupported": True,
        "usesOnlyOneStackType": True,
        "sourceCodeIsNotOnSearchfox": True,
        "keepProfileThreadOrder": True,
        "initialVisibleThreads": used,
        "initialSelectedThreads": used[:1],
        exact.MEMBER: exact.describe(profile),
    }


def _interval_ms(profile: Profile) -> float:
    """The time of a sample; 1, which means nothing, where there is none: the format wants one above 0."""
    is_known = profile.unit is Unit.SAMPLES and profile.period_ns > 0
    return profile.period_ns / NS_PER_MS if is_known else 1.0


def _main_threads(threads: Sequence[Thread]) -> set[int]:
    """One for each process: the viewer shows its others below it."""
    mains: dict[int, int] = {}
    for number, thread in enumerate(threads):
        if thread.pid not in mains or (thread.tid == thread.pid != threads[mains[thread.pid]].tid):
            mains[thread.pid] = number
    return set(mains.values())


def _thread(thread: Thread, is_main: bool) -> Mapping[str, object]:
    columns = ("data", "name", "startTime", "endTime", "phase", "category")
    return {
        "name": spell(thread.name),
        "pid": str(thread.pid),
        "tid": thread.tid,
        "isMainThread": is_main,
        "processName": f"Process {thread.pid}",
        "processType": "default",
        "processStartupTime": 0,
        "processShutdownTime": None,
        "registerTime": 0,
        "unregisterTime": None,
        "pausedRanges": [],
        "markers": {"length": 0, **{column: [] for column in columns}},
    }


def _samples(
    samples: Sequence[Sample], profile: Profile, leaves: Sequence[int | None]
) -> Mapping[str, object]:
    weights: list[float] = [sample.weight for sample in samples]
    if profile.unit is Unit.NANOSECONDS:
        weights = [weight / NS_PER_MS for weight in weights]
    return {
        "length": len(samples),
        "stack": [leaves[sample.stack] for sample in samples],
        "time": list(_times_ms(samples, profile)),
        "weight": weights,
        "weightType": WEIGHT_TYPES[profile.unit],
    }


def _times_ms(samples: Sequence[Sample], profile: Profile) -> Iterator[float]:
    """When each sample begins, one after the other from 0; their numbers where they are no times."""
    if profile.unit is Unit.NANOSECONDS:
        one_ms = 1 / NS_PER_MS
    elif profile.unit is Unit.SAMPLES:
        one_ms = _interval_ms(profile)
    else:
        return iter(range(len(samples)))
    done = accumulate((sample.weight for sample in samples[:-1]), initial=0)
    return (round(weight * one_ms, 6) for _, weight in zip(samples, done, strict=False))


def _json(value: object) -> bytes:
    return json.dumps(value).encode()
