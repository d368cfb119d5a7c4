"""A profiled program and its signals: `signals.py SCENARIO`."""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
import time

from spinning import spin

from profkit import profile, profiled


@profile(rate=200, blocking=False, label="region")
def region(work, *args):
    return work(*args)


def sigchld() -> None:
    """A handler of SIGCHLD is called for the program's own children, and for nobody else's."""
    ended: list[int] = []

    def reap(signum, frame):
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            ended.append(os.waitstatus_to_exitcode(status))

    calls: list[int] = []
    signal.signal(signal.SIGCHLD, lambda *_: calls.append(1))
    region(spin, 0.1)
    with profiled("other options", rate=100):
        spin(0.05)
    region(spin, 0.05)
    print("calls without children:", len(calls))
    signal.signal(signal.SIGCHLD, reap)
    for code in range(5):
        region(leave_child, code)
        while len(ended) <= code:
            time.sleep(0.001)
    print("ended:", ended)


def leave_child(code: int) -> None:
    if os.fork() == 0:
        os._exit(code)
    spin(0.02)


def rotation() -> None:
    """Results asked for within a region end and start samplers beside profkit's own thread."""
    calls: list[int] = []
    signal.signal(signal.SIGCHLD, lambda *_: calls.append(1))

    def work():
        for _ in range(3):
            spin(0.05)
            getattr(region, "last_run", None)

    region(work)
    print("calls without children:", len(calls))


def sigalrm() -> None:
    """An interval timer's handler runs on time, in the main thread, and may call what is profiled."""
    ticks: list[bool] = []
    enough = threading.Event()

    def tick(signum, frame):
        region(ticks.append, threading.current_thread() is threading.main_thread())
        if len(ticks) == 20:
            signal.setitimer(signal.ITIMER_REAL, 0)
            enough.set()

    signal.signal(signal.SIGALRM, tick)
    signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
    while not enough.is_set():
        region(spin, 0.02)
    print("ticks:", len(ticks), "all in the main thread:", all(ticks))


def sigwait() -> None:
    """Signals that the main thread blocks wait for it: no thread of profkit's takes them."""
    region(spin, 0.05)
    mine = {signal.SIGUSR1, signal.SIGTERM}
    signal.pthread_sigmask(signal.SIG_BLOCK, mine)
    for signum in (signal.SIGUSR1, signal.SIGTERM):
        os.kill(os.getpid(), signum)
        print("waited for", signal.Signals(region(signal.sigwait, mine)).name)
    print("nothing more:", signal.sigtimedwait(mine, 0.05))


def wakeup() -> None:
    """A wakeup descriptor hears the program's signals alone."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    os.set_blocking(reader, False)
    signal.set_wakeup_fd(writer)
    for signum in (signal.SIGUSR1, signal.SIGCHLD):
        signal.signal(signum, lambda *_: None)
    region(spin, 0.05)
    with profiled("other options", rate=100):
        os.kill(os.getpid(), signal.SIGUSR1)
        spin(0.05)
    print("heard:", [signal.Signals(number).name for number in os.read(reader, 100)])


def handlers() -> None:
    """Handlers, masks and ignored signals are after a region what they were before."""

    def state():
        handlers = [repr(signal.getsignal(signum)) for signum in sorted(signal.valid_signals())]
        return handlers, signal.pthread_sigmask(signal.SIG_BLOCK, ())

    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2, signal.SIGINT})
    before = state()
    region(spin, 0.1)
    with profiled("other options", rate=100):
        inside = state()
    print("same inside:", inside == before, "same after:", state() == before)


def sigint_handler() -> None:
    """A handler of one's own for SIGINT that goes on."""
    heard: list[str] = []
    signal.signal(signal.SIGINT, lambda *_: heard.append("SIGINT"))
    for _ in range(3):
        region(os.killpg, os.getpgrp(), signal.SIGINT)
        region(spin, 0.03)
    print(heard)


def waits() -> None:
    """Python's own waits last as long as they should and give what they should, though they are stopped.

    Not `signal.sigtimedwait`: where EINTR comes at its deadline CPython gives a signal that never was.
    """

    @profile(rate=100, blocking=True, label="stopped")
    def stopped(work):
        return work()

    reader, _writer = os.pipe()
    lock = threading.Lock()
    lock.acquire()
    poller = select.epoll()
    poller.register(reader)
    for name, wait, nothing in (
        ("sleep", lambda: time.sleep(0.05), None),
        ("lock", lambda: lock.acquire(timeout=0.05), False),
        ("select", lambda: select.select([reader], [], [], 0.05), ([], [], [])),
        ("epoll", lambda: poller.poll(0.05), []),
        ("event", lambda: threading.Event().wait(0.05), False),
    ):
        start = time.perf_counter()
        gave = stopped(wait)
        waited = time.perf_counter() - start >= 0.0499
        print(name, gave == nothing, waited)


def c_waits() -> None:
    """Waits of C code that a stopped program breaks off: not without blocking."""
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    poller = select.epoll()

    def wait():
        events = ctypes.create_string_buffer(64)
        return [libc.epoll_wait(poller.fileno(), events, 1, 30) for _ in range(10)]

    print(region(wait))


SCENARIOS = {
    function.__name__: function
    for function in (sigchld, rotation, sigalrm, sigwait, wakeup, handlers, sigint_handler, waits, c_waits)
}

if __name__ == "__main__":
    SCENARIOS[sys.argv[1]]()
