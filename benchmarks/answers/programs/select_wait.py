"""Read a sensor that reports a few times a second, over a socket."""

import select
import socket
import threading
import time

from benchmarks.answers import truth


def sensor(connection: socket.socket) -> None:
    end_s = time.perf_counter() + truth.SECONDS
    with connection:
        while time.perf_counter() < end_s:
            time.sleep(0.04)
            connection.sendall(b"21.5 C\n")
        truth.threads()


def read_all(connection: socket.socket) -> float:
    readings: list[float] = []
    while True:
        with truth.planted:
            select.select([connection], [], [])  # PLANTED
        if not (data := connection.recv(4096)):
            return sum(readings) / len(readings)
        readings.extend(float(line.split()[0]) for line in data.splitlines())


ours, theirs = socket.socketpair()
threading.Thread(target=sensor, args=(theirs,), name="sensor").start()
print("mean:", read_all(ours))
