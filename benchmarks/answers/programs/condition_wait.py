"""Wait on a condition until a thread has received the next message."""

import socket
import threading
import time
from collections import deque

from benchmarks.answers import truth

ready = threading.Condition()
messages: deque[bytes] = deque()


def broker(connection: socket.socket) -> None:
    end_s = time.perf_counter() + truth.SECONDS
    while time.perf_counter() < end_s:
        time.sleep(0.06)
        connection.sendall(b"x" * 100)
    connection.sendall(b"end" + b"." * 97)
    truth.threads()


def receive(connection: socket.socket) -> None:
    while True:
        message = connection.recv(100, socket.MSG_WAITALL)
        with ready:
            messages.append(message)
            ready.notify()
        if message.startswith(b"end"):
            break


def next_message() -> bytes:
    with ready:
        while not messages:
            with truth.planted:
                ready.wait()  # PLANTED
        return messages.popleft()


ours, theirs = socket.socketpair()
threading.Thread(target=broker, args=(theirs,), name="broker").start()
threading.Thread(target=receive, args=(ours,), name="receiver").start()
size = 0
while not (message := next_message()).startswith(b"end"):
    size += len(message)
print(size, "bytes")
