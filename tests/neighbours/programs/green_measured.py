"""Calls measured in green threads, of the library that the first argument names."""

from __future__ import annotations

import signal
import sys
import threading
import time

if sys.argv[1] == "gevent":
    import gevent.monkey

    gevent.monkey.patch_all()
else:
    import eventlet

    eventlet.monkey_patch()

from profkit import profile


@profile(mode="timer", quick=True)
def total(n: int) -> int:
    """Take turns with others."""
    time.sleep(0.01)
    return sum(range(n))


def show(n: int) -> None:
    print(n, total(n), flush=True)


def interrupted(signum: int, frame: object) -> None:
    print("signal", signal.Signals(signum).name, flush=True)


def main() -> None:
    signal.signal(signal.SIGUSR1, interrupted)
    threads = [threading.Thread(target=show, args=(n,)) for n in (10, 100, 1000)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    deadline_s = time.monotonic() + 3
    while time.monotonic() < deadline_s:  # while calls are measured
        time.sleep(0.01)
    print("blocked", sorted(signal.pthread_sigmask(signal.SIG_BLOCK, ())), flush=True)
    signal.raise_signal(signal.SIGUSR1)


main()
