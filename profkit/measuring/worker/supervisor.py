"""Launcher and supervisor: one starts supervisors; each starts a zygote and ends its process tree."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import time
from typing import NoReturn

from .processes import MemoryLimit, adopt_orphans, children, descendants, end_children, end_descendants
from .protocol import DUMP_SIGNAL, Inbox, Message, blocking_socket, from_file, receive_descriptors, send

_END_S = 20.0
"""Maximum time to end a tree; the kernel frees the memory of a large process in less."""
_DUMP_S = 0.05
"""Time for a process to print its tracebacks before it is ended."""


def main() -> None:
    """Run the launcher: serve the driver at the other end of stdin, which sends its pidfd first."""
    os.chdir("/")
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # supervisors are reaped automatically
    adopt_orphans()
    channel = blocking_socket(os.dup(0))
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    driver = receive_descriptors(channel)
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
        descriptors = receive_descriptors(channel)
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


def supervise(driver: int, descriptors: list[int]) -> NoReturn:
    """Start the zygote that the message in the last descriptor describes; end with the driver.

    Descriptors: the supervisor's channel, the zygote's, its output, the message: `argv`, `env`, `folder`
    (created for it and removed at the end, or None), `before` (a program to run first, or None).
    """
    channel, control, output, config = descriptors
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    adopt_orphans()
    supervisor = Supervisor(blocking_socket(channel), from_file(config))
    try:
        supervisor.start(driver, control, output)
        supervisor.watch(driver)
    finally:
        supervisor.end()
        os._exit(0)


class Supervisor:
    """Owner of a zygote and its process tree."""

    def __init__(self, channel: socket.socket, config: Message) -> None:
        self._channel, self._config = channel, config
        self._zygote: int | None = None
        self._kept: set[int] = set()
        self._status: int | None = None
        self._ending = False
        self._limit: MemoryLimit | None = None

    def start(self, driver: int, control: int, output: int) -> None:
        """Start the zygote: its stdin is the driver's control channel, stdout and stderr its output.

        It starts in its folder: paths that differ between zygotes must not get into its memory, where they
        would change counts. Commands that enter another environment pass on stdin, if nothing else.
        """
        try:
            if self._config["folder"] is not None:
                os.mkdir(self._config["folder"], 0o700)
                os.chdir(self._config["folder"])
            if self._run_first(driver):
                self._zygote = self._spawn(control, output)
        except OSError as error:
            os.write(output, f"{error}\n".encode())
        os.close(control)
        os.close(output)

    def _run_first(self, driver: int) -> bool:
        """Run the program before the zygote; return False if the driver no longer needs the zygote."""
        argv = self._config["before"]
        if argv is None:
            return True
        pid = os.posix_spawnp(argv[0], argv, self._config["env"])
        ended, channel = os.pidfd_open(pid), self._channel.fileno()
        ready, _, _ = select.select([driver, channel, ended], (), ())
        os.close(ended)
        return ready == [ended]

    def _spawn(self, control: int, output: int) -> int:
        argv = self._config["argv"]
        return os.posix_spawnp(
            argv[0],
            argv,
            self._config["env"],
            file_actions=[
                (os.POSIX_SPAWN_DUP2, control, 0),
                (os.POSIX_SPAWN_DUP2, output, 1),
                (os.POSIX_SPAWN_DUP2, output, 2),
            ],
            setsigmask=(),
            setsigdef=signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP},
        )

    def watch(self, driver: int) -> None:
        """Execute the driver's commands until the driver or the zygote ends."""
        if self._zygote is None:
            return
        inbox = Inbox(self._channel)
        zygote = os.pidfd_open(self._zygote)
        poller = select.poll()
        channel = self._channel.fileno()
        for descriptor in (driver, zygote, channel):
            poller.register(descriptor, select.POLLIN)
        while True:
            ready = dict(poller.poll(None if self._limit is None else self._limit.pause_s * 1000))
            if driver in ready:
                return
            if channel in ready:
                for message in inbox.read():
                    self._run_command(message)
            if zygote in ready or inbox.ended or self._ending:
                return
            if self._limit is not None:
                self._enforce(self._limit)

    def _run_command(self, message: Message) -> None:
        command = message["do"]
        if command == "settle":
            self._kept = descendants(os.getpid())
            # Memory checks wait for a free core, so that they do not interrupt timed code.
            with contextlib.suppress(OSError, AttributeError):
                os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
            send(self._channel, {"done": True})
        elif command == "limit":
            self._limit = MemoryLimit(message["bytes"])
        elif command == "dump":
            self._dump()
        elif command == "sweep":
            self._limit = None
            send(self._channel, {"done": end_descendants(self._kept, self._reap, _END_S)})
        elif command == "end":
            self._ending = True

    def _enforce(self, limit: MemoryLimit) -> None:
        """End all processes of a job if they exceed the memory limit."""
        excess = limit.excess(descendants(os.getpid()) - self._kept)
        if excess is not None:
            self._limit = None
            self._dump()
            send(self._channel, {"memory": excess})
            end_descendants(self._kept, self._reap, _END_S)

    def _dump(self) -> None:
        """Make workers print their threads' tracebacks; a program that one has executed may end instead."""
        workers = {child for pid in self._kept for child in children(pid)} - self._kept
        for pid in workers:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, DUMP_SIGNAL)
        if workers:
            time.sleep(_DUMP_S)

    def _reap(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return
                if pid == self._zygote:
                    self._status = status

    def end(self) -> None:
        """End the whole tree, send the zygote's exit status, and remove the folder."""
        self._reap()
        end_descendants((), self._reap, _END_S)
        with contextlib.suppress(OSError):  # the driver is gone
            send(self._channel, {"ended": self._status})
        if self._config["folder"] is not None:
            import shutil  # slow to import, compared with starting a zygote

            shutil.rmtree(self._config["folder"], ignore_errors=True)
