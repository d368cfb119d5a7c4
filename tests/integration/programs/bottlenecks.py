"""Programs with a planted bottleneck: `bottlenecks.py SCENE` profiles one for about a second."""

from __future__ import annotations

import asyncio
import copy
import hashlib
import os
import pprint
import queue
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from profkit import profile

SECONDS = 0.8
WIDE = {"threads": True}
"""Options of scenes whose bottleneck is in other threads."""


def until_end(work: Callable[[], object], seconds: float = SECONDS) -> None:
    end_s = time.monotonic() + seconds
    while time.monotonic() < end_s:
        work()


def some_work() -> int:
    return sum(range(2000))


def crunch() -> int:
    total = 0
    for number in range(50_000):
        total += number
    return total


def cpu() -> None:
    until_end(lambda: (crunch(), some_work()))


def nap() -> None:
    time.sleep(0.05)


def sleep() -> None:
    until_end(lambda: (nap(), some_work()))


LOCK = threading.Lock()


def guarded() -> None:
    # Long enough that few samples see a thread with the stack of one moment and the state of another.
    with LOCK:
        for _ in range(20):
            crunch()
    time.sleep(0.001)  # else the same thread takes the lock again, before one that waits has woken


def lock() -> None:
    threads = [threading.Thread(target=until_end, args=(guarded,)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def gil() -> None:
    # Long enough for two observations of the process's CPU time, even if one is delayed.
    threads = [threading.Thread(target=until_end, args=(crunch, 4 * SECONDS)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def order(values: list[float]) -> list[float]:
    return sorted(values)


def c_call() -> None:
    values = [(number * 7919 % 100_003) / 3 for number in range(100_000)]
    until_end(lambda: order(values))


def fib(number: int) -> int:
    return number if number < 2 else fib(number - 1) + fib(number - 2)


def recursion() -> None:
    until_end(lambda: fib(17))


def render(rows: int) -> str:
    return pprint.pformat({str(row): [row] for row in range(rows)})


def pool() -> None:
    with ThreadPoolExecutor(8) as workers:
        until_end(lambda: (workers.submit(render, 2000), time.sleep(0.02)))


def load_plugins(folder: Path) -> None:
    (folder / "slow_plugin.py").write_text("total = 0\nfor number in range(20_000_000): total += number\n")
    sys.path.insert(0, str(folder))
    __import__("slow_plugin")


def imports() -> None:
    with tempfile.TemporaryDirectory() as folder:
        load_plugins(Path(folder))


def train(batches: queue.Queue[int]) -> None:
    for _ in range(16):
        batches.get()
        some_work()


def loader() -> None:
    batches: queue.Queue[int] = queue.Queue()

    def feed() -> None:
        for number in range(16):
            time.sleep(0.05)
            batches.put(number)

    threading.Thread(target=feed).start()
    train(batches)


def convert() -> None:
    subprocess.run(["sleep", "0.2"], check=True)


def child() -> None:
    until_end(convert)


def save(file: Path) -> None:
    with file.open("wb") as opened:
        opened.write(bytes(4 << 20))
        os.fsync(opened.fileno())


def disk() -> None:
    with tempfile.TemporaryDirectory() as folder:
        until_end(lambda: save(Path(folder) / "x"))


def parse() -> None:
    re.match(r"(a|aa)+$", "a" * 26 + "b")


def regex() -> None:
    until_end(parse)


class Model:
    @property
    def weight(self) -> int:
        return sum(number * number for number in range(20_000))


def attribute() -> None:
    model = Model()
    until_end(lambda: model.weight)


def rows() -> Iterator[int]:
    for number in range(200):
        yield sum(range(number, number + 2000))


def generator() -> None:
    until_end(lambda: sum(rows()))


async def fetch() -> None:
    time.sleep(0.05)  # blocks the loop


def event_loop() -> None:
    async def main() -> None:
        end_s = time.monotonic() + SECONDS
        while time.monotonic() < end_s:
            await asyncio.gather(fetch(), asyncio.sleep(0))

    asyncio.run(main())


def read_all(words: list[str]) -> int:
    found = 0
    for word in words:
        try:
            found += int(word)
        except ValueError:
            found -= 1
    return found


def exceptions() -> None:
    until_end(lambda: read_all(["x"] * 2000))


def serialize(document: object) -> str:
    return pprint.pformat(document)


def text() -> None:
    document = {str(row): [row] * 5 for row in range(2000)}
    until_end(lambda: serialize(document))


def snapshot(state: object) -> object:
    return copy.deepcopy(state)


def copies() -> None:
    state = {str(row): [row] * 5 for row in range(500)}
    until_end(lambda: snapshot(state))


def by_distance(value: int) -> float:
    return sum((value - other) ** 2 for other in range(20)) ** 0.5


def key() -> None:
    until_end(lambda: sorted(range(2000), key=by_distance))


def derive() -> bytes:
    return hashlib.pbkdf2_hmac("sha256", b"secret", b"salt", 100_000)


def hashing() -> None:
    until_end(derive)


if __name__ == "__main__":
    name = sys.argv[1]
    options = WIDE if name in ("lock", "gil", "pool") else {}
    profile(label=name, rate=200, **options)(globals()[name])()
