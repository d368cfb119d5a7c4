"""How the heap is prepared, each in a process of its own: others have threads with heaps of their own."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.folders import ROOT

HOLES = """
from profkit.measuring.worker.heap import fill_holes

holes = [bytearray(2000 + place) for place in range(2000)]
del holes[::2]
print(fill_holes() > 900 * 2000, fill_holes() < 2000)
"""
CACHE = """
import random
from profkit.measuring.worker.heap import glibc_malloc
from profkit.measuring.worker.heap import fill_holes

malloc, sizes = glibc_malloc(), random.Random(3).choices(range(520, 1000, 16), k=300)
cached = [bytes(size - bytes.__basicsize__) for size in sizes]
cached.clear()
fill_holes()
end = malloc.address(5000)
print(all(end < (end := malloc.address(size)) for size in range(24, 1033, 16)))
"""
"""Prints whether chunks of all sizes that may be cached come from the end of the heap, one after another."""
POOLS = """
import random
from profkit.measuring.worker.heap import start_pages

def block(size):
    return bytes(size - bytes.__basicsize__)

def main():  # names of the module would enlarge its dictionary meanwhile, and free the old one
    litter = [block(size) for size in random.Random(5).choices(range(48, 513, 16), k=5000)]
    del litter[::3]
    start_pages()
    sizes = range(96, 513, 16)
    pairs = [(block(size), block(size)) for size in sizes]
    in_order = [id(second) - id(first) == size for size, (first, second) in zip(sizes, pairs)]
    starts = [id(first) % 16384 == 48 for first, second in pairs]
    print(all(in_order), sum(starts) > 20)

main()
"""
"""Prints whether objects of a size lie side by side, and mostly from the start of a pool."""
LITTER = """
import random, sys
from profkit.measuring.worker.heap import fill_arenas, start_pages

def main():
    dice, sizes = random.Random(7), range(1, 9000)
    kept = [bytes(size) for size in dice.choices(sizes, k=int(sys.argv[1]))]
    del kept[::3]
    fill_arenas()
    start_pages()
    small, large = [bytes(size) for size in (100, 300, 400)], [bytes(size) for size in (600, 3000, 20_000)]
    print([id(one) % 16384 for one in small], [id(one) % 4096 for one in large])

main()
"""
"""Prints where, in their pools and pages, small and large objects lie."""


@pytest.mark.gil
def test_holes_are_filled_once() -> None:
    assert printed(HOLES) == "True True"


def test_chunks_in_the_cache_are_filled_too() -> None:
    assert printed(CACHE) == "True"


@pytest.mark.gil
def test_small_objects_lie_in_new_pools_in_order() -> None:
    assert printed(POOLS) == "True True"


@pytest.mark.gil
def test_what_is_allocated_later_lies_alike() -> None:
    found = {printed(LITTER, litter) for litter in ("0", "7", "60", "2000")}
    assert len(found) == 1
    assert found.pop().startswith("[48, 48, 48] ")


@pytest.mark.gil
def test_other_allocators_are_left_alone() -> None:
    """In bounded time, and without a look at pools that are none."""
    assert printed("print('done')" + LITTER, "60", PYTHONMALLOC="malloc").startswith("done")


def printed(program: str, *arguments: str, **environ: str) -> str:
    argv = [sys.executable, "-c", program, *arguments]
    done = subprocess.run(
        argv, cwd=ROOT, capture_output=True, text=True, check=True, timeout=60, env=environ or None
    )
    return done.stdout.strip()
