"""Collect what several slow clients send."""

import selectors
import socket
import threading
import time

from benchmarks.answers import truth

CLIENTS = 3


def client(connection: socket.socket, pause_s: float) -> None:
    end_s = time.perf_counter() + truth.SECONDS
    with connection:
        while time.perf_counter() < end_s:
            time.sleep(pause_s)
            connection.sendall(b"ping\n")
        truth.threads()


def collect(selector: selectors.BaseSelector) -> int:
    received, still_open = 0, CLIENTS
    while still_open:
        with truth.planted:
            ready = selector.select(timeout=5)  # PLANTED
        for key, _ in ready:
            data = key.data.recv(1024)
            received += len(data)
            if not data:
                selector.unregister(key.data)
                still_open -= 1
    return received


with selectors.DefaultSelector() as selector:
    for number in range(CLIENTS):
        ours, theirs = socket.socketpair()
        selector.register(ours, selectors.EVENT_READ, ours)
        threading.Thread(target=client, args=(theirs, 0.05 + 0.01 * number), name=f"client-{number}").start()
    print(collect(selector), "bytes")
