"""The sampler attached to this process: its process, and its CPU time."""

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
    """Return the user and system time of the sampler so far; the kernel counts in hundredths of a second."""
    times = psutil.Process(_attachment().segment().pid).cpu_times()
    return float(times.user + times.system)


def check_attached() -> None:
    """Raise RuntimeError if no sampler is attached: measured overhead would be too low."""
    _attachment()


def finished_run(function: ProfiledFunction[..., object]) -> Run:
    """Return the newest run of a decorated function, and end the session."""
    run = function.last_run
    detach()
    if run is None or run.info.error is not None:
        raise RuntimeError(f"nothing was sampled: {run.info.error if run else 'no session'}")
    return run


def _attachment() -> Attachment:
    session = MANAGER.session
    if session is None or session.attachment is None or session.attachment.segment().pid is None:
        raise RuntimeError("no sampler is attached from outside")
    return session.attachment
