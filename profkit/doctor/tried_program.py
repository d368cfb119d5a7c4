"""Program that a sampler is tried on: it profiles a function of its own, as a user's program does.

`trials` starts it in a process of its own. It writes an error to a file, and the run to its spool.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import cast

from profkit.calls.options import ProfilerOptions
from profkit.clock import SYSTEM_CLOCK
from profkit.decorators import profile
from profkit.errors import AttachDenied, ProfkitError

LABEL = "profkit doctor"
"""Label of the sampled function."""
WORK_S = 0.1
"""Duration of the sampled call."""


def run(options: dict[str, object], folder: Path) -> None:
    """Sample a function with these options; write the error, if any, to `error.json` in the folder."""
    given = cast("ProfilerOptions", {**options, "label": LABEL, "stop_at_error": True})
    try:
        profile(**given)(_work)()
    except ProfkitError as error:
        document = json.dumps(_described(error, folder / "denial.log"))
        (folder / "error.json").write_text(document, "utf-8")


def _work() -> None:
    end_s = SYSTEM_CLOCK.monotonic_s() + WORK_S
    while SYSTEM_CLOCK.monotonic_s() < end_s:
        sum(range(1000))


def _described(error: ProfkitError, log: Path) -> dict[str, object]:
    """Return the fields of `trials.TrialError`; a denial is diagnosed here, where it happened."""
    if not isinstance(error, AttachDenied):
        message, fix = _split(str(error), getattr(error, "fix", ""))
        return {"message": message, "fix": fix, "cause": None}
    from profkit.samplers.ptrace import diagnose

    denial = diagnose(os.getpid(), log)
    message, _, fix = denial.cause_and_fix.partition(": ")
    return {"message": message, "fix": fix, "cause": denial.cause.value}


def _split(message: str, fix: str) -> tuple[str, str]:
    """Return an error's message without its fix, and the fix."""
    return (message.replace(f"; {fix}", ""), fix) if fix else (message, "")
