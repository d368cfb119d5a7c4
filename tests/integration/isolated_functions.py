"""Functions that workers call; workers import this module anew for each call, so it imports little."""

from __future__ import annotations

import os
import time
from pathlib import Path


class Lost(Exception):
    def __init__(self, where: str) -> None:
        super().__init__(where)
        self.where, self.times = where, 0


class Unreadable(Exception):
    def __init__(self, one: int, two: int) -> None:
        super().__init__("neither of them")


class Point:
    def __init__(self, x: int) -> None:
        self.x = x


class Forgetful:
    def __reduce__(self) -> tuple[object, ...]:
        return int, ("not a number",)


def add(a: int, b: int = 1) -> int:
    print(f"adding {a}")
    return a + b


def fail(error: BaseException) -> None:
    print("failing")
    raise error


def lose() -> None:
    error = Lost("sock")
    error.times = 2
    raise error


def unreadable() -> None:
    raise Unreadable(1, 2)


async def later(value: int) -> int:
    import asyncio

    await asyncio.sleep(0.001)
    return value


def family(seconds: float) -> None:
    from tests.integration.pool_jobs import FAMILY

    exec(FAMILY, {})
    time.sleep(seconds)


def pids() -> tuple[int, int]:
    return os.getpid(), os.getppid()


def together(number: int) -> int:
    """Return when as many calls run as there are workers."""
    folder = Path(os.environ["TOGETHER"])
    (folder / str(number)).touch()
    while len(list(folder.iterdir())) < 2:
        time.sleep(0.001)
    return number


def tries(path: Path, good: int) -> int:
    with path.open("a") as file:
        file.write("x")
    number = len(path.read_text())
    if number < good:
        os._exit(1)
    return number


def draw() -> float:
    import numpy

    return float(numpy.random.random())
