"""Work in the background, and waiting for it."""

from __future__ import annotations

import io
import threading
from concurrent.futures import Future

from profkit.clock import ManualClock
from profkit.measuring.api import wait
from profkit.measuring.batches import Background
from profkit.measuring.runner.progress import ProgressLine


def test_submitted_work_is_done_in_order_by_one_thread() -> None:
    background, seen = Background(), []
    futures = [background.submit(lambda n=n: seen.append((n, threading.get_ident()))) for n in range(5)]
    wait(futures)
    assert [n for n, _ in seen] == list(range(5))
    assert {ident for _, ident in seen}.isdisjoint({threading.get_ident()})


def test_errors_and_cancelled_work() -> None:
    background, gate = Background(), threading.Event()
    first = background.submit(gate.wait)
    second = background.submit(lambda: 1 / 0)
    third = background.submit(lambda: "never")
    assert third.cancel()
    gate.set()
    assert first.result() is True
    assert isinstance(second.exception(), ZeroDivisionError)
    assert third.cancelled()


def test_waiting_puts_results_in_the_place_of_futures() -> None:
    done: Future[object] = Future()
    done.set_result(3)
    scope: dict[str, object] = {"a": done, "b": "kept"}
    stream = io.StringIO()
    assert wait(scope, ProgressLine(stream, ManualClock())) == (3,)
    assert scope == {"a": 3, "b": "kept"}
    assert "1/1 · 0 s · a" in stream.getvalue()


def test_waiting_shows_progress_on_a_stream() -> None:
    stream, futures = io.StringIO(), [Future[int]() for _ in range(3)]
    for number, future in enumerate(futures):
        future.set_result(number)
    assert wait(futures, progress=stream) == (0, 1, 2)
    assert stream.getvalue().splitlines()[-1].startswith("profkit: 3/3")
