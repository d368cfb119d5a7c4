"""Run a command of profkit, and kill it before an access to a file: `killed_command.py NUMBER COMMAND...`.

Accesses count from the command's first one on a spool.
"""

from __future__ import annotations

import os
import signal
import sys

from profkit.cli.main import main

_EVENTS = frozenset({"open", "os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.utime", "fcntl.flock"})


class _Killer:
    def __init__(self, left: int) -> None:
        self._left, self._begun = left, False

    def __call__(self, event: str, arguments: tuple[object, ...]) -> None:
        if event not in _EVENTS:
            return
        self._begun = self._begun or event == "fcntl.flock"
        self._left -= self._begun
        if self._left < 0:
            os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    sys.addaudithook(_Killer(int(sys.argv[1])))
    sys.exit(main(sys.argv[2:]))
