"""Greenlets in profiled functions: `gevent_greenlets.py SCENE WHEN`; gevent patches first, late or never."""

from __future__ import annotations

import sys

WHEN = sys.argv[2]
if WHEN == "first":
    from gevent import monkey

    monkey.patch_all()

import time  # noqa: E402

import gevent  # noqa: E402
import gevent.pool  # noqa: E402
import gevent.queue  # noqa: E402
from colours import blue, green, red  # noqa: E402

from profkit import profile, profiled  # noqa: E402

if WHEN == "late":
    from gevent import monkey

    monkey.patch_all()

EXACT = {"rate": 100.0, "blocking": True}
pause = gevent.sleep if WHEN == "never" else time.sleep


@profile(label="red", **EXACT)
def first(rounds: int, pause_s: float = 0) -> int:
    for _ in range(rounds):
        red(0.005)
        pause(pause_s)
    return rounds


@profile(label="green", **EXACT)
def second(rounds: int) -> int:
    for _ in range(rounds):
        green(0.005)
        pause(0)
    return rounds


def plain(rounds: int) -> int:
    for _ in range(rounds):
        blue(0.005)
        pause(0)
    return rounds


def overlapping() -> None:
    """Greenlets of two regions and of none, which take turns within their calls."""
    jobs = [gevent.spawn(work, 20) for _ in range(4) for work in (first, second)]
    jobs.append(gevent.spawn(plain, 40))
    gevent.joinall(jobs)
    print([job.get() for job in jobs])


def default() -> None:
    """As people write it, with no options; the first call is made by a greenlet."""

    @profile
    def handler(number: int) -> int:
        time.sleep(0.01)
        red(0.01)
        return number

    print(gevent.pool.Pool(5).map(handler, range(20)))


def blocks() -> None:
    """Blocks that are open in several greenlets at once."""

    def in_block(label: str, work) -> str:
        with profiled(label, **EXACT):
            for _ in range(40):
                work(0.005)
                pause(0)
        return label

    def one() -> str:
        with profiled("one", **EXACT):
            for _ in range(40):
                red(0.005)
                pause(0)
        return "one"

    def two() -> str:
        with profiled("two", **EXACT):
            for _ in range(40):
                green(0.005)
                pause(0)
        return "two"

    jobs = [gevent.spawn(one), gevent.spawn(two), gevent.spawn(plain, 20)]
    gevent.joinall(jobs)
    print([job.get() for job in jobs])


def generators() -> None:
    """Generators whose items are taken in several greenlets."""

    @profile(label="items", **EXACT)
    def items(count: int):
        for number in range(count):
            red(0.005)
            yield number
            pause(0)

    def consume() -> int:
        total = 0
        for item in items(30):
            green(0.005)
            total += item
        return total

    jobs = [gevent.spawn(consume) for _ in range(2)]
    gevent.joinall(jobs)
    print([job.get() for job in jobs])


def killed() -> None:
    """Greenlets that end by a kill, a time-out or an error while they are in a region."""

    @profile(label="waits")
    def waits() -> str:
        try:
            gevent.sleep(60)
        finally:
            print("cleaned up")
        return "not reached"

    @profile(label="fails")
    def fails() -> None:
        gevent.sleep(0.01)
        raise ValueError("mine")

    victim = gevent.spawn(waits)
    gevent.sleep(0.1)
    victim.kill()
    print(victim.successful(), type(victim.value).__name__)
    try:
        with gevent.Timeout(0.1):
            waits()
    except gevent.Timeout as error:
        print("timed out", error.seconds)
    failing = gevent.spawn(fails)
    failing.join()
    print(type(failing.exception).__name__, failing.exception)
    print(first(2), second(2))


def children() -> None:
    """Processes of gevent's own kind, and its watcher of children, while a session runs."""
    import os
    import subprocess

    print(first(1))
    done = subprocess.run(
        [sys.executable, "-c", "print('child')"], capture_output=True, text=True, check=True
    )
    print(done.stdout.strip(), done.returncode)
    pid = os.fork()
    if pid == 0:
        os._exit(7)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    many = [gevent.spawn(subprocess.call, [sys.executable, "-c", f"raise SystemExit({n})"]) for n in range(3)]
    gevent.joinall(many)
    print([job.get() for job in many])
    print(first(1))


def threads() -> None:
    """Native threads of gevent's pool call the same regions as greenlets do."""
    pool = gevent.get_hub().threadpool
    native = [pool.spawn(second, 20) for _ in range(2)]
    own = gevent.spawn(first, 40)
    print([job.get() for job in native], own.get())


def sockets() -> None:
    """A server and its clients, all in one thread; each request is a region."""
    import socket

    from gevent.server import StreamServer

    @profile(label="request", **EXACT)
    def request(connection: socket.socket, _address: object) -> None:
        data = connection.recv(100)
        red(0.005)
        gevent.sleep(0.01)
        connection.sendall(data[::-1])
        connection.close()

    server = StreamServer(("127.0.0.1", 0), request)
    server.start()

    def ask(number: int) -> str:
        with socket.create_connection(("127.0.0.1", server.server_port)) as connection:
            connection.sendall(f"request {number}".encode())
            return connection.recv(100).decode()

    print(gevent.pool.Pool(8).map(ask, range(40)))
    server.stop()


if __name__ == "__main__":
    globals()[sys.argv[1]]()
