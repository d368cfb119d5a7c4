"""Time one block and its result in this process, then py-spy on it by hand: `first_block.py START`.

START is the start of the block's time: `fresh`, before anything of profkit is imported; `imported`,
after `from profkit import profiled`; `again`, after a session has started and ended.
Prints both times in seconds as JSON.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter, sleep

FRESH, IMPORTED, AGAIN = "fresh", "imported", "again"
_DEADLINE_S = 10.0
_POLL_S = 0.0003


def block_s(start: str) -> float:
    """Return the time of `with profiled(): pass` and its result."""
    start_s = perf_counter()
    from profkit import profiled

    if start == AGAIN:
        with profiled("before") as handle:
            pass
        if handle.run is None:
            raise RuntimeError("no session could be started")
        end_session()
    if start != FRESH:
        start_s = perf_counter()
    with profiled() as handle:
        pass
    run = handle.run
    taken_s = perf_counter() - start_s
    if run is None or run.info.error is not None:
        raise RuntimeError("no session could be started")
    return taken_s


def end_session() -> None:
    """End the session, so that only its files are left."""
    from profkit.session.manager import MANAGER

    MANAGER.end_session()


def by_hand_s(folder: Path) -> float:
    """Return the time of py-spy from start to end; it is stopped as soon as that loses nothing."""
    from profkit.samplers import pyspy

    output, argv = folder / "by-hand.json", by_hand_command(folder / "by-hand.json")
    with (folder / "by-hand.log").open("wb") as log:
        start_s = perf_counter()
        child = subprocess.Popen(argv, stdout=log, stderr=log, start_new_session=True)
        while not catches_interrupts(child.pid):
            if child.poll() is not None or perf_counter() - start_s > _DEADLINE_S:
                raise RuntimeError("py-spy did not start")
            sleep(_POLL_S)
        child.send_signal(signal.SIGINT)
        child.wait()
        taken_s = perf_counter() - start_s
    if not pyspy.is_whole(output):
        raise RuntimeError("py-spy wrote no samples")
    return taken_s


def by_hand_command(output: Path) -> tuple[str, ...]:
    """Return the command with which profkit's last session here started py-spy."""
    from profkit.samplers import pyspy
    from profkit.samplers.pyspy import PySpySampler
    from profkit.session.manager import MANAGER
    from profkit.store.spool import read_session, session_folders

    plan = read_session(session_folders(MANAGER.spool)[-1]).manifest.plan
    return pyspy.command(PySpySampler().find(), os.getpid(), plan, output)


def catches_interrupts(pid: int) -> bool:
    """Return whether a process has a handler for SIGINT (SigCgt of /proc/PID/status, proc(5))."""
    with open(f"/proc/{pid}/status", "rb") as status:
        mask = next((line.split()[1] for line in status if line.startswith(b"SigCgt:")), b"0")
    return bool(int(mask, 16) >> (signal.SIGINT - 1) & 1)


if __name__ == "__main__":
    profkit_s = block_s(sys.argv[1])
    end_session()
    with tempfile.TemporaryDirectory() as hand:
        print(json.dumps([profkit_s, by_hand_s(Path(hand))]))
