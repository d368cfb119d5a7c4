from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from profkit.measuring.worker.heap import fill_holes

ROOT = Path(__file__).parents[2]
LITTER = """
import random, sys
from profkit.measuring.worker.heap import fill_arenas, start_pages

dice, sizes = random.Random(7), range(1, 9000)
kept = [bytes(size) for size in dice.choices(sizes, k=int(sys.argv[1]))]
del kept[::3]
fill_arenas()
start_pages()
small, large = [bytes(size) for size in (100, 300, 400)], [bytes(size) for size in (600, 3000, 20_000)]
print([id(one) % 16384 for one in small], [id(one) % 4096 for one in large])
"""
"""Prints where, in their pools and pages, small and large objects lie."""


def test_holes_are_filled_once() -> None:
    """In a child, whose heap is its own."""
    pid = os.fork()
    if pid == 0:
        holes = [bytearray(2000 + place) for place in range(2000)]
        del holes[::2]
        found = fill_holes()
        os._exit(0 if found > 900 and fill_holes() < 90 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def test_what_is_allocated_later_lies_alike() -> None:
    found = {
        subprocess.run(
            [sys.executable, "-c", LITTER, litter], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout
        for litter in ("0", "7", "60", "2000")
    }
    assert len(found) == 1
    assert found.pop().startswith("[48, 48, 48] ")
