"""Loop that samples from inside, run by a subinterpreter of the process (CPython 3.15).

It has a GIL of its own; `samplers/inprocess/interpreter` starts it. The process and this interpreter share
some bytes: `STOP` is set to ask for the end, `STATE` says how it goes, and after a failure the rest is its
reason.
"""

from __future__ import annotations

import time

from . import proc_files
from .journal import ASKED, Journal
from .reader import Changing, Denied, Ended, Process, Unexpected
from .sampling import Sampling, Unreadable

STOP, STATE, REASON = 0, 1, 2
"""Positions in the shared bytes."""
STARTING, RUNNING, FAILED, DONE = 0, 1, 2, 3
"""Values at `STATE`."""
SHARED_BYTES = 256
_LONGEST_WAIT_S = 0.005
"""A stop is noticed within this time; a fork of the program waits for it."""


def run(shared: memoryview, options: dict[str, str], interpreter: int) -> None:
    """Sample until `STOP` is set; `interpreter` is the number of this one, which is left out."""

    def wait(seconds: float) -> str | None:
        until_s = time.monotonic() + seconds
        while not shared[STOP]:
            left_s = until_s - time.monotonic()
            if left_s <= 0:
                return None
            time.sleep(min(left_s, _LONGEST_WAIT_S))
        return ASKED

    pid, period_s = int(options["pid"]), 1 / float(options["rate"])
    journal = Journal(options["output"], pid, period_s, proc_files.thread_name)
    journal.describe(options["kind"])
    try:
        process = Process(pid, options["only"], without=interpreter)
        process.try_to_read()
        sampling = Sampling(process, journal, time.monotonic, int(options["retries"]))
        shared[STATE] = RUNNING
        sampling.write(sampling.run(period_s, float(options["duration"]), wait))
        shared[STATE] = DONE
    except (Denied, Unexpected, Unreadable, Changing, Ended, OSError) as error:
        reason = str(error).encode("utf-8", "replace")[: SHARED_BYTES - REASON]
        shared[REASON : REASON + len(reason)] = reason
        shared[STATE] = FAILED
