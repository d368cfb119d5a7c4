"""Sample a process until a signal comes, the process ends or the time is over.

Arguments: --pid=, --rate= (Hz), --duration= (s), --only= (`all`, `cpu` or `gil`), --retries=, --children=
and --tasks= (`yes` or `no`), and the path of the output, which exists as soon as a stack has been read.
Prints why it fails.

Imports only modules that are built into Python: its start delays the first profiled call.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found] # `signal` imports enum, which takes milliseconds
import posix
import time

from . import proc_files
from .journal import ASKED, Journal
from .reader import Changing, Denied, Ended, Process, Unexpected
from .sampling import Sampling, Unreadable

TYPE_CHECKING = False  # `typing` takes long to import
if TYPE_CHECKING:
    from collections.abc import Callable

PREFIX = "profkit-sampler: "
"""Beginning of the line that explains a failure."""
DENIED, UNEXPECTED, UNREADABLE = "denied", "unexpected", "unreadable"
ENDED, NOT_WRITTEN = "ended", "not written"
"""First words of an explanation."""

_SIGNALS = frozenset((_signal.SIGINT, _signal.SIGTERM))
_STARTS_S, _PAUSE_S = 0.25, 0.005
"""Time in which the first stack must be readable, and pause between tries.

With the Yama security module, the process allows this one to read it once it knows its pid.
"""


def run(arguments: list[str]) -> int:
    """Sample; return the exit status."""
    *given, output = arguments
    options = dict(argument.removeprefix("--").split("=", 1) for argument in given)
    _signal.pthread_sigmask(_signal.SIG_BLOCK, _SIGNALS)
    try:
        _sample(options, output)
    except Denied as error:
        return _failed(DENIED, error)
    except Unexpected as error:
        return _failed(UNEXPECTED, error)
    except (Unreadable, Changing) as error:
        return _failed(UNREADABLE, error)
    except Ended as error:
        return _failed(ENDED, error)
    except OSError as error:
        return _failed(NOT_WRITTEN, error)
    return 0


def _sample(options: dict[str, str], output: str) -> None:
    pid, period_s, only = int(options["pid"]), 1 / float(options["rate"]), options["only"]
    journal = Journal(output, pid, period_s, proc_files.thread_name)
    with_tasks = options["tasks"] == "yes"

    def opened(child: int) -> Process:
        return Process(child, only, with_tasks=with_tasks)

    sampling = Sampling(
        _readable(lambda: opened(pid)),
        journal,
        time.monotonic,
        int(options["retries"]),
        opened if options["children"] == "yes" else None,
    )
    try:
        reason = sampling.run(period_s, float(options["duration"]), _wait)
    except (Denied, Unexpected, Unreadable) as failure:
        sampling.write(str(failure))
        raise
    sampling.write(reason)


def _readable(opened: Callable[[], Process]) -> Process:
    """Return a process of which a stack has been read; raises the last failure after some time."""
    until_s = time.monotonic() + _STARTS_S
    while True:
        try:
            process = opened()
            process.try_to_read()
            return process
        except (Changing, Denied):
            if time.monotonic() > until_s or _wait(_PAUSE_S) is not None:
                raise


def _wait(seconds: float) -> str | None:
    return None if _signal.sigtimedwait(_SIGNALS, seconds) is None else ASKED


def _failed(word: str, error: Exception) -> int:
    posix.write(1, f"{PREFIX}{word}: {error}\n".encode("utf-8", "backslashreplace"))
    return 1
