"""The launcher: a small process beside the user's program that starts supervisors for it.

Starting a process leaves traces in the program that does it: a child that its `os.wait()` may find, a
SIGCHLD. So the program starts this one, once, and it forks the rest. It is a bare interpreter
that never imports anything of the user, and ends with the program. It adopts what a killed supervisor leaves
behind, and ends it.
"""

from __future__ import annotations

import os
import select
import signal
import socket

from .kernel import adopt_orphans
from .messages import blocking_socket, handed
from .orphans import end_children
from .supervisor import supervise

_END_S = 20.0


def main() -> None:
    """Serve the driver at the other end of stdin; its pidfd comes first."""
    os.chdir("/")
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # supervisors need not be waited for
    adopt_orphans()
    channel = blocking_socket(os.dup(0))
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    driver = handed(channel)
    if driver:
        _serve(channel, driver[0])
    os._exit(0)


def _serve(channel: socket.socket, driver: int) -> None:
    poller = select.poll()
    poller.register(channel, select.POLLIN)
    poller.register(driver, select.POLLIN)
    supervisors: dict[int, int] = {}
    while driver not in (ready := dict(poller.poll())):
        for ended in ready.keys() & supervisors.keys():
            poller.unregister(ended)
            os.close(ended)
            del supervisors[ended]
            end_children(set(supervisors.values()), _END_S)
        if channel.fileno() not in ready:
            continue
        descriptors = handed(channel)
        if not descriptors:
            return
        pid = os.fork()
        if pid == 0:
            channel.close()
            for other in supervisors:
                os.close(other)
            supervise(driver, descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        watched = os.pidfd_open(pid)
        supervisors[watched] = pid
        poller.register(watched, select.POLLIN)
