"""Process that starts programs, measures each, and ends one after Ctrl-C (grace, SIGTERM, SIGKILL).

It is started as `python -I -S meter.py CHANNEL DESCRIPTOR…`. CHANNEL is the descriptor of a socket, from
which requests are read and to which results are written, one JSON object per line. Requests may name the
other descriptors.

The peak memory that the kernel reports for a program is never less than that of the process that started it.
So this is a small process of its own, which imports nothing of profkit.

If the other end of the channel is closed, the running program is ended, and then this process.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time

TYPE_CHECKING = False  # importing `typing` would add to the peak memory of small programs
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeAlias, TypedDict, final

    Handlers: TypeAlias = Mapping[signal.Signals, signal._HANDLER]

    class Request(TypedDict):
        """A program to run."""

        argv: list[str]
        env: dict[str, str]
        files: list[str | int | None]
        """Its stdin, stdout and stderr: the path of a file to read, a descriptor, or None for /dev/null."""

    @final
    class Result(TypedDict):
        """How a program ended, and what it used: see `metered.MeteredRun`."""

        pid: int
        exit_code: int
        wall_s: float
        user_s: float
        system_s: float
        peak_bytes: int
        involuntary: int

    @final
    class NotStarted(TypedDict):
        """Why a program cannot be started."""

        errno: int


OF_TERMINALS = (signal.SIGINT, signal.SIGQUIT)
"""Signals that a terminal sends to this process and the program alike: the program decides what they do."""
_SET_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)
_GRACE_S = 1.0
"""Time for the program to end by itself, as Ctrl-C has reached it, too; then again after SIGTERM."""
_CANNOT_RUN = 127


class _Left(Exception):
    """The other end of the channel was closed."""


def _serve(channel: int) -> None:
    before = {number: signal.signal(number, signal.SIG_IGN) for number in OF_TERMINALS}
    with open(channel, "r+b", buffering=0) as requests:
        while line := requests.readline():
            result = _run(json.loads(line), channel, before)
            os.write(channel, json.dumps(result).encode() + b"\n")


def _run(request: Request, channel: int, before: Handlers) -> Result | NotStarted:
    """Run one program, and return how it ended and what it used; or why it cannot be started."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        _become(request, writer, before)
    os.close(writer)
    try:
        report = _whole(reader)
        start_s, _, error = report.partition(b" ")
        if error:
            os.waitpid(pid, 0)
            return {"errno": int(error)}
        _await_end(pid, channel)
        status, usage = os.wait4(pid, 0)[1:]
        wall_s = time.perf_counter() - float(start_s)
    finally:
        os.close(reader)
    return {
        "pid": pid,
        "exit_code": os.waitstatus_to_exitcode(status),
        "wall_s": wall_s,
        "user_s": usage.ru_utime,
        "system_s": usage.ru_stime,
        "peak_bytes": usage.ru_maxrss * 1024,
        "involuntary": usage.ru_nivcsw,
    }


def _become(request: Request, writer: int, before: Handlers) -> None:
    """Become the program; report the time of that, followed by the error number if it fails."""
    try:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number in _SET_BY_PYTHON:
            signal.signal(number, signal.SIG_DFL)
        _redirect(request["files"])
        argv = request["argv"]
        os.write(writer, repr(time.perf_counter()).encode())
        os.execvpe(argv[0], argv, request["env"])
    except OSError as error:
        os.write(writer, f" {error.errno}".encode())
    finally:
        os._exit(_CANNOT_RUN)


def _redirect(files: list[str | int | None]) -> None:
    for number, file in enumerate(files):
        if not isinstance(file, int):
            file = os.open(os.devnull if file is None else file, os.O_RDWR if file is None else os.O_RDONLY)
        os.dup2(file, number)


def _whole(reader: int) -> bytes:
    parts = []
    while part := os.read(reader, 256):
        parts.append(part)
    return b"".join(parts)


def _await_end(pid: int, channel: int) -> None:
    """Wait until the program ends, without reaping it; end it if the channel is closed, and raise _Left."""
    process = os.pidfd_open(pid)
    try:
        poller = select.poll()
        poller.register(process, select.POLLIN)
        poller.register(channel, select.POLLIN)
        if process in {descriptor for descriptor, _ in poller.poll()}:
            return
        for number in (signal.SIGTERM, signal.SIGKILL):
            if select.select([process], [], [], _GRACE_S)[0]:
                break
            os.kill(pid, number)
        raise _Left
    finally:
        os.close(process)


if __name__ == "__main__":
    descriptors = [int(number) for number in sys.argv[1:]]
    for descriptor in descriptors:
        os.set_inheritable(descriptor, False)
    try:
        _serve(descriptors[0])
    except (_Left, OSError):
        sys.exit(1)
