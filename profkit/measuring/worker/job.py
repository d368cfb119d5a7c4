"""What a worker does: one job message in, one answer out."""

from __future__ import annotations

import contextlib
import gc
import importlib
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import cast

from .asked import Answer, Arm, Job
from .blocks import THIS_THREAD, WHOLE_PROCESS, Elapsed, Timed, Wanted, time_arms
from .counting import count_arm
from .measured import Measured, Namespace, calls, nothing, run_global_setup, statement
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
        with _no_collector():
            return dict(work(job, parcel_fd))
    except RuntimeError as error:
        mended = unwrapped(error)
        if mended is error:
            raise
        raise mended from None


def _canary(job: Job, parcel_fd: int | None) -> Answer:
    return {"ok": True, "versions": {name: _version(name) for name in job["imports"]}}


def _timed(job: Job, parcel_fd: int | None) -> Answer:
    with _own_main():
        arms = [_measured(arm, place, job, parcel_fd) for place, arm in enumerate(job["arms"])]
        alone = job["num_threads"] == 1 and not any(arm["library"] for arm in job["arms"])
        meter = THIS_THREAD if alone else WHOLE_PROCESS
        timed = [
            Timed(_elapsed(measured, arm, job), number, job["runs"])
            for measured, arm, number in zip(arms, job["arms"], job["number"], strict=True)
        ]
        return {"ok": True, "arms": time_arms(timed, Wanted.by(job), meter)}


def _counted(job: Job, parcel_fd: int | None) -> Answer:
    answers = []
    for place, arm in enumerate(job["arms"]):
        with _own_main():
            measured = _measured(arm, place, job, parcel_fd)
            baseline = nothing(vars(sys.modules["__main__"]), arm["level"])
            answers.append(count_arm(measured, baseline, job["number"][place], job))
    return {"ok": True, "arms": answers}


def _measured(arm: Arm, place: int, job: Job, parcel_fd: int | None) -> Measured:
    """The arm after its setup."""
    _set_torch_threads(job)
    measured = _set_up(arm, f" {place + 1}" if len(job["arms"]) > 1 else "", parcel_fd)
    _set_torch_threads(job)
    return measured


def _set_up(arm: Arm, nth: str, parcel_fd: int | None) -> Measured:
    if arm["parcel"]:
        from .unpack import unpack

        assert parcel_fd is not None
        return calls(*unpack(parcel_fd))
    namespace: Namespace = vars(sys.modules["__main__"])
    run_global_setup(arm["global_setup"], namespace, nth)
    return statement(arm["stmt"] or "", arm["setup"], namespace, arm["level"], nth)


def _elapsed(measured: Measured, arm: Arm, job: Job) -> Elapsed:
    """How to time a block: by torch where the process has it, by the plain clock elsewhere."""
    if "torch" in sys.modules:
        from .torch_blocks import elapsed_by_torch

        return elapsed_by_torch(measured, arm["stmt"] or "", arm["setup"], job["num_threads"])
    clock = WHOLE_PROCESS.clock

    def elapsed(number: int) -> float:
        before, after = measured.run(number, clock)
        return after - before

    return elapsed


def _set_torch_threads(job: Job) -> None:
    """Where torch is imported; a setup may just have done so."""
    if "torch" in sys.modules:
        from .torch_blocks import use_threads

        use_threads(job["num_threads"])


@contextlib.contextmanager
def _no_collector() -> Iterator[None]:
    """As in `timeit`: the collector is off, and a setup may switch it on again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@contextlib.contextmanager
def _own_main() -> Iterator[None]:
    """An empty `__main__` for the user's names, so that their classes can be pickled and looked up."""
    workers = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = workers


def _version(name: str) -> str:
    return str(getattr(importlib.import_module(name), "__version__", ""))
