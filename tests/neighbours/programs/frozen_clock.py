"""Profiled functions while freezegun holds the clock still or moves it."""

from __future__ import annotations

import sys
import time

import freezegun
from colours import red

from profkit import profile, profiled


@profile(label="work", rate=100.0, blocking=True)
def work(number: int) -> int:
    red(0.02)
    return number


@profile(label="clock")
def clock() -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(time.time()))


def main(when: str) -> None:
    if when == "later":
        print(work(0))
    with freezegun.freeze_time("2001-02-03") as frozen:
        print([work(number) for number in range(10)], clock())
        frozen.tick(3600)
        with profiled("block"):
            print(clock(), time.time(), time.monotonic() == time.monotonic())
        frozen.move_to("1999-01-01")
        print(work(3), clock())
    print(work(4))


if __name__ == "__main__":
    main(sys.argv[1])
