"""A program in a place where profkit cannot work as it would like to: `bad_places.py SCENARIO`.

Whatever happens to profkit, it prints "15 calls" and ends well.
"""

from __future__ import annotations

import os
import resource
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from spinning import spin

from profkit import profile, profiled


@profile(rate=200, label="work")
def work() -> int:
    spin(0.02)
    return 1


def calls(between: Callable[[], object] = lambda: None) -> None:
    """Functions, blocks and results, with something that happens in the midst of them."""
    total = 0
    for number in range(5):
        total += work()
        with profiled("block", rate=200):
            total += work()
        if number == 2:
            between()
        with profiled("block", rate=100 + number):
            total += work()
    print(total, "calls")


def limited(size: int) -> None:
    """Files end at a size, as on a disk that is full."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    calls()


def full() -> None:
    limited(0)


def full_after_the_manifest() -> None:
    limited(1300)


def full_after_some_samples() -> None:
    """There is room for everything but for the samples of a deep stack."""

    def deep(depth: int) -> int:
        return deep(depth - 1) if depth else spin(0.2)

    resource.setrlimit(resource.RLIMIT_FSIZE, (9500, 9500))
    profile(rate=100, blocking=False, label="deep")(deep)(950)
    calls()


def filled() -> None:
    calls(lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)))


def no_more_files() -> None:
    """No file can be opened any more, until the very end."""
    work()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    used = len(os.listdir("/proc/self/fd")) - 1
    resource.setrlimit(resource.RLIMIT_NOFILE, (used, hard))
    calls()
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def spool_removed() -> None:
    calls(lambda: shutil.rmtree(".profkit", ignore_errors=True))


def folder_removed() -> None:
    """The current folder is gone, and with it the spool."""
    calls(lambda: shutil.rmtree(os.getcwd()))


def elsewhere() -> None:
    """A change of folder moves nothing."""
    calls(lambda: os.chdir("/"))
    print(Path("/.profkit").exists())


def closed_files() -> None:
    """The standard files are closed, and their numbers taken by files of the program's own."""
    kept = os.dup(1)
    for number in (0, 1, 2):
        os.close(number)
    mine = [os.open("mine", os.O_RDWR | os.O_CREAT) for _ in range(3)]
    sys.stdout = os.fdopen(kept, "w")
    calls()
    print(mine, os.fstat(mine[0]).st_size, flush=True)


def no_environment() -> None:
    """No PATH, no HOME: py-spy is found beside the interpreter."""
    os.environ.clear()
    calls()


if __name__ == "__main__":
    globals()[sys.argv[1]]()
