"""Finished sessions of generated jobs in spools: `python -m benchmarks.made_sessions SPOOL RANKS SAMPLES`.

They are as py-spy and profkit leave them. Each rank has stacks of its own; eight ranks share a host.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from itertools import chain
from pathlib import Path

from benchmarks.made_profiles import made_profile
from profkit.model.session import Manifest, Member, segment_stem
from tests.support.example_sessions import (
    GONE,
    MARKERS,
    PLAN,
    SECOND_NS,
    START_NS,
    USER,
    F,
    calls,
    manifest,
    segment,
    session_folder,
)

RANKS_OF_HOST = 8
_STACKS_PART, _DEPTH = 10, 40
_PERIOD_S = 0.01


def make_job(spool: Path, ranks: int, samples: int, job: str = "made") -> None:
    """Write the sessions of a job: one for each rank, with this number of samples."""
    for rank in range(ranks):
        head = _manifest(rank, ranks, samples, job)
        folder = session_folder(spool, head, deltas=(calls(F, SECOND_NS),))
        name = f"{segment_stem(0)}.speedscope.json"
        (folder / name).write_text(_speedscope(head.process.pid, samples, rank), "utf-8")


def _manifest(rank: int, ranks: int, samples: int, job: str) -> Manifest:
    member = Member(job, rank, rank % RANKS_OF_HOST, ranks)
    process = replace(GONE, pid=GONE.pid + rank, host=f"host-{rank // RANKS_OF_HOST}", member=member)
    stopped_ns = START_NS + int(samples / 4 * _PERIOD_S * SECOND_NS)
    return manifest(
        segment(0, stopped_ns=stopped_ns), session=f"20261121T114903-{process.pid}-{job}-{rank}",
        process=process, plan=replace(PLAN, sampler="pyspy", rate_hz=1 / _PERIOD_S), ended_ns=stopped_ns,
    )  # fmt: skip


def _speedscope(pid: int, samples: int, seed: int) -> str:
    """Return a recording of four threads, below the region's marker."""
    profile = made_profile(samples, max(1, samples // _STACKS_PART), _DEPTH, seed)
    above = [("main", USER, 1), (F.marker, MARKERS, 40), ("f", USER, 4)]
    used = {frame: len(above) + n for n, frame in enumerate(sorted(set(chain(*profile.stacks))))}
    frames = [*above, *((one.name, one.file, one.line) for one in map(profile.frames.__getitem__, used))]
    stacks = [[0, 1, 2, *(used[frame] for frame in stack)] for stack in profile.stacks]
    listed: list[list[list[int]]] = [[] for _ in profile.threads]
    for sample in profile.samples:
        listed[sample.thread].append(stacks[sample.stack])
    profiles = [
        {
            "type": "sampled", "name": f'Thread {pid + number} "{thread.name}"', "unit": "seconds",
            "startValue": 0.0, "endValue": _PERIOD_S * len(own), "samples": own,
            "weights": [_PERIOD_S] * len(own),
        }
        for number, (thread, own) in enumerate(zip(profile.threads, listed, strict=True))
    ]  # fmt: skip
    shared = {"frames": [{"name": name, "file": file, "line": line} for name, file, line in frames]}
    return json.dumps({"shared": shared, "profiles": profiles}, separators=(",", ":"))


if __name__ == "__main__":
    make_job(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
