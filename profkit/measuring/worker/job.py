"""What a worker does: one job message in, one answer out."""

from __future__ import annotations

import contextlib
import gc
import importlib
from collections.abc import Iterator
from typing import cast

from .arms import timed_by, with_arms, with_baseline
from .asked import Answer, Counts, Job
from .blocks import THIS_THREAD, WHOLE_PROCESS, Timed, Wanted, time_arms
from .counting import count_arm
from .measured import Measured
from .messages import Message
from .traces import trace_of, unwrapped

__all__ = ["perform", "trace_of"]


def perform(message: Message, parcel_fd: int | None = None) -> Message:
    """Do a job (`asked.Job`) in this process, and answer (`asked.Answer`).

    Raises what the user's code raises. `parcel_fd` holds the callable of arms that have no text.
    """
    job = cast(Job, message)
    work = {"canary": _canary, "timer": _timed, "callgrind": _counted}[job["mode"]]
    try:
        with no_collector():
            return dict(work(job, parcel_fd))
    except RuntimeError as error:
        mended = unwrapped(error)
        if mended is error:
            raise
        raise mended from None


def _canary(job: Job, parcel_fd: int | None) -> Answer:
    return {"ok": True, "versions": {name: _version(name) for name in job["imports"]}}


def _timed(job: Job, parcel_fd: int | None) -> Answer:
    def times(measured: list[Measured]) -> Answer:
        arms = [
            Timed(timed_by(one, arm, job["num_threads"]), one.do, number, job["runs"])
            for one, arm, number in zip(measured, job["arms"], job["number"], strict=True)
        ]
        meter = THIS_THREAD if job["num_threads"] == 1 else WHOLE_PROCESS
        return {"ok": True, "arms": time_arms(arms, Wanted.by(job), meter)}

    return with_arms(job, parcel_fd, times)


def _counted(job: Job, parcel_fd: int | None) -> Answer:
    def counts(place: int, number: int | None) -> Counts:
        return with_baseline(
            job, place, parcel_fd, lambda measured, baseline: count_arm(measured, baseline, number, job)
        )

    return {"ok": True, "arms": [counts(place, number) for place, number in enumerate(job["number"])]}


@contextlib.contextmanager
def no_collector() -> Iterator[None]:
    """As in `timeit`: the collector is off, and a setup may switch it on again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _version(name: str) -> str:
    return str(getattr(importlib.import_module(name), "__version__", ""))
