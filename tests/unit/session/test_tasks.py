"""Lines at which tasks of a whole program are suspended, seen from another thread."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable
from types import SimpleNamespace
from typing import TypeVar, cast

import pytest

from profkit.model.region import RegionKind
from profkit.session import tasks
from profkit.session.counters import Counters
from profkit.session.session import Session
from profkit.session.tasks import IDLE_S, LOOK_S, SEARCH_S, TaskLooks, suspended_tasks
from tests.support.example_counters import counters_of

_T = TypeVar("_T")


def session_of(kind: RegionKind) -> tuple[Session, Counters]:
    counters = counters_of("app.py", kind)
    return cast(Session, SimpleNamespace(counters=[counters])), counters


async def nap() -> None:
    await asyncio.sleep(3600)


def seen(look: Callable[[], _T], naps: int) -> _T:
    """Run an event loop with tasks that sleep, and look at them from another thread meanwhile."""

    async def main() -> object:
        sleeping = [asyncio.create_task(nap()) for _ in range(naps)]
        await asyncio.sleep(0)  # they begin
        loop, is_suspended = asyncio.get_running_loop(), threading.Event()
        loop.call_soon(is_suspended.set)
        found = await loop.run_in_executor(None, lambda: is_suspended.wait() and look())
        for task in sleeping:
            task.cancel()
        return found

    return cast(_T, asyncio.run(main()))


def lines_of(counters: Counters) -> set[tuple[str, str, int]]:
    delta = counters.drain(1)
    assert delta is not None
    return {(one.function.rpartition(".")[2], one.awaited, one.times) for one in delta.awaits}


@pytest.mark.gil
def test_each_suspended_task_counts_at_its_line() -> None:
    session, counters = session_of(RegionKind.PROGRAM)
    looks = TaskLooks()
    seen(lambda: looks.look(session), naps=3)
    assert lines_of(counters) == {("nap", "sleep", 3), ("main", "Future", 1)}
    assert looks.pause_s >= LOOK_S


def test_of_many_tasks_each_look_follows_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "_MOST_TASKS", 5)

    def look() -> tuple[int, int]:
        spent: Counter[str] = Counter()
        times = 0
        for number in range(5):  # of 20 tasks and the main one, each look follows every fifth
            found = suspended_tasks(10, number) or {}
            for place, (time_ns, seen_times) in found.items():
                spent[place.code.co_name] += time_ns
                times += seen_times
        assert spent == {"nap": 20 * 50, "main": 50}
        return times, len(spent)

    assert seen(look, naps=20) == (21, 2)


def test_without_an_event_loop_it_looks_rarely() -> None:
    session, counters = session_of(RegionKind.PROGRAM)
    looks = TaskLooks()
    looks.look(session)
    assert looks.pause_s == SEARCH_S
    looks.look(None)
    assert looks.pause_s == IDLE_S
    assert suspended_tasks(1) is None
    assert counters.drain(1) is None


@pytest.mark.gil
def test_looks_keep_their_pause() -> None:
    session, counters = session_of(RegionKind.PROGRAM)
    looks = TaskLooks()

    def look() -> None:
        looks.look(session)
        looks.pause_s = 3600
        looks.look(session)

    seen(look, naps=0)
    assert lines_of(counters) == {("main", "Future", 1)}


def test_tasks_of_other_regions_do_not_count() -> None:
    session, counters = session_of(RegionKind.FUNCTION)
    seen(lambda: TaskLooks().look(session), naps=1)
    assert counters.drain(1) is None


def test_a_failure_does_not_end_the_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_since_ns: int, _looks: int) -> None:
        raise LookupError

    monkeypatch.setattr(tasks, "suspended_tasks", fail)
    session, counters = session_of(RegionKind.PROGRAM)
    TaskLooks().look(session)
    assert counters.drain(1) is None
