"""Functions under a measuring mode: called once each, and measured later, once for each signature."""

from __future__ import annotations

import asyncio
import contextlib
import enum
import gc
import logging
import os
import signal
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from profkit.calls.wrapper import decorated
from profkit.clock import ManualClock
from profkit.errors import InternalError, ZygoteFailed
from profkit.measuring.decorated import backlog
from profkit.measuring.decorated.backlog import Backlog
from profkit.measuring.decorated.calls import MAX_SIGNATURES, MAX_VALUES
from profkit.measuring.decorated.importlib_bootstrap.markers import marker_of
from profkit.measuring.decorated.options import plan_of
from profkit.measuring.decorated.watch import Watch
from profkit.measuring.transfer.payload import Payload
from profkit.measuring.worker.unpack import unpack
from profkit.model.measurement import MeasuredInfo, MeasuredRun, OrderInfo, WarningCode
from profkit.model.notes import NoteCode
from profkit.model.workorder import WorkOrder
from tests.support.example_runs import PROCESS


def run_of(order: WorkOrder, what: str) -> MeasuredRun:
    info = OrderInfo(
        order.label, what, "", "", order.mode, order.language, order.level, order.num_threads, order.quick
    )
    return MeasuredRun(MeasuredInfo("0", "b", 0, 0.0, PROCESS, info))


class Laboratory:
    """Measures by calling what was packed, at once."""

    def __init__(self) -> None:
        self.calls = True
        """Not for methods: unpacked where it was packed, a class becomes what was unpacked."""
        self.orders: list[WorkOrder] = []
        self.values: list[object] = []
        self.kept: list[MeasuredRun] = []
        self.gate = threading.Event()
        self.gate.set()
        self.error: Exception | None = None

    def measure(self, order: WorkOrder, payload: Payload) -> MeasuredRun:
        self.gate.wait()
        self.orders.append(order)
        if self.error is not None:
            raise self.error
        if self.calls:
            function, args, kwargs = unpack(payload.fd)
            value = function(*args, **kwargs)
            self.values.append(asyncio.run(value) if payload.coroutine else value)
        return run_of(order, payload.what)

    def keep(self, run: MeasuredRun) -> None:
        self.kept.append(run)

    @property
    def labels(self) -> list[str]:
        return [order.label for order in self.orders]


class BatchContext:
    """A backlog of its own, on a clock that stands still."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.backlog = Backlog(self.clock)
        self.laboratory = Laboratory()

    def watch(self, function: Any, mode: str = "timer", **options: Any) -> Watch:
        plan, laboratory = plan_of(function, mode, options), self.laboratory
        return Watch(plan, self.backlog, laboratory.measure, laboratory.keep)

    def measured(self, function: Any, mode: str = "timer", **options: Any) -> Any:
        return watched(self.watch(function, mode, **options), function)

    def numbers(self, *calls: object, **options: Any) -> Any:
        """Return a measured function that returns its argument, after these calls."""

        def function(n: object) -> object:
            return n

        measured = self.measured(function, **options)
        for call in calls:
            assert measured(call) is call
        return measured


def watched(watch: Watch, function: Any) -> Any:
    return decorated(function, marker_of(watch, function), watch.runs, watch.note_traced)  # type: ignore[arg-type]


@pytest.fixture
def context() -> Iterator[BatchContext]:
    made = BatchContext()
    yield made
    made.laboratory.gate.set()
    made.backlog.drop()


def test_a_call_is_made_once_and_measured_later(context: BatchContext) -> None:
    calls = []

    @context.measured
    def add(x: int, y: int = 2) -> int:
        calls.append((x, y))
        return x + y

    assert add(1) == 3
    assert calls == [(1, 2)]
    assert context.laboratory.labels == []
    assert [run.info.label for run in add.runs] == ["test_a_call_is_made_once_and_measured_later.add(1)"]
    assert add.last_run.info.order.what == f"{__name__}:{add.last_run.info.label}"
    assert calls == [(1, 2)]
    assert context.laboratory.values == [3]


def test_once_for_each_signature(context: BatchContext) -> None:
    @context.measured
    def size(thing: object, *, key: int = 0) -> int:
        return key

    for thing in ([1, 2], [3, 4], (1, 2), 5, 5, 6):
        size(thing)
    size(5, key=1)
    assert len(size.runs) == 5
    size([7, 8])
    assert len(size.runs) == 5


def test_arguments_are_measured_as_they_were(context: BatchContext) -> None:
    @context.measured
    def drain(items: list[int]) -> int:
        total = sum(items)
        items.clear()
        return total

    items = [1, 2, 3]
    assert drain(items) == 6
    assert items == []
    assert len(drain.runs) == 1
    assert context.laboratory.values == [6]


def test_a_loop_over_numbers_is_a_few_signatures(
    context: BatchContext, caplog: pytest.LogCaptureFixture
) -> None:
    work = context.numbers(*range(100))
    assert [run.info.label[-3:] for run in work.runs] == ["(0)", "(1)", "(2)", "(3)"]
    assert "kinds of arguments: further" not in caplog.text


@pytest.mark.parametrize("most", [None, 50, 2])
def test_kinds_of_arguments_are_limited(
    context: BatchContext, caplog: pytest.LogCaptureFixture, most: int | None
) -> None:
    kinds = enum.Enum("Kinds", [f"kind_{n}" for n in range(60)])
    assert len(context.numbers(*kinds, max_signatures=most).runs) == (most or MAX_SIGNATURES)
    assert caplog.text.count(f"more than {most or 32} kinds of arguments") == 1


class TestHowOftenItWillRun:
    """A function runs many times more than it is called, which its files and servers will see."""

    def test_it_is_said_once_at_the_first_call_and_nothing_else(
        self, context: BatchContext, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.DEBUG)
        work = context.numbers()
        assert caplog.records == []
        assert work(1) == 1
        (record,) = caplog.records
        assert (record.name, record.levelname) == ("profkit", "WARNING")
        line = record.getMessage()
        assert line.startswith("BatchContext.numbers.function will be run ")
        assert "for each kind of arguments (at most 32)" in line
        assert line.endswith("limit this with runs= and max_signatures=")
        work(2)
        assert len(work.runs) == 2
        assert caplog.records == [record]

    def test_a_limit_is_not_warned_of(self, context: BatchContext, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(logging.INFO, "profkit")

        def function() -> None: ...

        context.measured(function, runs=3, max_signatures=1)()
        assert [record.levelname for record in caplog.records] == ["INFO"]
        assert (
            "will be run at most 3 times in other processes for each kind of arguments (at most 1)"
            in caplog.text
        )

    def test_nothing_is_said_of_what_stays_here(
        self, context: BatchContext, caplog: pytest.LogCaptureFixture
    ) -> None:
        context.numbers(threading.Lock())
        assert " in other processes " not in caplog.text

    def test_nor_of_a_call_that_raised(self, context: BatchContext, caplog: pytest.LogCaptureFixture) -> None:
        @context.measured
        def fail() -> None:
            raise ValueError("mine")

        with pytest.raises(ValueError, match="mine"):
            fail()
        assert " in other processes " not in caplog.text


class TestCallsThatRaise:
    def test_they_are_not_measured(self, context: BatchContext) -> None:
        @context.measured
        def fail(how: type[BaseException]) -> None:
            raise how

        for how in (ValueError, KeyboardInterrupt, SystemExit):
            with pytest.raises(how):
                fail(how)
        assert fail.runs == ()
        assert fail.last_run is None

    def test_a_later_one_of_the_same_signature_is(self, context: BatchContext) -> None:
        answers = iter([ValueError(), 7])

        @context.measured
        def moody() -> int:
            answer = next(answers, 8)
            if isinstance(answer, Exception):
                raise answer
            return answer

        with pytest.raises(ValueError):  # noqa: PT011
            moody()
        assert moody() == 7

    def test_wrong_arguments(self, context: BatchContext) -> None:
        gc.collect()
        before = len(os.listdir("/proc/self/fd"))

        @context.measured
        async def one(x: int) -> int:
            return x

        for _ in range(3):
            with pytest.raises(TypeError):
                one()
        gc.collect()
        # Fewer, if an idle process of another test ended.
        assert len(os.listdir("/proc/self/fd")) <= before
        assert asyncio.run(one(1)) == 1
        assert len(one.runs) == 1


class TestWhatCannotTravel:
    def test_it_is_timed_where_it_is(self, context: BatchContext, caplog: pytest.LogCaptureFixture) -> None:
        @context.measured
        def locked(lock: Any) -> bool:
            return lock.acquire()  # type: ignore[no-any-return]

        assert locked(threading.Lock())
        assert locked(threading.RLock())
        first, second = locked.runs
        assert context.laboratory.labels == []
        assert context.laboratory.kept == [first, second]
        assert first.info.order.what.endswith("locked(lock)")
        assert first.info.order.file == __file__
        assert first.measurement.timing.measured_in.isolated is False
        assert 0 < first.info.min_s < 10
        assert WarningCode.NOT_ISOLATED in {warning.code for warning in first.info.warnings}
        (note,) = first.info.notes
        assert note.code is NoteCode.IN_PROCESS
        assert "argument 'lock'" in dict(note.figures)["detail"]
        assert caplog.text.count("not isolated: argument 'lock'") == 2  # of two types

    def test_whatever_packing_runs_into(self, context: BatchContext) -> None:
        class Wicked:
            def __reduce__(self) -> str:
                raise RuntimeError("no")

        @context.measured
        def take(thing: object) -> int:
            return 1

        assert take(Wicked()) == 1
        assert len(take.runs) == 1

    def test_a_time_limit_that_strikes_meanwhile_is_the_programs(self, context: BatchContext) -> None:
        class Limit(Exception):
            pass

        def strike(signum: int, frame: object) -> None:
            raise Limit

        class Slow:
            def __reduce__(self) -> str:
                signal.raise_signal(signal.SIGALRM)
                return ""

        @context.measured
        def take(thing: object) -> int:
            return 1

        before = signal.signal(signal.SIGALRM, strike)
        try:
            with pytest.raises(Limit):
                take(Slow())
        finally:
            signal.signal(signal.SIGALRM, before)
        assert take.runs == ()

    def test_when_too_much_waits(self, context: BatchContext, monkeypatch: pytest.MonkeyPatch) -> None:
        @context.measured
        def take(thing: object, n: int) -> int:
            return n

        monkeypatch.setattr(backlog, "MAX_WAITING_BYTES", 1 << 20)
        assert [take(b"x" * (2 << 20), n) for n in range(2)] == [0, 1]
        first, second = take.runs
        assert first.measurement is None  # of this laboratory
        (note,) = second.info.notes
        assert "2 MB of arguments of other calls are waiting" in dict(note.figures)["detail"]

    def test_calls_while_packing_are_not_the_users(self, context: BatchContext) -> None:
        @context.measured
        def helper() -> dict[str, int]:
            return {}

        class Asking:
            def __getstate__(self) -> object:
                return helper()

        @context.measured
        def take(thing: object) -> int:
            return 1

        assert take(Asking()) == 1
        assert len(take.runs) == 1
        assert helper.runs == ()


def test_recursion_is_one_call(context: BatchContext) -> None:
    @context.measured
    def down(n: int) -> int:
        return 1 + down(n - 1) if n else 0

    assert down(5) == 5
    assert [run.info.label.rpartition(".")[2] for run in down.runs] == ["down(5)"]
    assert context.laboratory.values == [5]


def test_one_function_within_another(context: BatchContext) -> None:
    @context.measured
    def inner(n: int) -> int:
        return n

    @context.measured
    def outer(n: int) -> int:
        return inner(n + 1)

    outer(1)
    assert len(inner.runs) == len(outer.runs) == 1


def test_every(context: BatchContext) -> None:
    third = context.numbers(*range(7), every=3)
    assert [run.info.label.rpartition("function")[2] for run in third.runs] == ["(0)", "(3)", "(6)"]


def test_options_come_with_the_order(context: BatchContext) -> None:
    def function() -> None: ...

    chosen = context.measured(
        function, "timer+callgrind", label="mine", quick=True, runs=3, timeout_s=5.0, min_run_time_s=0.1,
        retries=0, env={"A": "b"}, imports=["numpy"],
    )  # fmt: skip
    chosen()
    assert chosen.last_run.info.label == "mine()"
    order = context.laboratory.orders[0]
    assert (order.mode.value, order.quick, order.runs, order.retries) == ("timer+callgrind", True, 3, 0)
    assert (order.timeout_s, order.min_run_time_s) == (5.0, 0.1)
    assert (order.env, order.imports) == ((("A", "b"),), ("numpy",))


def test_owners_of_other_types_are_other_arguments(context: BatchContext) -> None:
    class Base:
        @context.measured
        def method(self) -> str:
            return type(self).__name__

    class Derived(Base): ...

    context.laboratory.calls = False
    assert (Base().method(), Derived().method(), Base().method()) == ("Base", "Derived", "Base")
    assert len(Base.method.runs) == 2


class TestCoroutines:
    def test_they_are_awaited_once(self, context: BatchContext) -> None:
        @context.measured
        async def twice(x: int) -> int:
            await asyncio.sleep(0)
            return 2 * x

        assert asyncio.iscoroutinefunction(twice)
        assert asyncio.run(twice(2)) == 4
        assert len(twice.runs) == 1
        assert context.laboratory.values == [4]

    def test_those_that_are_cancelled_are_not_measured(self, context: BatchContext) -> None:
        @context.measured
        async def wait() -> None:
            await asyncio.sleep(1000)

        async def main() -> None:
            task = asyncio.ensure_future(wait())
            await asyncio.sleep(0)
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

        asyncio.run(main())
        assert wait.runs == ()

    def test_those_that_nobody_awaits_are_warned_of_once(self, context: BatchContext) -> None:
        @context.measured
        async def forgotten() -> None: ...

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            forgotten()
            gc.collect()
        said = [str(item.message) for item in caught]
        assert said == [f"coroutine '{forgotten.__qualname__}' was never awaited"]
        caught.clear()
        asyncio.run(forgotten())
        assert len(forgotten.runs) == 1

    def test_side_by_side(self, context: BatchContext) -> None:
        @context.measured
        async def number(n: int) -> int:
            await asyncio.sleep(0)
            return n

        async def main() -> list[int]:
            return await asyncio.gather(*map(number, range(4)))

        assert asyncio.run(main()) == [0, 1, 2, 3]
        assert len(number.runs) == 4


class TestWhenItIsMeasured:
    def test_not_before_a_second_without_calls(self, context: BatchContext) -> None:
        def function(n: int) -> None:
            assert watch.ready_in_s() > 0  # while it runs

        watch = context.watch(function)
        called = watched(watch, function)
        called(1)
        assert watch.ready_in_s() == 1.0
        context.clock.advance(0.6)
        called(1)
        context.clock.advance(0.6)
        assert watch.ready_in_s() == pytest.approx(0.4)
        assert context.laboratory.labels == []
        context.clock.advance(0.4)
        assert watch.ready_in_s() <= 0

    def test_the_thread_starts_with_the_first_call(self, context: BatchContext) -> None:
        def threads() -> int:
            return sum(thread.name == "profkit-decorated" for thread in threading.enumerate())

        before = threads()

        @context.measured
        def function() -> None: ...

        assert threads() == before
        function()
        assert threads() == before + 1

    def test_asking_measures_only_what_was_requested(self, context: BatchContext) -> None:
        @context.measured
        def one() -> None: ...

        @context.measured
        def other() -> None: ...

        one()
        other()
        assert len(other.runs) == 1
        assert len(context.laboratory.orders) == 1

    def test_what_goes_wrong_is_said(self, context: BatchContext, caplog: pytest.LogCaptureFixture) -> None:
        function = context.numbers()
        context.laboratory.error = ZygoteFailed("python", "cannot be started", "", "check it")
        assert function(1) == 1
        assert function.runs == ()
        assert "function(1) was not measured: " in caplog.text
        assert "cannot be started" in caplog.text
        context.laboratory.error = None
        function(2)
        assert len(function.runs) == 1

    def test_what_nobody_foresaw_is_said_once(
        self, context: BatchContext, caplog: pytest.LogCaptureFixture
    ) -> None:
        function = context.numbers()
        context.laboratory.error = RuntimeError("not foreseen")
        assert [function(n) for n in range(3)] == [0, 1, 2]
        assert function.runs == ()
        assert [record.getMessage() for record in caplog.records].count(
            str(InternalError("measuring calls", context.laboratory.error))
        ) == 1


class TestTheEnd:
    def reports(self, context: BatchContext, limit_s: float, each: Callable[[], object]) -> list[str]:
        """Return what is reported at the end; `each` is called with each report."""
        reported: list[str] = []

        def report(text: str) -> None:
            reported.append(text)
            each()

        context.backlog.finish(report, limit_s)
        return reported

    def test_everything_is_measured(self, context: BatchContext) -> None:
        context.laboratory.gate.clear()
        context.numbers(0, 1, 2)
        reported = self.reports(context, 60.0, context.laboratory.gate.set)
        assert len(context.laboratory.orders) == 3
        assert reported[0] == "measuring 1 of 3: BatchContext.numbers.function(0) …"
        context.backlog.finish(pytest.fail, 60.0)

    def test_after_the_limit_the_rest_is_dropped_by_name(self, context: BatchContext) -> None:
        context.laboratory.gate.clear()
        function = context.numbers(0, 1, 2)
        last = self.reports(context, 60.0, lambda: context.clock.advance(61))[-1]
        assert last.startswith("not measured within 60 s; read `runs` of the function earlier, or raise ")
        assert "exit_timeout_s= or PROFKIT_EXIT_TIMEOUT" in last
        assert all(f"function({n})" in last for n in range(3))
        assert function(4) == 4
        assert not context.backlog.open

    def test_of_many_calls_a_few_are_named(self, context: BatchContext) -> None:
        context.laboratory.gate.clear()
        context.numbers(*range(20), max_signatures=20)
        assert self.reports(context, 0.0, list)[-1].endswith("function(4) and 15 more")

    @pytest.mark.parametrize(
        ("own_s", "expected_s"), [([None], 10), ([0], 0), ([3], 3), ([100], 100), ([2, None, 30], 30)]
    )
    def test_a_function_may_be_given_a_limit_and_the_longest_holds(
        self, context: BatchContext, own_s: list[float | None], expected_s: float
    ) -> None:
        context.laboratory.gate.clear()
        for limit_s in own_s:
            context.numbers(1, exit_timeout_s=limit_s)
        last = self.reports(context, 10.0, lambda: context.clock.advance(1000))[-1]
        assert last.startswith(f"not measured within {expected_s} s; ")

    def test_an_interrupt_drops_the_rest_by_name(self, context: BatchContext) -> None:
        def interrupt() -> None:
            for error in errors:
                raise error

        errors = iter([KeyboardInterrupt()])
        context.laboratory.gate.clear()
        context.numbers(1, 2)
        last = self.reports(context, 60.0, interrupt)[-1]
        assert last.startswith("not measured because the program was interrupted: ")
        assert "function(1)" in last
        assert "function(2)" in last


def test_a_forked_child_measures_nothing(context: BatchContext) -> None:
    function = context.numbers(0)
    assert len(function.runs) == 1
    function(1)
    child = os.fork()
    if child == 0:
        context.backlog.forget()  # as the program's own is told to
        good = function(2) == 2 and function.runs == () and len(context.laboratory.orders) == 1
        os._exit(0 if good else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert len(function.runs) == 2


def test_threads(context: BatchContext) -> None:
    function = context.numbers()

    def work() -> None:
        for n in range(20):
            assert function(n % 10) == n % 10

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(function.runs) == MAX_VALUES


def test_no_descriptor_is_left(context: BatchContext) -> None:
    def count() -> int:
        gc.collect()
        return len(os.listdir("/proc/self/fd"))

    function = context.numbers()
    before = count()
    for n in range(10):
        function(n)
    assert count() == before + MAX_VALUES
    assert len(function.runs) == MAX_VALUES
    assert count() == before


def test_calls_made_while_the_program_ends_hold_no_file_and_are_named(context: BatchContext) -> None:
    late = context.numbers(1)
    context.backlog.finish(lambda _: None, 60)
    gc.collect()
    before = sorted(os.listdir("/proc/self/fd"))
    assert late([2]) == [2]
    assert sorted(os.listdir("/proc/self/fd")) == before
    assert [label.rpartition(".")[2] for label in context.backlog.drop()] == ["function(list[1])"]
