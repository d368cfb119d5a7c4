import io
import os
import sys
import threading
from concurrent.futures import Future

import pytest

from profkit.clock import ManualClock
from profkit.errors import UsageError
from profkit.measuring.api import Background, wait
from profkit.measuring.orders import work_order
from profkit.measuring.runner.context import spread
from profkit.measuring.runner.placement import CorePool, kind_of
from profkit.measuring.runner.progress import ProgressLine
from profkit.model.measurement import Preload, Tool


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_cores_are_lent_in_contiguous_blocks_first_fit() -> None:
    cores = CorePool([0, 1, 2, 5, 6])
    with cores.lend(2) as first, cores.lend(1) as second, cores.lend(2) as third:
        assert (first, second, third) == ((0, 1), (2,), (5, 6))
    with cores.lend(5) as all_of_them:
        assert all_of_them == (0, 1, 2, 5, 6)


def test_more_cores_than_there_are_is_an_error_and_no_endless_wait() -> None:
    with pytest.raises(UsageError, match="fewer threads"), CorePool([0, 1]).lend(3):
        pass


def test_cores_are_waited_for() -> None:
    cores, order = CorePool([0]), []

    def later() -> None:
        with cores.lend(1):
            order.append("later")

    with cores.lend(1):
        thread = threading.Thread(target=later)
        thread.start()
        order.append("first")
    thread.join()
    assert order == ["first", "later"]


def test_a_log_gets_whole_lines_and_not_one_for_each_step() -> None:
    stream, clock = io.StringIO(), ManualClock()
    line = ProgressLine(stream, clock)
    line.begin(10)
    for number in range(10):
        line.at_work(f"order {number}")
        clock.advance(1.0)
        line.done(f"order {number}")
    line.end()
    shown = stream.getvalue().splitlines()
    assert shown[0] == "profkit: 0/10 · 0 s · order 0"
    assert shown[-1] == "profkit: 10/10 · 10.0 s · order 9"
    assert len(shown) == 3
    assert "5/10 · 5.00 s · ETA 5.00 s" in shown[1]


def test_a_terminal_gets_one_line_that_is_drawn_over_and_gone_at_the_end() -> None:
    stream = Terminal()
    line = ProgressLine(stream, ManualClock())
    line.begin(1)
    line.at_work("x\x1b[31m" + "y" * 100)
    line.end()
    shown = stream.getvalue()
    assert "\n" not in shown
    assert shown.endswith("\r\x1b[K")
    assert "\x1b[31m" not in shown


def test_progress_that_nobody_reads_is_no_error() -> None:
    stream = io.StringIO()
    line = ProgressLine(stream, ManualClock())
    stream.close()
    line.begin(1)
    line.done("x")


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


def test_paths_of_interpreters_are_those_of_the_current_folder() -> None:
    def command(**options: object) -> tuple[str, ...]:
        return kind_of(work_order("pass", **options), Tool.NONE, Preload.NOTHING).command  # type: ignore[arg-type]

    here = os.getcwd()
    assert command() == (sys.executable,)
    assert command(python="python3.12") == ("python3.12",)
    assert command(python="./other/bin/python") == (f"{here}/other/bin/python",)
    assert command(source_cmd="./enter --here") == (f"{here}/enter", "--here", "python")
    assert command(source_cmd="env ./enter") == ("env", "./enter", "python")
