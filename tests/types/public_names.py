"""What type checkers see of the public names: checked by mypy and pyright, never run."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from concurrent.futures import Future
from typing import assert_type

from profkit import (
    FunctionProfiler,
    MeasuredRun,
    Measurement,
    Profile,
    Run,
    WorkOrder,
    isolated,
    measure,
    measure_all,
    profile,
    profiled,
    submit,
    wait,
    work_order,
)
from profkit.integrations import torch_compile


@profile
def plain(count: int, *, name: str = "") -> list[str]:
    return [name] * count


assert_type(plain(3, name="x"), list[str])
assert_type(plain.last_run, Run | None)
assert_type(plain.runs, tuple[Run, ...])
assert_type(plain.__wrapped__(1), list[str])
plain("three")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


@profile(label="with options", rate=200, blocking="auto", on_run=lambda run: print(run.info.samples))
def with_options(count: int) -> int:
    return count


assert_type(with_options(1), int)


@profile(mode="memory", python_allocators=True, on_run=lambda run: print(run.info.memory))
def tracked(count: int) -> list[int]:
    return [count]


assert_type(tracked(1), list[int])
assert_type(tracked.last_run, Run | None)
profile(plain, mode="memory", rate=5)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue, reportArgumentType]
profiled("block", mode="memory", every=2)
profiled("block", mode="timer")  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue, reportArgumentType]


@profile(mode="trace", trace_calls=2, rate=200)
def traced(count: int) -> int:
    return count


assert_type(traced(3), int)
assert_type(traced.last_run, Run | None)
with profiled("traced", mode="trace", trace_calls=1) as traced_block:
    pass
assert_type(traced_block.run, Run | None)


@profile(mode="timer", runs=10, on_run=lambda run: print(run.measurement))
def timed(count: int) -> int:
    return count


assert_type(timed(1), int)
assert_type(timed.last_run, MeasuredRun | None)
profile(plain, mode="timer", rate=5)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue, reportArgumentType]


@profile()
async def coroutine(count: int) -> int:
    return count


@profile
def generator(count: int) -> Iterator[int]:
    yield count


@profile
async def async_generator(count: int) -> AsyncIterator[int]:
    yield count


async def consume() -> None:
    assert_type(await coroutine(1), int)
    async for number in async_generator(1):
        assert_type(number, int)
    with profiled("block"):
        pass


for number in generator(1):
    assert_type(number, int)


class Trainer:
    @profile
    def step(self, batch: list[float]) -> float:
        return sum(batch)

    @profiled("evaluation")
    def evaluate(self, batch: list[float]) -> float:
        return sum(batch)


assert_type(Trainer().step([1.0]), float)
assert_type(Trainer().step.last_run, Run | None)
assert_type(Trainer.step(Trainer(), [1.0]), float)
assert_type(Trainer().evaluate([1.0]), float)

with profiled("loading", threads=True) as session:
    pass
assert_type(session.run, Run | None)
assert_type(session.runs, tuple[Run, ...])

profiler = FunctionProfiler(rate=100, stop_at_error=True)
assert_type(profiler.profile(len, [1]), int)
assert_type(profiler.last_run, Run | None)

assert_type(measure("1 + 1", quick=True), Measurement)
order = work_order("x + 1", setup="x = 1", mode="timer+callgrind")
assert_type(order, WorkOrder)
assert_type(measure_all([order]), tuple[MeasuredRun, ...])
future = submit(order)
assert_type(future, Future[MeasuredRun])
assert_type(wait([future]), tuple[MeasuredRun, ...])

assert_type(isolated.call(len, [1]), int)
with isolated.Executor(2) as executor:
    assert_type(executor.submit(len, [1]).result(), int)

with torch_compile.enable(rate=50, on_run=lambda run: print(run.info.label)) as compilations:
    assert_type(compilations, torch_compile.ProfiledCompilations)
    assert_type(compilations.runs, tuple[Run, ...])
torch_compile.enable(rte=50)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]


def read(run: Run) -> None:
    assert_type(run.profile, Profile | None)
    assert_type(run.info.label, str)
    assert_type(run.info.calls, int)
    assert_type(run.info.wall_s, float)
