"""Spool folders made by hand: one region `f`, a second a segment, 100 sampling rounds in each."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import cast

from profkit.errors import DamagedFile
from profkit.model.histogram import histogram_of
from profkit.model.profile import Frame, ProfileBuilder, Thread
from profkit.model.region import Region, RegionKey, RegionKind
from profkit.model.session import (
    CallDelta,
    Manifest,
    ProcessInfo,
    SamplerPlan,
    Segment,
    SessionState,
    segment_stem,
)
from profkit.samplers.base import Recording, Sampler, SegmentFiles, output_name
from profkit.samplers.helper.journal import ASKED, Journal
from profkit.store import spool as files
from profkit.transforms.origin import OWN_CODE

START_NS = 1_763_725_743_000_000_000
SECOND_NS = 10**9
USER = "/home/ann/app.py"
MARKERS = f"{OWN_CODE.packages[0]}/calls/importlib_bootstrap/markers.py"

F = Region(RegionKey("app", "f", 3, "f"), RegionKind.FUNCTION, USER, expected=("f", USER))
G = Region(RegionKey("app", "g", 9, "g"), RegionKind.FUNCTION, USER, expected=("g", USER))

GONE = ProcessInfo(
    pid=2**22 + 1,  # beyond the kernel's largest pid
    start_ticks=1,
    host=os.uname().nodename,
    cwd="/home/ann",
    argv=("python", "app.py"),
    python="3.11.7",
    torch=None,
    profkit="0.1.0",
    git_commit=None,
)
PLAN = SamplerPlan(
    sampler="recorded",
    rate_hz=125.0,
    blocking=False,
    idle=True,
    native=False,
    subprocesses=False,
    scope="call",
    max_duration_s=600.0,
)


def segment(index: int, **changes: object) -> Segment:
    """A segment of one second; the next begins half a second after its end."""
    start_ns = START_NS + index * 3 * SECOND_NS // 2
    made = Segment(index, start_ns - 10**7, start_ns, start_ns + SECOND_NS)
    return replace(made, **changes)  # type: ignore[arg-type]


def manifest(*segments: Segment, **changes: object) -> Manifest:
    """A finished session."""
    made = Manifest(
        session="20261121T114903-4194305-9c1f",
        state=SessionState.SUCCESS,
        created_ns=START_NS - SECOND_NS,
        process=GONE,
        plan=PLAN,
        sampler_version="1.2",
        segments=segments,
        ended_ns=START_NS + 9 * SECOND_NS,
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def calls(region: Region, *durations_ns: int, **changes: object) -> CallDelta:
    """What a tick noted."""
    made = CallDelta(region.id, START_NS + SECOND_NS, histogram_of(durations_ns), first_call_ns=START_NS + 5)
    return replace(made, **changes)  # type: ignore[arg-type]


def session_folder(
    spool: Path,
    head: Manifest,
    regions: tuple[Region, ...] = (F,),
    deltas: tuple[CallDelta, ...] = (),
) -> Path:
    """The folder of a session in the spool."""
    folder = files.create_folder(spool, head.session)
    files.write_manifest(folder, head)
    files.append(folder, regions)
    files.append(folder, deltas)
    return folder


def recording(*stacks: tuple[str, int], rounds: int | None = 100, **more: object) -> Recording:
    """A recording of `("main !f f work", weight)` stacks; `!f` and `!g` are the regions' markers."""
    builder = ProfileBuilder()
    for text, weight in stacks:
        builder.add(tuple(map(_frame, text.split())), Thread(GONE.pid, GONE.pid, "MainThread"), weight)
    return Recording(builder.build(period_ns=8e6), rounds, **more)  # type: ignore[arg-type]


def _frame(name: str) -> Frame:
    markers = {"!f": F.marker, "!g": G.marker}
    return Frame(markers[name], MARKERS, 40) if name in markers else Frame(name, USER, 4)


class RecordedSampler:
    """Gives the recordings that a test made, by the segments' indexes; a missing one is a missing file."""

    name = "recorded"

    def __init__(self, recordings: Mapping[int, Recording | DamagedFile | None]) -> None:
        self.recordings = recordings

    def __call__(self, name: str) -> Sampler:
        """Stand in for the registry."""
        assert name == "recorded"
        return cast(Sampler, self)

    def read(self, files: SegmentFiles, segment: Segment, plan: SamplerPlan) -> Recording | None:
        path = files.path / f"{segment_stem(segment.index)}.json"
        found = self.recordings.get(segment.index, DamagedFile(path, "it is missing"))
        if isinstance(found, DamagedFile):
            raise found
        return found


def write_speedscope(folder: Path, index: int, weight: int) -> None:
    """A file as py-spy writes it: `weight` samples of `main !f f work`."""
    frames = [
        {"name": "main", "file": USER, "line": 1},
        {"name": F.marker, "file": MARKERS, "line": 40},
        {"name": "f", "file": USER, "line": 4},
        {"name": "work", "file": USER, "line": 4},
    ]
    sampled = {
        "type": "sampled",
        "name": f'Thread {GONE.pid} "MainThread"',
        "unit": "seconds",
        "startValue": 0.0,
        "endValue": 0.008 * weight,
        "samples": [[0, 1, 2, 3]] * weight,
        "weights": [0.008] * weight,
    }
    document = {"shared": {"frames": frames}, "profiles": [sampled]}
    path = folder / f"{segment_stem(index)}.speedscope.json"
    path.write_text(json.dumps(document))


def write_journal(folder: Path, index: int, weight: int) -> Path:
    """A file as the `cpython` sampler writes it, in two parts: `weight` samples of `main !f f work`."""
    path = folder / output_name(index, "cpython")
    journal = Journal(str(path), GONE.pid, 0.008, lambda pid, tid: "MainThread")
    stack = journal.stack([("work", USER, 4), ("f", USER, 4), (F.marker, MARKERS, 40), ("main", USER, 1)])
    for number in range(weight):
        journal.add(GONE.pid, GONE.pid, stack)
        if number == weight // 2:
            journal.write(number + 1, 0, 0)
    journal.write(weight, 0, 0, ASKED)
    return path
