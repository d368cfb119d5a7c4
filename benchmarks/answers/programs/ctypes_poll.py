"""Wait for a serial port through libc's poll."""

import ctypes
import os
from time import perf_counter

from benchmarks.answers import truth


class PollFd(ctypes.Structure):
    """struct pollfd."""

    _fields_ = [("fd", ctypes.c_int), ("events", ctypes.c_short), ("revents", ctypes.c_short)]


libc = ctypes.CDLL(None, use_errno=True)


def await_input(fd: int, timeout_ms: int) -> bool:
    entry = PollFd(fd, 1, 0)
    with truth.planted:
        ready = libc.poll(ctypes.byref(entry), 1, timeout_ms)  # PLANTED
    return bool(ready > 0)


port, _ = os.pipe()
timeouts, end_s = 0, perf_counter() + truth.SECONDS
while perf_counter() < end_s:
    if not await_input(port, 200):
        timeouts += 1
print(timeouts, "timeouts")
