"""measure() and measure_all() with real zygotes, for statements and callables that need no torch."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from pathlib import Path

import pytest

from profkit import measure, measure_all, submit, wait, warm_pool, work_order
from profkit.comparing.times import compare_timings
from profkit.errors import (
    CannotTravel,
    UsageError,
    WorkerDied,
    WorkerFailed,
    WorkerTimeout,
    ZygoteFailed,
)
from profkit.measuring.api import measure_here, measure_packed
from profkit.measuring.errors import MemoryExceeded
from profkit.measuring.pool.client import Zygote
from profkit.measuring.pool.pool import process_pool
from profkit.measuring.runner.jobs import Task
from profkit.measuring.transfer.payload import pack_names
from profkit.model.comparison import Verdict
from profkit.model.measurement import Measurement, Preload, Timing, WarningCode
from profkit.store.measured import measured_files
from tests.support.spool_folders import read_measured
from tests.support.waiting import until

QUICK = {"quick": True, "min_run_time_s": 0.01, "keep": False}


def timing_of(found: Measurement | None) -> Timing:
    assert found is not None
    assert found.timing is not None
    return found.timing


def _fresh_zygotes() -> list[Zygote]:
    """Those of serious orders; isolated calls have zygotes with draws as well, which linger."""
    return [zygote for zygote in process_pool().zygotes() if zygote.kind.draw and not zygote.kind.calls]


def test_serious_measuring_takes_ten_processes_of_five_fresh_zygotes() -> None:
    found = measure("sorted(values)", setup="values = [3, 1, 2]", min_run_time_s=0.01, keep=False)
    timing = timing_of(found)
    zygotes = [process.zygote for process in timing.processes]
    assert len(zygotes) == 10
    assert len(set(zygotes)) == 5
    assert timing.measured_in.preload is Preload.NOTHING
    until(lambda: not _fresh_zygotes(), "fresh zygotes are left")
    again = measure("sorted(values)", setup="values = [3, 1, 2]", min_run_time_s=0.01, keep=False)
    assert not {process.zygote for process in timing_of(again).processes} & set(zygotes)


def test_quick_measuring_says_what_it_is_worth_and_keeps_its_zygote() -> None:
    found = measure("pass", **QUICK)
    again = measure("pass", **QUICK)
    assert WarningCode.QUICK in {warning.code for warning in found.warnings}
    zygotes = {process.zygote for run in (found, again) for process in timing_of(run).processes}
    assert len(zygotes) == 1


def test_a_longer_statement_takes_longer() -> None:
    short_s, long_s = (
        min(minima) for minima in zip(*(_minima_of_loops(100, 1000) for _ in range(3)), strict=True)
    )
    assert 5 < long_s / short_s < 20


def _minima_of_loops(*lengths: int) -> tuple[float, ...]:
    """Return each loop's fastest block; repeated in turn, because the machine's speed changes."""
    measured = (timing_of(measure(f"for i in range({n}): i * i", **QUICK)) for n in lengths)
    return tuple(min(timing.minima_s) for timing in measured)


def scaled(values: list[float], *, by: float) -> list[float]:
    return [value * by for value in values]


def test_a_callable_is_measured_with_its_arguments() -> None:
    found = measure(scaled, args=([1.0, 2.0],), kwargs={"by": 2.0}, **QUICK)
    assert found.order.what.startswith(f"{__name__}:scaled(")
    assert found.order.file == __file__
    assert min(timing_of(found).minima_s) > 0


async def naps(times: int) -> None:
    for _ in range(times):
        await asyncio.sleep(0)


def test_a_coroutine_function_is_awaited() -> None:
    few, many = (timing_of(measure(naps, args=(times,), **QUICK)) for times in (10, 100))
    assert 3 < min(many.minima_s) / min(few.minima_s) < 30


def test_what_cannot_travel_is_named() -> None:
    with pytest.raises(CannotTravel, match="lock"):
        measure(len, args=(threading.Lock(),), **QUICK)


def test_an_error_carries_the_users_lines_and_the_output() -> None:
    with pytest.raises(WorkerFailed) as told:
        measure("values[0]", setup="print('before', flush=True)\nvalues = []", **QUICK)
    text = str(told.value)
    assert "IndexError: list index out of range" in text
    assert 'File "<stmt>", line 1' in text
    assert "before" in text
    assert "profkit/measuring" not in text


@pytest.mark.parametrize(
    ("stmt", "how"),
    [("os._exit(0)", "exit"), ("os.kill(os.getpid(), 11)", "SIGSEGV"), ("os.abort()", "SIGABRT")],
)
def test_a_worker_that_dies_is_said_to_have_failed_silently(stmt: str, how: str) -> None:
    with pytest.raises(WorkerDied, match=how):
        measure(stmt, setup="import os", **QUICK)


def test_a_time_out_is_tried_again_and_reported() -> None:
    with pytest.raises(WorkerTimeout, match="2 tries"):
        measure("sum(iter(int, 1))", timeout_s=0.3, retries=1, **QUICK)


def test_memory_is_limited_where_that_is_requested() -> None:
    with pytest.raises(MemoryExceeded, match="limit of 512 MiB"):
        measure(
            "held = b'x' * (1 << 30); time.sleep(60)",
            setup="import time",
            memory_limit_bytes=1 << 29,
            **QUICK,
        )


def test_the_environment_travels_and_profkit_is_off_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FROM_HERE", "1")
    setup = """
        import os, sys
        assert os.environ["FROM_HERE"] == "1" and os.environ["GIVEN"] == "2"
        assert os.environ["PROFKIT_DISABLE"] == "1"
        assert os.getcwd() == CWD and PATH in sys.path
    """.replace("CWD", repr(os.getcwd())).replace("PATH", repr(str(Path(sys.path[0]).resolve())))
    measure("pass", setup="\n".join(line.strip() for line in setup.splitlines()), env={"GIVEN": "2"}, **QUICK)


def test_another_environment_is_entered_without_a_shell(tmp_path: Path) -> None:
    setup = "import os; assert os.environ['ENTERED'] == '$(touch x)'"
    measure("pass", setup=setup, source_cmd=["env", "ENTERED=$(touch x)"], python=None, **QUICK)
    measure("pass", setup="import sys", python=sys.executable, **QUICK)


def test_an_environment_that_is_not_there_is_reported() -> None:
    with pytest.raises(ZygoteFailed, match="no-such-program"):
        measure("pass", source_cmd="no-such-program run", **QUICK)
    with pytest.raises(ZygoteFailed):
        measure("pass", python="/no/such/python", **QUICK)


def test_runs_limit_how_often_a_statement_is_executed(tmp_path: Path) -> None:
    counted = tmp_path / "counted"
    stmt = f"with open({str(counted)!r}, 'a') as file: file.write('x')"
    measure(stmt, runs=1, keep=False)
    assert counted.read_text() == "x"
    counted.unlink()
    found = measure(stmt, runs=25, keep=False)
    assert len(counted.read_text()) <= 25
    assert WarningCode.LIMITED in {warning.code for warning in found.warnings}


def test_orders_of_a_batch_go_on_when_one_fails(tmp_path: Path) -> None:
    orders = [work_order(stmt, quick=True, min_run_time_s=0.01) for stmt in ("1 + 1", "1 / 0", "2 + 2")]
    runs = measure_all(orders, spool=tmp_path)
    assert [run.info.label for run in runs] == ["1 + 1", "1 / 0", "2 + 2"]
    assert [run.info.error is None for run in runs] == [True, False, True]
    assert len({run.info.batch for run in runs}) == 1
    kept = {read_measured(path).info.id for path in measured_files(tmp_path)}
    assert kept == {run.info.id for run in runs}


def test_orders_that_nothing_distinguishes_are_refused() -> None:
    with pytest.raises(UsageError, match="'1'"):
        measure_all([work_order("1"), work_order("1")])
    two = [work_order("1", labels={"size": size}, **QUICK_ORDER) for size in ("a", "b")]
    assert len(measure_all(two, keep=False)) == 2


QUICK_ORDER = {"quick": True, "min_run_time_s": 0.01}


def test_workers_measure_side_by_side_on_cores_of_their_own() -> None:
    setup = "import os; cores = len(os.sched_getaffinity(0)); assert cores == 1, cores"
    orders = [work_order("pass", setup=setup, label=str(n), **QUICK_ORDER) for n in range(4)]
    if len(os.sched_getaffinity(0)) == 1:
        orders = orders[:1]
    runs = measure_all(orders, workers=2, keep=False)
    assert [run.info.error for run in runs] == [None] * len(orders)


def test_interleaved_orders_are_timed_in_the_same_processes() -> None:
    orders = [
        work_order("for i in range(300): i * i", label=label, min_run_time_s=0.02) for label in ("a", "b")
    ] + [work_order("for i in range(600): i * i", label="c", min_run_time_s=0.02)]
    a, b, c = (timing_of(run.measurement) for run in measure_all(orders, interleaved=True, keep=False))
    assert [process.zygote for process in a.processes] == [process.zygote for process in b.processes]
    assert compare_timings(a, c).verdict is Verdict.SLOWER
    assert 1.5 < compare_timings(a, c).ratio < 2.7
    assert 0.8 < compare_timings(a, b).ratio < 1.25


def test_two_callables_cannot_be_interleaved() -> None:
    with pytest.raises(UsageError, match="interleaved"):
        measure_all([work_order(len, args=("a",)), work_order(sorted, args=("a",))], interleaved=True)


def test_futures_are_waited_for() -> None:
    warm_pool("pass", quick=True)
    scope: dict[str, object] = {n: submit(work_order(n, **QUICK_ORDER), keep=False) for n in ("1", "2")}
    wait(scope)
    assert [run.info.label for run in scope.values()] == ["1", "2"]  # type: ignore[attr-defined]


def test_a_fork_of_the_program_measures_with_zygotes_of_its_own() -> None:
    measure("pass", **QUICK)
    before = {zygote.pid for zygote in process_pool().zygotes()}
    pid = os.fork()
    if pid == 0:
        try:
            measure("pass", **QUICK)
            os._exit(0 if {z.pid for z in process_pool().zygotes()}.isdisjoint(before) else 2)
        except BaseException:  # noqa: BLE001 - told by the exit code
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert {zygote.pid for zygote in process_pool().zygotes()} == before


def test_a_statement_reads_names_that_were_packed_with_it() -> None:
    names = {"items": [3, 1, 2] * 50, "scaled": lambda items: [3 * item for item in items]}
    order = work_order("scaled(items)", setup="assert __name__ == '__main__'", quick=True)
    (run,) = measure_packed([Task(order, pack_names(names))])
    assert run.info.error is None
    assert run.info.order.what == "scaled(items)"
    (run,) = measure_packed([Task(work_order("items.sort()", quick=True), pack_names(names))])
    assert run.measurement is not None
    assert timing_of(run.measurement).freshness.fresh, "it finds the list sorted otherwise"
    here = measure_here(work_order("scaled(items)", quick=True), names)
    assert here.measurement is not None
    assert not timing_of(here.measurement).measured_in.isolated


def test_what_cannot_travel_is_measured_here_where_that_is_requested() -> None:
    lock = threading.Lock()
    found = measure(lock.locked, isolated=False, keep=False)
    timing = timing_of(found)
    assert not timing.measured_in.isolated
    assert WarningCode.NOT_ISOLATED in {warning.code for warning in found.warnings}
    assert found.order.what.endswith("locked()")
    assert timing_of(measure("x + 1", setup="x = 1", isolated=False, keep=False)).number > 1
    with pytest.raises(WorkerFailed, match="ZeroDivisionError"):
        measure("1 / 0", isolated=False, keep=False)
    for options in ({"mode": "callgrind"}, {"env": {"A": "1"}}, {"python": sys.executable}):
        with pytest.raises(UsageError, match="separate process"):
            measure("pass", isolated=False, keep=False, **options)
