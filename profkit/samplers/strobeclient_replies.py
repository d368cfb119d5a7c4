"""What strobeclient answers, parsed; every reply is a text on stderr.

Read off PyTorch's torch/_strobelight/cli_function_profiler.py (2.13): strobeclient is not public.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from profkit.model.session import SessionState

_RUN_ID = re.compile(r"INFO Run Id: (-?\d+)")
_STATUS = re.compile(r"Profile run status: (\w+)")
_FINISHED = re.compile(r"Profile run finished with (\w+)")
_STOPPED = re.compile(r"INFO ::1:.*Success!")
_LINK = re.compile(r"((?:Total samples|GraphProfiler|Icicle view \(python stack\))[^:\n]*):?[ \t]*(.*)")
_STATES = {
    "PREPARING": SessionState.PREPARING,
    "RUNNING": SessionState.RUNNING,
    "PROCESSING": SessionState.PROCESSING,
}


@dataclass(frozen=True, slots=True)
class RunStatus:
    """Where a run stands; `links` (what, value) come with SUCCESS."""

    state: SessionState
    links: tuple[tuple[str, str], ...] = ()


def parse_run_id(reply: str) -> str | None:
    """The id of the run that `run` started, None where it did not."""
    match = _RUN_ID.search(reply)
    return match.group(1) if match else None


def parse_status(reply: str) -> RunStatus | None:
    """The state in a reply of `getRunStatus`, None where it has none that is known."""
    finished = _FINISHED.search(reply)
    if finished is not None:
        if finished.group(1) != "SUCCESS":
            return RunStatus(SessionState.FAILED)
        return RunStatus(SessionState.SUCCESS, tuple(_LINK.findall(reply)))
    status = _STATUS.search(reply)
    state = _STATES.get(status.group(1)) if status else None
    return RunStatus(state) if state else None


def is_stopped(reply: str) -> bool:
    """Whether a reply of `stopRun` says that the run was stopped."""
    return _STOPPED.search(reply) is not None
