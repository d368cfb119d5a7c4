"""How often measuring will execute an order: compared with what a worker does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.measuring.orders import work_order
from profkit.measuring.runner.executions import expected_executions, processes_of
from tests.unit.test_worker_blocks import Scripted, measured, wanted


@given(st.floats(1e-7, 5.0), st.booleans(), st.sampled_from([0.02, 0.2, 2.0]))
def test_it_is_what_workers_do(call_s: float, quick: bool, min_run_time_s: float) -> None:
    order = work_order("1", quick=quick, min_run_time_s=min_run_time_s)
    scripted = Scripted(lambda _: call_s)
    measured(scripted, wanted(min_run_time_s / processes_of(order)))
    executed = processes_of(order) * sum(scripted.runs)
    assert executed / 2 <= expected_executions(order, call_s) <= executed * 2


@pytest.mark.parametrize(("mode", "executions"), [("timer", 50), ("callgrind", 8), ("timer+callgrind", 58)])
def test_modes_add_up(mode: str, executions: int) -> None:
    order = work_order("1", mode=mode, quick=False)
    assert expected_executions(order, 0.12) == executions
