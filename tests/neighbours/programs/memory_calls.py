"""Calls whose memory is tracked; each allocates and leaves known amounts."""

from __future__ import annotations

import sys
import threading

import profkit

MB = 1_000_000
KEPT: list[object] = []


def temporary(size: int) -> bytearray:
    return bytearray(size)


def result(size: int) -> bytearray:
    return bytearray(size)


def in_thread(size: int) -> None:
    worker = threading.Thread(target=lambda: KEPT.append(temporary(size)), name="loader")
    worker.start()
    worker.join()


@profkit.profile(mode="memory")
def load(size: int) -> bytearray:
    """Hold 5 sizes at the peak, and leave one."""
    first = temporary(4 * size)
    second = result(size)
    del first
    for _ in range(100):
        temporary(size // 1000)
    return second


@profkit.profile(mode="memory", python_allocators=True)
def objects(count: int) -> list[str]:
    return [str(number) * 10 for number in range(count)]


@profkit.profile(mode="memory")
def threaded(size: int) -> None:
    in_thread(size)


@profkit.profile(mode="memory")
def failing() -> None:
    KEPT.append(temporary(3 * MB))
    raise KeyError("as before")


def block() -> None:
    with profkit.profiled("block", mode="memory"):
        KEPT.append(result(7 * MB))


def main() -> None:
    KEPT.extend([load(10 * MB), load(2 * MB)])
    objects(20_000)
    threaded(6 * MB)
    try:
        failing()
    except KeyError as error:
        print("raised", error)
    block()
    print("done", len(KEPT))
    sys.exit(4)


if __name__ == "__main__":
    main()
