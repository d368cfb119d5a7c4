"""Whether a subinterpreter may read the process."""

from __future__ import annotations

from pathlib import Path

import pytest

from profkit.clock import ManualClock
from profkit.process import procfs
from profkit.samplers import attach_facts
from profkit.samplers.attach_facts import CallResults
from profkit.samplers.inprocess import interpreter
from profkit.samplers.inprocess.ways import Request

ALLOWED, REFUSED = CallResults(0, 0, 0, 0), CallResults(0, -31, 0, 0)


class Filters:
    """The seccomp filters of the process, and the tries that were made."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.request = Request(1, folder / "output", folder / "log", 100.0, True, 60.0, ManualClock())
        self.status = {"Seccomp": "2", "Seccomp_filters": "1"}
        self.result: CallResults | None = ALLOWED
        self.tries = 0
        monkeypatch.setattr(procfs, "status", lambda _: self.status)
        monkeypatch.setattr(attach_facts, "try_calls", self.try_calls)
        monkeypatch.setattr(interpreter, "_TRIED", {})

    def try_calls(self, pid: int, log: Path) -> CallResults | None:
        self.tries += 1
        return self.result

    def may_read(self) -> bool:
        return interpreter._may_read_itself(self.request)


@pytest.fixture
def filters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Filters:
    return Filters(tmp_path, monkeypatch)


def test_without_filters_nothing_is_tried(filters: Filters) -> None:
    filters.status = {"Seccomp": "0"}
    assert filters.may_read()
    assert filters.tries == 0


@pytest.mark.parametrize(("result", "may_read"), [(ALLOWED, True), (REFUSED, False)])
def test_filters_are_tried_once(filters: Filters, result: CallResults, may_read: bool) -> None:
    filters.result = result
    assert [filters.may_read() for _ in range(3)] == [may_read] * 3
    assert filters.tries == 1


def test_another_filter_is_tried(filters: Filters) -> None:
    assert filters.may_read()
    filters.status, filters.result = {"Seccomp": "2", "Seccomp_filters": "2"}, REFUSED
    assert not filters.may_read()


def test_filters_that_are_not_counted_are_tried_each_time(filters: Filters) -> None:
    filters.status = {"Seccomp": "2"}
    assert filters.may_read()
    filters.result = REFUSED
    assert not filters.may_read()


def test_a_try_that_is_not_possible_is_made_again(filters: Filters) -> None:
    filters.result = None
    assert not filters.may_read()
    filters.result = ALLOWED
    assert filters.may_read()
