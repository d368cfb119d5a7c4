"""Print keys that a thread derives from passwords."""

import hashlib
import threading
from queue import Queue
from time import perf_counter

from benchmarks.answers import truth

keys: Queue[bytes | None] = Queue(maxsize=4)


def derive() -> None:
    end_s, number = perf_counter() + truth.SECONDS, 0
    with truth.also:
        while perf_counter() < end_s:
            keys.put(hashlib.pbkdf2_hmac("sha256", b"%d" % number, b"salt", 40_000))  # ALSO
            number += 1
    truth.threads()
    keys.put(None)


def main() -> None:
    threading.Thread(target=derive, name="derive").start()
    received = []
    while True:
        with truth.planted:
            key = keys.get()  # PLANTED
        if key is None:
            break
        received.append(key[-1])
    print(len(received), "keys, xor", sum(received) % 256)


if __name__ == "__main__":
    main()
