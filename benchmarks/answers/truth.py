"""What a program measures about itself: time in its planted lines, and processor time of its threads.

Programs import this module first. At exit, each process writes a file to the folder in ANSWERS_TRUTH. Nothing
here needs profkit, starts a thread, or adds a frame to the stacks of the work.
"""

from __future__ import annotations

import atexit
import json
import os
import resource
import sys
import threading
import time
from pathlib import Path
from typing import Any

SECONDS = float(os.environ.get("ANSWERS_SECONDS", "4"))
"""How long a program works on a free core."""
_TICK_S = 1 / os.sysconf("SC_CLK_TCK")


class Span:
    """Time that each thread spends inside `with` blocks; overlapping blocks of its coroutines count once."""

    def __init__(self) -> None:
        self._open: dict[int, tuple[int, float, float]] = {}
        """Of each thread: number of open blocks, and the times at which the first one began."""
        self._spent: dict[int, tuple[float, float]] = {}

    def __enter__(self) -> None:
        tid = threading.get_native_id()
        depth, wall_s, cpu_s = self._open.get(tid) or (0, time.perf_counter(), time.thread_time())
        self._open[tid] = (depth + 1, wall_s, cpu_s)

    def __exit__(self, *_: object) -> None:
        tid = threading.get_native_id()
        depth, wall_s, cpu_s = self._open.pop(tid)
        if depth > 1:
            self._open[tid] = (depth - 1, wall_s, cpu_s)
            return
        wall_before_s, cpu_before_s = self._spent.get(tid, (0.0, 0.0))
        self._spent[tid] = (
            wall_before_s + time.perf_counter() - wall_s,
            cpu_before_s + time.thread_time() - cpu_s,
        )

    def spent(self) -> dict[int, tuple[float, float]]:
        """Return the wall and processor time of each thread, with the open block of the calling thread."""
        tid = threading.get_native_id()
        if tid not in self._open:
            return dict(self._spent)
        _, wall_s, cpu_s = self._open[tid]
        wall_before_s, cpu_before_s = self._spent.get(tid, (0.0, 0.0))
        now = (wall_before_s + time.perf_counter() - wall_s, cpu_before_s + time.thread_time() - cpu_s)
        return {**self._spent, tid: now}

    def clear(self) -> None:
        """Forget everything, as a forked child must."""
        self._open.clear()
        self._spent.clear()


planted, also = Span(), Span()
"""The lines marked PLANTED and ALSO."""
_threads: dict[int, dict[str, Any]] = {}
_main: dict[str, float] = {}


def threads() -> None:
    """Record all threads; call it before some of them end."""
    here, own_tid = threading.current_thread(), threading.get_native_id()
    for thread in threading.enumerate():
        tid = own_tid if thread is here else thread.native_id  # a forked child's is out of date
        if tid is not None and (times := _times(tid)) is not None:
            cpu_s, delay_s, elapsed_s = times
            if thread is threading.main_thread():
                cpu_s, delay_s = cpu_s - _main["cpu_s"], delay_s - _main["delay_s"]
                elapsed_s = time.perf_counter() - _main["start_s"]
            _threads[tid] = {
                "name": thread.name, "cpu_s": cpu_s, "delay_s": delay_s, "elapsed_s": elapsed_s,
            }  # fmt: skip


def write() -> None:
    """Write what is known so far; call it before a process ends or is replaced without `atexit`."""
    folder = os.environ.get("ANSWERS_TRUTH")
    if folder is None:
        return
    threads()
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    known = {
        "pid": os.getpid(),
        "arguments": sys.argv,
        "rank": os.environ.get("RANK"),
        "is_child": bool(_main["is_child"]),
        "children_cpu_s": children.ru_utime + children.ru_stime,
        "threads": _threads,
        "spans": {"PLANTED": planted.spent(), "ALSO": also.spent()},
    }
    Path(folder, f"{os.getpid()}.json").write_text(json.dumps(known), "utf-8")


def _times(tid: int) -> tuple[float, float, float] | None:
    """Return the processor time, the time on a run queue and the age of a thread; None if it has ended."""
    folder = Path("/proc/self/task", str(tid))
    try:
        cpu_ns, delay_ns, _ = folder.joinpath("schedstat").read_text("utf-8").split()
        stat = folder.joinpath("stat").read_text("utf-8").rpartition(")")[2].split()
    except OSError:
        return None
    age_s = time.clock_gettime(time.CLOCK_BOOTTIME) - int(stat[19]) * _TICK_S
    return int(cpu_ns) / 1e9, int(delay_ns) / 1e9, age_s


def _begin(*, is_child: bool) -> None:
    """Start the main thread's clocks, at the import and in each forked child."""
    for known in (_threads, _main, planted, also):
        known.clear()
    cpu_s, delay_s, _ = _times(threading.get_native_id()) or (0.0, 0.0, 0.0)
    _main.update(start_s=time.perf_counter(), cpu_s=cpu_s, delay_s=delay_s, is_child=is_child)


_begin(is_child=os.environ.get("ANSWERS_PARENT", str(os.getpid())) != str(os.getpid()))
if "ANSWERS_TRUTH" in os.environ:
    os.environ["ANSWERS_PARENT"] = str(os.getpid())
    os.register_at_fork(after_in_child=lambda: _begin(is_child=True))
    atexit.register(write)
