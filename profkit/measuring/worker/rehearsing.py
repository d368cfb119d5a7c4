"""What a zygote under Valgrind does before it serves, so that its children count alike and soon.

Children inherit the code that Valgrind has translated, so the zygote itself goes the whole way of a child,
with instrumentation on: switching it on later would throw every translation away.
"""

from __future__ import annotations

import os
import socket
import sys

from . import requests
from .asked import Job
from .child import work
from .messages import Inbox, Message, hand, in_file
from .rehearsal import JOBS

_DUMP_PREFIX = "cg"
"""In the zygote's own folder, whose name differs from zygote to zygote and must not get into its memory."""
_SET, _UNSET = "PROFKIT_REHEARSAL", "PROFKIT_REHEARSED"
"""Variables that are changed as a job's are."""


def prepare_to_count() -> None:
    """Switch instrumentation on and rehearse; raises RuntimeError where that fails."""
    requests.prepare()
    if not requests.running_on_valgrind():
        raise RuntimeError(
            "Valgrind runs what starts this interpreter, and not the interpreter: name it itself, and no "
            f"script around it, such as pyenv's: {sys.executable}"
        )
    requests.start_instrumentation()
    printed_to = os.dup(1)
    try:
        for job in JOBS:
            _rehearse(job)
    finally:
        os.environ.pop(_SET, None)
        os.dup2(printed_to, 1)
        os.dup2(printed_to, 2)
        os.close(printed_to)


def _rehearse(job: Job) -> None:
    control, childs_control = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    channel, childs_channel = socket.socketpair()
    with control, childs_control, channel:
        output, message = os.open(os.devnull, os.O_WRONLY), in_file(_whole(job))
        hand(control, [childs_channel.fileno(), output, message])
        for descriptor in (childs_channel.detach(), output, message):
            os.close(descriptor)
        work(childs_control)
        answers = Inbox(channel).read()
    if not answers or not answers[0]["ok"]:
        raise RuntimeError(f"a rehearsal failed: {answers[0]['trace'] if answers else 'no answer'}")


def _whole(job: Job) -> Message:
    """The job's message, in the surroundings that the zygote has anyway."""
    here: Message = {
        "cwd": ".",
        "path": sys.path,
        "env": {_SET: "", _UNSET: None},
        "cores": [],
        "memory_limit_bytes": None,
        "dump_prefix": _DUMP_PREFIX,
    }
    return {**here, **job}
