"""Has a zygote, and a job on it that never ends, until somebody ends this program."""

from __future__ import annotations

import ctypes
import os
import sys
import time
from concurrent.futures import Future

from profkit.measuring.pool.jobs import Reply
from profkit.measuring.pool.pool import process_pool
from profkit.model.measurement import Tool
from tests.integration.pool_jobs import FAMILY, LOOP_IN_C, job, kind


def start(what: str, mark: str) -> list[Future[Reply]]:
    pool = process_pool()
    if what == "starting":
        pool.warm([kind(mark)])
        return []
    if what == "idle":
        pool.submit(kind(mark), job("pass")).result()
        return []
    if what == "hanging":
        pool.warm([kind(mark, tool=Tool.VALGRIND, command=("sh", "-c", "sleep 600", "python"))])
        return []
    tool = Tool.VALGRIND if what == "valgrind" else Tool.NONE
    running = [pool.submit(kind(mark, tool=tool), job(LOOP_IN_C, setup=FAMILY, timeout_s=600))]
    if what == "many":
        running += [
            pool.submit(kind(mark, draw=name), job(LOOP_IN_C, setup=FAMILY, timeout_s=600)) for name in "ab"
        ]
    return running


def leak(pid_file: str) -> None:
    """A process that lives on with copies of all our descriptors, as C code may fork one: no hook runs."""
    # PyDLL keeps the interpreter's lock: in the child nobody else could give it back.
    if ctypes.PyDLL(None).fork() == 0:
        with open(pid_file, "w") as file:
            file.write(str(os.getpid()))
        time.sleep(600)


if __name__ == "__main__":
    futures = start(*sys.argv[1:3])
    if sys.argv[3:]:
        leak(sys.argv[3])
    if sys.stdin.readline() == "exit\n":
        sys.exit()
    os.execv("/bin/true", ["true"])
