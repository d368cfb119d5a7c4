"""What a worker does: one job message in, one answer out."""

from __future__ import annotations

import contextlib
import gc
import importlib
from collections.abc import Iterator
from typing import cast

from .arms import with_arms, with_baseline
from .asked import Answer, Counts, Job, StartOver
from .counting import count_arm
from .messages import Message
from .timing import times_of
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
    return {"ok": True, "arms": with_arms(job, parcel_fd, lambda measured: times_of(measured, job))}


def _counted(job: Job, parcel_fd: int | None) -> Answer:
    def counts(place: int) -> Counts | StartOver:
        return with_baseline(
            job, place, parcel_fd, lambda measured, baseline: count_arm(measured, baseline, place, job)
        )

    return {"ok": True, "arms": [counts(place) for place in range(len(job["arms"]))]}


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
