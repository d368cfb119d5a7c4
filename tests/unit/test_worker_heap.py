from __future__ import annotations

import gc
import os
import random

from profkit.measuring.worker.heap import fill_holes, start_pages

SMALL, LARGE = (10, 30, 100, 300), (600, 3000, 20_000)


def test_holes_are_filled_once() -> None:
    """In a child, whose heap is its own."""
    pid = os.fork()
    if pid == 0:
        holes = [bytearray(2000 + place) for place in range(2000)]
        del holes[::2]
        found = fill_holes()
        os._exit(0 if found > 900 and fill_holes() < 90 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def places(litter: int) -> str:
    """Return where, within their pools and pages, a child allocates after it has left some litter."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        gc.freeze()
        dice = random.Random(litter)
        kept = [bytes(dice.randrange(1, 9000)) for _ in range(litter)]
        del kept[::3]
        start_pages()
        small, large = [bytes(size) for size in SMALL], [bytes(size) for size in LARGE]
        offsets = [id(one) % 16384 for one in small] + [id(one) % 4096 for one in large]
        os.write(writer, repr(offsets).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as told:
        found = told.read()
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    return found


def test_what_is_allocated_later_lies_alike() -> None:
    assert len({places(litter) for litter in (0, 1, 7, 60, 500, 2000)}) == 1
