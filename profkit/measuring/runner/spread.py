"""Work for several workers, side by side; one worker needs no thread."""

from __future__ import annotations

import queue
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

_T = TypeVar("_T")


def spread(
    items: Sequence[_T], workers: int, work: Callable[[_T, int], None], stop: Callable[[], None]
) -> None:
    """Call `work(item, worker)` for each item, with the number of a worker that is free.

    What a call raises is raised here after `stop`, which must make the calls that still run end soon.
    """
    if min(workers, len(items)) <= 1:
        for item in items:
            work(item, 0)
        return
    free: queue.SimpleQueue[int] = queue.SimpleQueue()
    for number in range(workers):
        free.put(number)

    def one(item: _T) -> None:
        number = free.get()
        try:
            work(item, number)
        finally:
            free.put(number)

    with ThreadPoolExecutor(workers, thread_name_prefix="profkit-measure") as threads:
        futures = [threads.submit(one, item) for item in items]
        try:
            for future in futures:
                future.result()
        except BaseException:
            _cancel(futures)
            stop()
            raise


def _cancel(futures: Sequence[Future[None]]) -> None:
    for future in futures:
        future.cancel()
