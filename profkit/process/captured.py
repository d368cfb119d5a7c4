"""Output of short commands; it is read through pipes, since there may be no folder for files."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

TIMEOUT_S = 5.0


@dataclass(frozen=True, slots=True)
class Captured:
    """What a command printed, and how it ended."""

    code: int
    """Exit status, or minus the number of the signal that ended it."""
    output: str
    errors: str


def capture(command: Sequence[str], timeout_s: float = TIMEOUT_S) -> Captured:
    """Run a command (an absolute path first) to its end, and return what it printed.

    Raises TimeoutError after ending it with all that it has started, and OSError if it cannot be started.
    """
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        encoding="utf-8", errors="replace", start_new_session=True,
    ) as process:  # fmt: skip
        try:
            output, errors = process.communicate(timeout=timeout_s)
        except BaseException as error:  # also KeyboardInterrupt, which does not reach the command's session
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            if isinstance(error, subprocess.TimeoutExpired):
                raise TimeoutError(f"it did not end within {timeout_s:g} s") from error
            raise
    return Captured(process.returncode, output.strip(), errors.strip())
