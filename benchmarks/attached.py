"""The sampler that this process has at the moment: its process, and the time that it takes itself."""

from __future__ import annotations

import psutil

from profkit import Run
from profkit.decorators import ProfiledFunction
from profkit.samplers.base import Attachment
from profkit.session.manager import MANAGER


def detach() -> None:
    """End the session: nothing samples this process until the next profiled call."""
    MANAGER.end_session()


def sampler_cpu_s() -> float:
    """User and system time of the sampler's process so far, which the kernel counts in hundredths."""
    times = psutil.Process(_attachment().segment().pid).cpu_times()
    return float(times.user + times.system)


def check_attached() -> None:
    """Raise RuntimeError where nothing samples this process: what is measured would be too good."""
    _attachment()


def finished_run(function: ProfiledFunction[..., object]) -> Run:
    """The newest run of a decorated function; the session ends with it."""
    run = function.last_run
    detach()
    if run is None or run.info.error is not None:
        raise RuntimeError(f"nothing was sampled: {run.info.error if run else 'no session'}")
    return run


def _attachment() -> Attachment:
    session = MANAGER.session
    if session is None or session.attachment is None:
        raise RuntimeError("no sampler is attached")
    return session.attachment
