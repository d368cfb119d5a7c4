"""A command in a pseudo-terminal of its own, which it controls."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from tests.integration.harness import environment
from tests.support.waiting import until


class Sequences(NamedTuple):
    """What a program writes to begin and to end a full screen."""

    began: str
    ended: str


ALTERNATE = Sequences("\x1b[?1049h", "\x1b[?1049l")
_BEGIN = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""
_CONTROL = re.compile(r"\x1b\[[0-9;?<>=]*\$?[A-Za-z]")


class Terminal:
    """A running command and its terminal; a context manager that ends both."""

    def __init__(
        self, command: Sequence[str], folder: Path, size: tuple[int, int] = (30, 100), **variables: str
    ) -> None:
        """Start the command in a folder, with a folder for temporary files inside."""
        self._main, self._side = pty.openpty()
        fcntl.ioctl(self._side, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
        self._modes = termios.tcgetattr(self._side)
        self.output = ""
        (folder / "tmp").mkdir(exist_ok=True)
        settings = {"TERM": "xterm-256color", "TMPDIR": str(folder / "tmp")} | variables
        self._process = subprocess.Popen(
            [command[0], "-S", "-c", _BEGIN, *command], cwd=folder, env=environment(**settings),
            stdin=self._side, stdout=self._side, stderr=self._side, start_new_session=True,
        )  # fmt: skip
        self._is_closed = False

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self.close()

    def write(self, text: str) -> None:
        """Type a text."""
        os.write(self._main, text.encode())

    def send(self, number: signal.Signals) -> None:
        """Send the command a signal."""
        self._process.send_signal(number)

    def read_until(self, text: str) -> None:
        """Read until the command has written a text, apart from control sequences."""
        self._read_until(lambda: text in _CONTROL.sub("", self.output) or self._process.poll() is not None)
        assert text in _CONTROL.sub("", self.output), self.output[-2000:]

    def await_state(self, state: str) -> None:
        """Wait until the command's process is in a state, a letter of proc(5)."""
        stat = Path(f"/proc/{self._process.pid}/stat")
        self._read_until(lambda: stat.read_text().rpartition(")")[2].split()[0] == state)

    def wait(self) -> int:
        """Return the exit code, once the command has ended."""
        self._read_until(lambda: self._process.poll() is not None)
        self._read_rest()
        return self._process.returncode

    def is_restored(self) -> bool:
        """Return whether the terminal has the modes that it began with."""
        return termios.tcgetattr(self._side) == self._modes

    def close(self) -> None:
        """Close the terminal, as when its window is closed."""
        if not self._is_closed:
            self._is_closed = True
            os.close(self._side)
            os.close(self._main)

    def _read_until(self, condition: Callable[[], bool]) -> None:
        def holds() -> bool:
            self._read_rest()
            return condition()

        until(holds, lambda: self.output[-2000:])

    def _read_rest(self) -> None:
        while self._read():
            pass

    def _read(self) -> bool:
        """Read what there is."""
        if self._is_closed or not select.select([self._main], [], [], 0)[0]:
            return False
        self.output += os.read(self._main, 65536).decode("utf-8", "replace")
        return True
