"""Spend the same number of seconds in functions of each kind: SAMPLER SECONDS."""

from __future__ import annotations

import encodings
import json
import os
import sys
import time
from collections.abc import Callable, Iterator

from profkit import profile

SAMPLER, SECONDS = sys.argv[1], float(sys.argv[2])


def busy(value: int = 0) -> int:
    for _ in range(5000):
        value += 1
    return value


class Work:
    def __init__(self) -> None:
        self.value = busy()

    def method(self) -> list[int]:
        return [busy(number) for number in range(5)]

    @classmethod
    def of_class(cls) -> set[int]:
        return {busy(number) for number in range(5)}


def makes() -> Work:
    return Work()


def calls_lambdas() -> list[int]:
    return [(lambda: busy(number))() for number in range(5)]


def steps() -> Iterator[int]:
    def items() -> Iterator[int]:
        for number in range(5):
            yield busy(number)

    for item in items():
        yield item + 1


def generates() -> int:
    last = 0
    for item in (busy(number) for number in steps()):
        last = item
    return last


def writes() -> str:
    return json.dumps({str(number): [number] for number in range(300)}, indent=1)


def walks() -> int:
    # Many files in one folder: for each folder, os.walk calls functions too short for CPython's reader.
    return len([path for path, _, _ in os.walk(os.path.dirname(encodings.__file__))])


KINDS: tuple[Callable[[], object], ...] = (
    makes, Work.of_class, calls_lambdas, generates, writes, walks,
)  # fmt: skip


@profile(label="kinds", sampler=SAMPLER, rate=500, blocking=SAMPLER == "pyspy")
def run() -> None:
    for kind in (*KINDS, makes().method):
        until_s = time.perf_counter() + SECONDS / (len(KINDS) + 1)
        while time.perf_counter() < until_s:
            kind()


run()
