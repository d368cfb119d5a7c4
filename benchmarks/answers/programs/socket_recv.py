"""Ask a slow server over TCP."""

import socket
import threading
import time

from benchmarks.answers import truth


def serve(listener: socket.socket) -> None:
    connection, _ = listener.accept()
    with connection:
        while connection.recv(100):
            time.sleep(0.07)
            connection.sendall(b"42\n")


def ask(connection: socket.socket, question: str) -> int:
    connection.sendall(question.encode() + b"\n")
    with truth.planted:
        answer = connection.recv(100)  # PLANTED
    return int(answer)


with socket.create_server(("127.0.0.1", 0)) as listener:
    threading.Thread(target=serve, args=(listener,), name="server").start()
    with socket.create_connection(listener.getsockname()) as connection:
        end_s, answers = time.perf_counter() + truth.SECONDS, list[int]()
        while time.perf_counter() < end_s:
            answers.append(ask(connection, f"question {len(answers)}"))
        truth.threads()
print(len(answers), "answers")
