"""Runs of one handler in several worker processes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from profkit.model.histogram import histogram_of
from profkit.model.profile import Frame, ProfileBuilder, Thread, ThreadState
from profkit.model.region import RegionKey
from profkit.model.run import Run
from profkit.model.session import ResourcePoint
from tests.support.example_runs import CWD, INFO, PROCESS, REGION, STARTED_NS
from tests.support.profile_strategies import frame_of

FILE = f"{CWD}/web.py"
HANDLER = replace(
    REGION, key=RegionKey("web", "handler", 10, "handler"), file=FILE, expected=("handler", FILE)
)
READ, RENDER = Frame("read", FILE, 20), Frame("render", FILE, 30)
JSON = Frame("JSONEncoder.encode", "/usr/lib/python3.11/json/encoder.py", 200)
MS = 1_000_000


def worker_run(
    number: int,
    functions: Mapping[Frame, int],
    *,
    pid: int = 0,
    host: str = "web-1",
    period_ns: float = 50.0 * MS,
    **changes: object,
) -> Run:
    """A run of worker `number`, which started so many minutes after the first; samples by function."""
    process = replace(PROCESS, pid=pid or 100 + number, start_ticks=1000 + number, host=host)
    builder, thread = ProfileBuilder(), Thread(process.pid, process.pid, "MainThread")
    for frame, weight in functions.items():
        stack = (Frame("handler", FILE, 12), frame)
        builder.add(
            (*stack, JSON) if frame is RENDER else stack,
            thread,
            weight,
        )
    started_ns = STARTED_NS + number * 60 * 1000 * MS
    info = replace(
        INFO,
        id=f"{number:010x}",
        session=f"20251121T1149{number:02d}-{process.pid}-9c1f",
        region=HANDLER,
        started_ns=started_ns,
        process=process,
        durations=histogram_of([2 * MS] * 10),
        samples=sum(functions.values()),
        torn=1,
        achieved_hz=1e9 / period_ns,
        session_s=10.0,
    )
    points = (
        ResourcePoint(started_ns, 1.0, (100 + number) * 2**20, 3),
        ResourcePoint(started_ns + 10_000 * MS, 6.0, (200 + number) * 2**20, 4),
    )
    return Run(replace(info, **changes), builder.build(period_ns=period_ns), points)  # type: ignore[arg-type]


def waiting_rank(number: int, works: int, call: str = "all_reduce@ranks:4") -> Run:
    """A rank of which so many of 100 samples work, and which otherwise waits in this call."""
    run, builder = worker_run(number, {}), ProfileBuilder()
    thread, handler = Thread(run.info.process.pid, run.info.process.pid, "MainThread"), frame_of("handler:12")
    builder.add((handler, frame_of("step:8")), thread, works, state=ThreadState.WORKING)
    builder.add((handler, frame_of(call)), thread, 100 - works, state=ThreadState.WAITING)
    return replace(run, info=replace(run.info, samples=100), profile=builder.build(period_ns=1e7))
