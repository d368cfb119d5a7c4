"""Two threads share a C library's mutex; one holds it while it writes slowly."""

import ctypes
import threading
import time

from benchmarks.answers import truth

libc = ctypes.CDLL(None)
mutex = ctypes.create_string_buffer(64)
libc.pthread_mutex_init(mutex, None)
stopping = threading.Event()


def flush() -> None:
    while not stopping.is_set():
        libc.pthread_mutex_lock(mutex)
        time.sleep(0.3)
        libc.pthread_mutex_unlock(mutex)
        time.sleep(0.01)
    truth.threads()


def lookup(key: int) -> int:
    with truth.planted:
        libc.pthread_mutex_lock(mutex)  # PLANTED
    value = sum(range(key % 1_000))
    libc.pthread_mutex_unlock(mutex)
    return value


flusher = threading.Thread(target=flush, name="flusher")
flusher.start()
time.sleep(0.05)
found, end_s = 0, time.perf_counter() + truth.SECONDS
while time.perf_counter() < end_s:
    found += lookup(found)
    time.sleep(0.02)
stopping.set()
flusher.join()
print(found)
