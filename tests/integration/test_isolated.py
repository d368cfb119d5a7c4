"""Isolated calls with real workers: results, errors, options, cancelling, executors, asyncio."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import io
import itertools
import os
import signal
import sys
import threading
import time
import uuid
from pathlib import Path

import psutil
import pytest

import profkit
from profkit import isolated, measure
from profkit.errors import CannotTravel, UsageError
from profkit.isolated import (
    CannotReturn,
    MemoryExceeded,
    PythonTooOld,
    WorkerDied,
    WorkerFailed,
    WorkerTimeout,
)
from profkit.measuring.pool.pool import process_pool
from profkit.measuring.worker.processes import descendants
from tests.integration.isolated_functions import (
    Forgetful,
    Lost,
    Point,
    add,
    draw,
    fail,
    family,
    later,
    lose,
    pids,
    together,
    tries,
    unreadable,
)
from tests.integration.pool_jobs import FAMILY_SIZE
from tests.integration.test_pool import OLD_PYTHON
from tests.support.waiting import until

ROOT = Path(__file__).parents[2]


def left() -> set[int]:
    """Processes of calls: all that a supervisor has below it, but for the zygote."""
    found: set[int] = set()
    for zygote in process_pool().zygotes():
        with contextlib.suppress(psutil.NoSuchProcess):
            below = descendants(psutil.Process(zygote.pid).ppid()) - {zygote.pid}
            found |= {pid for pid in below if psutil.Process(pid).status() != psutil.STATUS_ZOMBIE}
    return found


def test_a_result_and_what_was_printed() -> None:
    future = isolated.submit(add, 2, kwargs={"b": 3})
    assert future.result(60) == 5
    assert future.output == "adding 2\n"
    assert future.label == "add"
    assert isolated.call(add, 1) == 2


def test_each_call_has_a_process_of_its_own_and_neighbours_share_a_zygote() -> None:
    calls = [isolated.call(pids) for _ in range(4)]
    assert len({pid for pid, _ in calls}) == 4
    assert len({parent for _, parent in calls}) == 1


def test_a_coroutine_function_is_awaited() -> None:
    assert isolated.call(later, 7) == 7


def test_functions_of_a_program_travel_by_value() -> None:
    factor = 3
    point = isolated.call(lambda x: Point(x * factor), 2)
    assert type(point) is Point
    assert point.x == 6


def test_arrays_come_back_and_can_be_written_to() -> None:
    import numpy  # as a global it would be preloaded for every call of this module

    array = isolated.call(numpy.arange, 1 << 20)
    array[0] = 5
    assert array[:3].tolist() == [5, 1, 2]
    both = isolated.call(
        lambda: [numpy.ones(3), numpy.zeros((2, 2), order="F")[::1], {"empty": numpy.ones(0)}]
    )
    assert both[0].sum() == 3
    assert both[2]["empty"].size == 0


@pytest.mark.parametrize(
    "error", [KeyError("missing"), OSError(2, "no"), UnicodeDecodeError("a", b"", 0, 1, "b")]
)
def test_an_exception_is_raised_as_itself(error: Exception) -> None:
    future = isolated.submit(fail, error)
    with pytest.raises(type(error)) as caught:
        future.result(60)
    assert caught.value.args == error.args
    cause = caught.value.__cause__
    assert isinstance(cause, WorkerFailed)
    assert "in fail" in cause.trace
    assert "/worker/" not in cause.trace
    assert cause.output == future.output == "failing\n"


def test_an_exception_of_the_program_is_raised_as_itself() -> None:
    with pytest.raises(Lost) as caught:
        isolated.call(lose)
    assert (caught.value.where, caught.value.times) == ("sock", 2)


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt(), StopIteration(1), GeneratorExit()])
def test_what_would_end_the_caller_is_an_error_of_the_worker(error: BaseException) -> None:
    with pytest.raises(WorkerFailed, match=type(error).__name__):
        isolated.call(fail, error)


def test_an_exception_that_cannot_be_read_again_is_its_traceback() -> None:
    with pytest.raises(WorkerFailed, match="neither of them"):
        isolated.call(unreadable)


def test_what_cannot_come_back() -> None:
    with pytest.raises(CannotReturn, match="of type 'generator'") as caught:
        isolated.call(lambda: (x for x in ()))
    assert caught.value.kind == "generator"
    with pytest.raises(isolated.ResultUnreadable, match="not a number"):
        isolated.call(lambda: Forgetful())
    with pytest.raises(CannotReturn, match="larger than 1024 MB"):
        isolated.call(bytes, (1 << 30) + 1)


def test_what_cannot_travel_is_refused_at_once() -> None:
    with pytest.raises(CannotTravel, match=r"lock.*; create it in the function"):
        isolated.submit(add, threading.Lock())


def test_options_that_make_no_sense() -> None:
    with pytest.raises(UsageError, match=r"no option 'b'; keyword arguments of the function go in kwargs"):
        isolated.submit(add, 1, b=2)  # type: ignore[call-arg]
    for options in ({"timeout_s": 0}, {"retries": -1}, {"cores": [4096]}, {"memory_limit_bytes": 0}):
        with pytest.raises(UsageError, match=next(iter(options))):
            isolated.submit(add, 1, **options)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="max_workers"):
        isolated.Executor(0)


def test_a_time_out_shows_where_it_was_and_what_was_started_is_gone() -> None:
    with pytest.raises(WorkerTimeout, match=r"within 0\.5 s") as caught:
        isolated.call(family, 600, timeout_s=0.5)
    assert "in family" in caught.value.output
    assert not left()


def test_a_memory_limit() -> None:
    with pytest.raises(MemoryExceeded, match=r"limit of 64\.0 MiB"):
        isolated.call(lambda: [b"x" * (1 << 20) for _ in range(4096)], memory_limit_bytes=64 << 20)


def test_crashes_are_errors() -> None:
    with pytest.raises(WorkerDied, match="SIGSEGV"):
        isolated.call(lambda: os.kill(os.getpid(), signal.SIGSEGV))
    with pytest.raises(WorkerDied, match="status 3"):
        isolated.call(os._exit, 3)


def test_retries_are_for_death_and_time_outs(tmp_path: Path) -> None:
    with pytest.raises(WorkerDied):
        isolated.call(tries, tmp_path / "none", 2)
    assert (tmp_path / "none").read_text() == "x"
    assert isolated.call(tries, tmp_path / "two", 3, retries=2) == 3
    with pytest.raises(WorkerDied):
        isolated.call(tries, tmp_path / "few", 9, retries=2)
    assert (tmp_path / "few").read_text() == "xxx"
    with pytest.raises(WorkerTimeout, match="in 2 tries"):
        isolated.call(time.sleep, 600, timeout_s=0.2, retries=1)

    def raising(path: Path) -> None:
        path.open("a").write("x")
        raise ValueError

    with pytest.raises(ValueError, match=r"^$"):
        isolated.call(raising, tmp_path / "raising", retries=3)
    assert (tmp_path / "raising").read_text() == "x"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_call_is_never_repeated_unasked(tmp_path: Path, number: int) -> None:
    def end_zygote() -> None:
        (tmp_path / "tries").open("a").write("x")
        os.kill(os.getppid(), number)
        time.sleep(600)

    with pytest.raises(WorkerDied, match="was ended with its zygote, which was"):
        isolated.call(end_zygote)
    assert (tmp_path / "tries").read_text() == "x"
    assert isolated.call(add, 1) == 2


def test_a_running_call_can_be_cancelled_with_all_it_started() -> None:
    future = isolated.submit(family, 600.0)
    until(lambda: len(left()) == 1 + FAMILY_SIZE)
    assert future.running()
    assert future.cancel()
    with pytest.raises(concurrent.futures.CancelledError):
        future.result(60)
    assert not left()
    assert future.cancelled()
    assert future.cancel()


def test_a_waiting_call_can_be_cancelled_and_a_finished_one_not() -> None:
    with isolated.Executor(1) as executor:
        first = executor.submit(time.sleep, 0.3)
        second = executor.submit(add, 1)
        assert second.cancel()
        assert second.cancelled()
        first.result(60)
        assert not first.cancel()
        done, _ = concurrent.futures.wait([first, second], 60)
        assert done == {first, second}


def test_cancelling_at_any_moment_settles_the_future() -> None:
    for delay_s in (0, 0.001, 0.004, 0.008, 0.016, 0.03):
        future = isolated.submit(time.sleep, 0.01)
        time.sleep(delay_s)
        if future.cancel():
            with pytest.raises(concurrent.futures.CancelledError):
                future.result(60)
        else:
            assert future.result(60) is None
    assert isolated.call(add, 1) == 2


def test_an_interrupted_call_is_ended() -> None:
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        isolated.call(family, 600.0)
    until(lambda: not left())


def test_calls_run_side_by_side(tmp_path: Path) -> None:
    with isolated.Executor(2, env={"TOGETHER": str(tmp_path)}, timeout_s=60) as executor:
        assert list(executor.map(together, range(2))) == [0, 1]


def test_an_executor_does_no_more_than_its_workers_at_a_time() -> None:
    def span() -> tuple[float, float]:
        begun = time.monotonic()
        time.sleep(0.02)
        return begun, time.monotonic()

    with isolated.Executor(1) as executor:
        spans = sorted(future.result(60) for future in [executor.submit(span) for _ in range(5)])
    assert all(end <= begin for (_, end), (begin, _) in itertools.pairwise(spans))


def test_an_executor_gives_keyword_arguments_to_the_function() -> None:
    with isolated.Executor(2) as executor:
        assert executor.submit(add, 1, b=5).result(60) == 6
        assert list(executor.map(add, range(20))) == list(range(1, 21))
        assert len(list(concurrent.futures.as_completed(executor.submit(add, n) for n in range(5)))) == 5
    with pytest.raises(RuntimeError, match="after shutdown"):
        executor.submit(add, 1)


def test_shutdown_cancels_what_waits() -> None:
    executor = isolated.Executor(1)
    running, *waiting = [executor.submit(time.sleep, 0.2) for _ in range(4)]
    until(running.running)
    executor.shutdown(cancel_futures=True)
    assert running.result(0) is None
    assert all(future.cancelled() for future in waiting)


def test_more_calls_than_descriptors_can_wait() -> None:
    future = isolated.submit(time.sleep, 0.3)
    before = len(os.listdir("/proc/self/fd"))
    waiting = [isolated.submit(add, n) for n in range(200)]
    assert len(os.listdir("/proc/self/fd")) < before + 50
    assert future.result(60) is None
    assert [each.result(60) for each in waiting] == list(range(1, 201))


def test_calls_do_not_draw_the_same_random_numbers() -> None:
    assert len({isolated.call(draw, imports=["numpy.random"]) for _ in range(3)}) == 3


@pytest.mark.slow
def test_many_calls_leave_nothing_behind() -> None:
    import numpy

    def odd(number: int) -> object:
        if number % 5 == 0:
            raise ValueError(number)
        if number % 7 == 0:
            os._exit(1)
        return numpy.ones(1000)

    def state(kept: list[object]) -> tuple[int, int]:
        with isolated.Executor(2) as executor:
            futures = [executor.submit(odd, number) for number in range(40)]
            for future in futures[::6]:
                future.cancel()
        kept += [future.result() for future in futures if not future.cancelled() and not future.exception()]
        return len(os.listdir("/proc/self/fd")), threading.active_count()

    kept: list[object] = []
    first = state(kept)
    assert [state(kept) for _ in range(2)] == [first, first]
    assert len(kept) > 40


def test_asyncio() -> None:
    async def main() -> None:
        assert await isolated.acall(add, 1) == 2
        assert await asyncio.gather(*(isolated.submit(add, n) for n in range(5))) == [1, 2, 3, 4, 5]
        with pytest.raises(KeyError):
            await isolated.acall(fail, KeyError("no"))
        with isolated.Executor(1) as executor:
            assert await asyncio.get_running_loop().run_in_executor(executor, add, 3) == 4
        task = asyncio.create_task(isolated.acall(family, 600.0))
        while len(left()) < 1 + FAMILY_SIZE:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not left()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(isolated.acall(time.sleep, 600.0), 0.2)

    asyncio.run(main())


def test_progress_goes_to_a_stream() -> None:
    stream = io.StringIO()
    assert profkit.wait([isolated.submit(add, n) for n in range(3)], progress=stream) == (1, 2, 3)
    assert "3/3" in stream.getvalue()
    scope = {"sum": isolated.submit(add, 1)}
    isolated.wait(scope, progress=stream)  # type: ignore[arg-type]
    assert scope == {"sum": 2}


def test_the_environment_of_a_call(tmp_path: Path) -> None:
    assert isolated.call(os.getenv, "GIVEN", env={"GIVEN": "yes"}) == "yes"
    assert isolated.call(os.getcwd) == os.getcwd()
    core = min(os.sched_getaffinity(0))
    assert isolated.call(os.sched_getaffinity, 0, cores=[core]) == {core}
    threads = isolated.call(os.getenv, "OMP_NUM_THREADS", num_threads=3)
    assert threads == "3"


def test_modules_are_imported_ahead() -> None:
    assert not isolated.call(lambda: "xml.dom" in sys.modules)
    assert isolated.call(lambda: "xml.dom" in sys.modules, imports=["xml.dom"])


def test_warmed_zygotes_are_used() -> None:
    env = {"OMP_SCHEDULE": uuid.uuid4().hex}
    isolated.warm_pool(2, env=env)

    def ready() -> list[int]:
        found = [zygote for zygote in process_pool().zygotes() if zygote.kind.calls]
        return [zygote.pid for zygote in found if env.items() <= dict(zygote.kind.env).items()]

    until(lambda: len(ready()) == 2)
    assert isolated.call(pids, env=env)[1] in ready()


def test_zygotes_are_bounded_in_number() -> None:
    def living() -> int:
        return sum(zygote.kind.calls for zygote in process_pool().zygotes())

    most = len(os.sched_getaffinity(0)) + 4
    for number in range(most + 3):
        isolated.call(add, 1, env={"OMP_SCHEDULE": str(number)})
        assert living() <= most
    assert living() > 1


@pytest.fixture
def other_python(tmp_path: Path) -> str:
    """Another interpreter, as far as its path says."""
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    return str(python)


def test_plain_data_comes_from_another_interpreter(other_python: str) -> None:
    def values() -> list[object]:
        import datetime
        import decimal

        when = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
        return [1, 2.5, "text", b"bytes", {"a": [None, True]}, {1, 2}, when, decimal.Decimal("0.1"), 3j]

    assert isolated.call(values, python=other_python) == values()
    with pytest.raises(KeyError, match="missing"):
        isolated.call(fail, KeyError("missing"), python=other_python, path=[ROOT])


def test_objects_do_not_come_from_another_interpreter(other_python: str, tmp_path: Path) -> None:
    def evil(path: str) -> object:
        class Evil:
            def __reduce__(self) -> tuple[object, ...]:
                return os.mkdir, (path,)

        return Evil()

    for function, argument in ((evil, str(tmp_path / "made")), (Point, 1), (getattr, os)):
        arguments = (argument, "system") if function is getattr else (argument,)
        with pytest.raises(CannotReturn, match="only plain data"):
            isolated.call(function, *arguments, python=other_python, path=[ROOT])
    assert not (tmp_path / "made").exists()
    with pytest.raises(WorkerFailed, match="Lost"):
        isolated.call(lose, python=other_python, path=[ROOT])


def test_a_python_that_is_too_old(tmp_path: Path) -> None:
    old = tmp_path / "python3.9"
    old.write_text(OLD_PYTHON.format(python=sys.executable))
    old.chmod(0o755)
    with pytest.raises(PythonTooOld, match=r"python3\.9 is 3\.9\.2"):
        isolated.call(add, 1, python=old)


def test_code_does_not_go_to_another_version_of_python(tmp_path: Path) -> None:
    newer = tmp_path / "python3.99"
    text = OLD_PYTHON.format(python=sys.executable).replace("(3, 9, 2,", "(3, 99, 0,")
    newer.write_text(text.replace("del typing.NotRequired\n", ""))
    newer.chmod(0o755)
    assert isolated.call(abs, -1, python=newer) == 1
    assert isolated.call(add, 1, python=newer, path=[ROOT]) == 2
    refusal = r"code of Python 3\.\d+, but this is Python 3\.99; .* can import"
    with pytest.raises(WorkerFailed, match=refusal):
        isolated.call(lambda: 1, python=newer)
    assert measure(abs, args=(-1,), python=str(newer), quick=True, keep=False).timing is not None
    with pytest.raises(WorkerFailed, match=refusal):
        measure(lambda: 1, python=str(newer), quick=True, keep=False)


@pytest.mark.parametrize("words", [b"", b"nonsense", b"\0" * 64])
def test_a_result_that_makes_no_sense(words: bytes) -> None:
    def overwrite() -> None:
        class Late:
            """Flushed when the result is written."""

            def flush(self) -> None:
                for name in range(3, 64):
                    with contextlib.suppress(OSError):
                        if "profkit-result" in os.readlink(f"/proc/self/fd/{name}"):
                            os.ftruncate(name, 0)
                            os.pwrite(name, words, 0)

        sys.stdout = Late()  # type: ignore[assignment]

    with pytest.raises(isolated.WorkerError, match="cannot be read"):
        isolated.call(overwrite)


def test_a_forked_child_has_calls_of_its_own() -> None:
    waiting = isolated.submit(time.sleep, 1.0)
    pid = os.fork()
    if pid == 0:
        try:
            signal.alarm(60)
            os._exit(0 if isolated.call(add, 1) == 2 else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert waiting.result(60) is None


def test_a_forked_child_does_not_wait_for_an_executors_calls() -> None:
    with isolated.Executor(1) as executor:
        future = executor.submit(time.sleep, 30)
        pid = os.fork()
        if pid == 0:
            signal.alarm(10)
            executor.shutdown()
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        future.cancel()


def test_calls_may_call() -> None:
    assert isolated.call(isolated.call, add, 1) == 2
