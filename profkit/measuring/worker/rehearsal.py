"""Rehearsal jobs of a zygote under Valgrind, so that its children count alike and start fast."""

from __future__ import annotations

import os
import socket
import sys

from . import valgrind
from .child import work
from .protocol import UNDECIDED, Case, Inbox, JobMessage, Message, in_file, send_descriptors


def _job(stmt: str, setup: str = "", level: str = "function", global_setup: str = "") -> JobMessage:
    case: Case = {
        "stmt": stmt,
        "setup": setup,
        "global_setup": global_setup,
        "language": "python",
        "level": level,
        "payload": False,
        "library": None,
        "fresh": UNDECIDED,
    }
    return {
        "mode": "callgrind",
        "num_threads": 1,
        "cases": [case],
        "number": [2],
        "runs": None,
        "repeats": 2,
        "warm": 20,
    }


_IMPORTED = """
import sys
torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
"""
_TORCH = "x = y = torch.ones(64) if torch else 1"
_NUMPY = "a = numpy.ones(64) if numpy else 1"
_OWN = """
    class Point:
        def __init__(self, x):
            self.x = x
    def f(x, *, y=1):
        return [Point(x), y]
"""

JOBS: tuple[JobMessage, ...] = (
    _job("[i * i for i in range(100)]"),
    _job("s.split()", "s = 'a few words in a string'"),
    _job("items.sort()", "items = [3, 1, 2] * 20"),
    _job("{str(i): (i, float(i)) for i in range(50)}"),
    _job("f(2, y=3)", _OWN),
    _job("x + y", _TORCH, global_setup=_IMPORTED),
    _job("a + a", _NUMPY, global_setup=_IMPORTED),
    _job("x + y", _TORCH, "module", _IMPORTED),
)
"""Messages without the fields that a zygote fills in: `dump_prefix` and the environment."""


_DUMP_PREFIX = "cg"
"""Relative to the zygote's folder, whose name differs between zygotes and must not enter its memory."""
_SET, _UNSET = "PROFKIT_REHEARSAL", "PROFKIT_REHEARSED"
"""Variables that are changed in the same way as a job's."""


def prepare_to_count() -> None:
    """Switch instrumentation on and run rehearsal jobs; raises RuntimeError on failure."""
    valgrind.prepare()
    if not valgrind.running_on_valgrind():
        raise RuntimeError(
            "Valgrind runs a wrapper script, such as pyenv's, instead of the interpreter; give the path of "
            f"the interpreter itself: {sys.executable}"
        )
    valgrind.start_instrumentation()
    printed_to = os.dup(1)
    try:
        for job in JOBS:
            _rehearse(job)
    finally:
        os.environ.pop(_SET, None)
        os.dup2(printed_to, 1)
        os.dup2(printed_to, 2)
        os.close(printed_to)


def _rehearse(job: JobMessage) -> None:
    control, childs_control = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    channel, childs_channel = socket.socketpair()
    with control, childs_control, channel:
        output, message = os.open(os.devnull, os.O_WRONLY), in_file(_whole(job))
        send_descriptors(control, [childs_channel.fileno(), output, message])
        for descriptor in (childs_channel.detach(), output, message):
            os.close(descriptor)
        work(childs_control)
        replies = Inbox(channel).read()
    if not replies or not replies[0]["ok"]:
        raise RuntimeError(f"a rehearsal failed: {replies[0]['trace'] if replies else 'no reply'}")


def _whole(job: JobMessage) -> Message:
    """Return the job's message with the environment that the zygote already has."""
    here: Message = {
        "cwd": ".",
        "path": sys.path,
        "env": {_SET: "", _UNSET: None},
        "cores": [],
        "memory_limit_bytes": None,
        "dump_prefix": _DUMP_PREFIX,
    }
    return {**here, **job}
