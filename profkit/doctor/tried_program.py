"""Program that a sampler is tried on: it profiles a function of its own, as a user's program does.

`trials` starts it in a process of its own. It writes an error to a file, and the run to its spool.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import cast

from profkit.calls.keywords import ProfilerOptions
from profkit.clock import SYSTEM_CLOCK
from profkit.decorators import profile
from profkit.doctor.system import without_fix
from profkit.errors import AttachDenied, ProfkitError, SamplerTimeout
from profkit.samplers.ptrace import DenialCause, diagnose

LABEL = "profkit doctor"
"""Label of the sampled function."""
WORK_S, LONGEST_S = 0.1, 1.0
"""Processor time of the sampled call, and its longest duration: on a busy machine it has to wait."""


def run(options: dict[str, object], folder: Path) -> None:
    """Sample a function with these options; write the error, if any, to `error.json` in the folder."""
    given = cast("ProfilerOptions", {**options, "label": LABEL, "stop_at_error": True})
    try:
        profile(**given)(_work)()
    except ProfkitError as error:
        document = json.dumps(_described(error, folder / "denial.log"))
        (folder / "error.json").write_text(document, "utf-8")


def _work() -> None:
    end_s, enough_s = SYSTEM_CLOCK.monotonic_s() + LONGEST_S, time.process_time() + WORK_S
    while time.process_time() < enough_s and SYSTEM_CLOCK.monotonic_s() < end_s:
        sum(range(1000))


def _described(error: ProfkitError, log: Path) -> dict[str, object]:
    """Return the fields of `trials.TrialError`; a denial is diagnosed here, where it happened."""
    if isinstance(error, AttachDenied | SamplerTimeout):  # it may wait for a process that it does not see
        denial = diagnose(os.getpid(), log)
        if isinstance(error, AttachDenied) or denial.cause is not DenialCause.UNKNOWN:
            message, _, fix = denial.cause_and_fix.partition(": ")
            return {"message": message, "fix": fix, "cause": denial.cause.value}
    message, fix = without_fix(error)
    return {"message": message, "fix": fix, "cause": None}
