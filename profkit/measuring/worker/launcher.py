"""The launcher: a small process beside the user's program that starts supervisors for it.

Starting a process leaves traces in the program that does it: a child that its `os.wait()` may find, a
SIGCHLD. So the program starts this one, once, and it forks the rest. It is a bare interpreter
that never imports anything of the user, and ends with the program.
"""

from __future__ import annotations

import os
import select
import signal
import socket

from .messages import handed
from .supervisor import supervise


def main() -> None:
    """Serve the driver at the other end of stdin; its pidfd comes first."""
    os.chdir("/")
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # supervisors need not be waited for
    channel = socket.socket(fileno=os.dup(0))
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    driver = handed(channel)
    if driver:
        _serve(channel, driver[0])
    os._exit(0)


def _serve(channel: socket.socket, driver: int) -> None:
    poller = select.poll()
    poller.register(channel, select.POLLIN)
    poller.register(driver, select.POLLIN)
    while driver not in dict(poller.poll()):
        descriptors = handed(channel)
        if not descriptors:
            return
        if os.fork() == 0:
            channel.close()
            supervise(driver, descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
