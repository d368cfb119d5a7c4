"""The name of a speedscope profile that tells a thread, as py-spy writes it (0.4, src/speedscope.rs)."""

from __future__ import annotations

import re

from profkit.model.profile import Thread

_NAME = re.compile(r'(?:Process (\d+) )?Thread (0x[0-9a-fA-F]+|\d+) "(.*)"', re.DOTALL)


def parse_thread_name(name: str, pid: int = 0) -> Thread:
    """The thread that py-spy's name of a profile tells; `tid` 0 where the name has another form.

    A hexadecimal id is the pthread address, which py-spy gives where it cannot find the system's id.
    """
    match = _NAME.fullmatch(name)
    if match is None:
        return Thread(pid, 0, name)
    process, tid, label = match.groups()
    return Thread(int(process) if process else pid, int(tid, 0), label)


def thread_name(thread: Thread) -> str:
    """The name that tells this thread."""
    process = f"Process {thread.pid} " if thread.pid else ""
    return f'{process}Thread {thread.tid} "{thread.name}"'
