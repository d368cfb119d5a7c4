"""Callbacks with finished runs: `on_run.py SCENE`; prints as JSON what they got."""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
import time

from spinning import spin_beside_sampler

from profkit import profile, profiled

got: list[tuple[str, int, bool, str]] = []


def keep(run) -> None:
    in_main = threading.current_thread() is threading.main_thread()
    got.append((run.info.label, run.info.calls, run.info.samples > 0, "main" if in_main else "other"))


def spin(duration_s: float) -> None:
    spin_beside_sampler(duration_s, rate_hz=100)


@profile(label="work", on_run=keep)
def work() -> None:
    spin(0.1)


def at_exit() -> None:
    for _ in range(3):
        work()
    with profiled("block", on_run=keep):
        spin(0.1)


def after_the_session() -> None:
    from profkit.session.manager import MANAGER

    work()
    MANAGER.end_session()
    end_s = time.monotonic() + 10
    while not got and time.monotonic() < end_s:
        time.sleep(0.05)
    print_all()
    got.clear()
    work()


def waiting_for_a_lock() -> None:
    from profkit.session.manager import MANAGER

    lock, called = threading.Lock(), threading.Event()

    def wait(run) -> None:
        called.set()
        with lock:
            keep(run)

    profile(spin, label="waits", on_run=wait)(0.05)
    with lock:
        MANAGER.end_session()
        called.wait()
        child = os.fork()
        if not child:
            os._exit(0)
        os.waitpid(child, 0)
        work()  # the session that begins is ticked, too


def failing() -> None:
    def fail(run) -> None:
        raise ValueError(run.info.label)

    profile(spin, label="fails", on_run=fail)(0.05)
    work()


def measured() -> None:
    def length(items):
        return len(items)

    counted = profile(mode="timer", quick=True, runs=10, on_run=lambda run: got.append(run.info.label))(
        length
    )
    counted([1, 2])
    counted([1.0])


def print_all() -> None:
    print(json.dumps(got), flush=True)


if __name__ == "__main__":
    logging.basicConfig(format="%(message)s")
    import atexit

    atexit.register(print_all)  # before the first call: so it runs after the callbacks
    globals()[sys.argv[1]]()
