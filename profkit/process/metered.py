"""Programs that are run one after the other, each measured: its times, its peak memory, and how it ended."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from profkit.errors import InternalError
from profkit.process import meter
from profkit.process.foreground import CommandNotStarted
from profkit.process.signals import signals_delayed
from profkit.process.tree import end_tree

if TYPE_CHECKING:
    from profkit.process.meter import NotStarted, Request, Result

_ENDING_S = 4.0
"""Time for the meter to end the running program, and itself."""
_MOST_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Files:
    """The stdin, stdout and stderr of a program: a path to read, a descriptor, or None for /dev/null."""

    stdin: str | int | None = None
    stdout: int | None = None
    stderr: int | None = None


@dataclass(frozen=True, slots=True)
class MeteredRun:
    """A program that has ended; its times and memory include the children that it waited for."""

    pid: int
    exit_code: int
    """Its exit code, or the negative number of the signal that ended it."""
    wall_s: float
    """Time from the moment at which it replaced the process that started it, to its end."""
    user_s: float
    system_s: float
    peak_bytes: int
    """Peak resident memory of the largest of the processes."""
    involuntary: int
    """Involuntary context switches."""


class Meter:
    """Process that starts programs and measures them; not thread-safe."""

    def __init__(self, channel: socket.socket, process: subprocess.Popen[bytes]) -> None:
        self._channel, self._process = channel, process

    def run(
        self, argv: Sequence[str], env: Mapping[str, str], files: Files, timeout_s: float | None = None
    ) -> MeteredRun:
        """Run a program to its end, and return what it used.

        Raises CommandNotStarted, and TimeoutError after ending the program with all that it has started; the
        meter cannot be used again then.
        """
        request: Request = {
            "argv": list(argv),
            "env": dict(env),
            "files": [files.stdin, files.stdout, files.stderr],
        }
        self._channel.settimeout(timeout_s)
        self._channel.sendall(json.dumps(request).encode() + b"\n")
        try:
            result = self._result()
        except TimeoutError:
            end_tree(self._process.pid)
            raise
        if "wall_s" not in result:
            raise CommandNotStarted(argv[0], os.strerror(result["errno"]))
        return MeteredRun(**result)

    def _result(self) -> Result | NotStarted:
        line = b""
        while not line.endswith(b"\n"):
            part = self._channel.recv(_MOST_BYTES)
            if not part:
                code = self._process.wait()
                raise InternalError("measuring a program", EOFError(f"its meter ended with status {code}"))
            line += part
        return cast("Result | NotStarted", json.loads(line))

    def close(self) -> None:
        """End the running program, if any, with all that it has started, and the process that measures."""
        self._channel.close()
        try:
            self._process.wait(_ENDING_S)
        except subprocess.TimeoutExpired:
            end_tree(self._process.pid)
            self._process.wait()


@contextmanager
def metering(*descriptors: int) -> Iterator[Meter]:
    """Start a meter, and close it after the body; Ctrl-C also reaches the program that runs.

    `descriptors` are those that `Files` may name, beside 0, 1 and 2.
    """
    ours, theirs = socket.socketpair()
    started: list[Meter] = []
    try:
        with signals_delayed(), theirs:
            own = [theirs.fileno(), *descriptors]
            argv = [sys.executable, "-I", "-S", meter.__file__, *map(str, own)]
            # The program gets what this process has inherited, as if it had been started in its place.
            with _inherited(own):
                process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, close_fds=False)
            started.append(Meter(ours, process))
        yield started[0]
    finally:
        with suppress(OSError), signals_delayed():
            for one in started:
                one.close()
        ours.close()


@contextmanager
def _inherited(descriptors: Sequence[int]) -> Iterator[None]:
    for descriptor in descriptors:
        os.set_inheritable(descriptor, True)
    try:
        yield
    finally:
        for descriptor in descriptors:
            os.set_inheritable(descriptor, False)
