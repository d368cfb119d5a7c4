"""Threads of files that don't tell them apart, numbered so that each has its own samples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from profkit.model.profile import Thread


def distinct_threads(threads: Iterable[Thread]) -> Iterator[Thread]:
    """Return each thread with the first free id that is not below its own."""
    following: dict[Thread, Thread] = {}
    for thread in threads:
        free, passed = thread, []
        while (after := following.get(free)) is not None:
            passed.append(free)
            free = after
        after = free._replace(tid=free.tid + 1)
        # The next thread of this name starts here: n equal names take n steps, not n².
        following.update(dict.fromkeys((*passed, free), after))
        yield free
