"""The trial of a worker, with functions that stand for measuring."""

from __future__ import annotations

import pytest

from profkit.clock import ManualClock
from profkit.doctor.timed_worker import timed_statement, worker_check
from profkit.errors import ToolMissing, WorkerTimeout
from profkit.model.checkup import Status


def test_a_worker_that_works() -> None:
    clock = ManualClock()
    check = worker_check(lambda: clock.advance(0.75), clock)
    assert (check.status, check.took_s) == (Status.OK, 0.75)
    assert check.found == "timed a statement; it started and ended within 750 ms"


@pytest.mark.parametrize(
    ("error", "found", "fix"),
    [
        (
            ToolMissing("python", "measuring", "set sys.executable"),
            "measuring needs 'python', which is not on PATH",
            "set sys.executable",
        ),
        (
            WorkerTimeout("pass", 20, 1, "output"),
            "'pass' did not finish within 20 s",
            "raise timeout_s",
        ),
        (FileNotFoundError(2, "No such file"), "[Errno 2] No such file", "profkit measure pass"),
    ],
)
def test_a_worker_that_fails(error: Exception, found: str, fix: str) -> None:
    def fail() -> None:
        raise error

    check = worker_check(fail, ManualClock())
    assert (check.status, check.found, check.fix) == (Status.FAILED, found, fix)
    assert check.cost == "nothing can be timed or counted"


def test_a_real_worker() -> None:
    assert timed_statement().timing is not None
