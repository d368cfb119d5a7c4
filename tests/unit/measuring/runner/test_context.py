"""Work that is spread over several workers."""

from __future__ import annotations

import threading

import pytest

from profkit.measuring.runner.context import spread


def test_one_worker_works_in_the_calling_thread() -> None:
    seen = []
    spread([1, 2], 1, lambda item, worker: seen.append((item, worker, threading.current_thread())), list)
    assert seen == [(1, 0, threading.main_thread()), (2, 0, threading.main_thread())]


def test_several_workers_have_numbers_of_their_own() -> None:
    both = threading.Barrier(2, timeout=10)
    seen = []

    def work(item: int, worker: int) -> None:
        seen.append((item, worker))
        both.wait()

    spread([1, 2], 2, work, list)
    assert sorted(worker for _, worker in seen) == [0, 1]


def test_what_a_worker_raises_stops_the_others() -> None:
    stopped = threading.Event()

    def work(item: int, _worker: int) -> None:
        if item == 0:
            raise KeyboardInterrupt
        stopped.wait(10)

    with pytest.raises(KeyboardInterrupt):
        spread(range(5), 2, work, stopped.set)
    assert stopped.is_set()
