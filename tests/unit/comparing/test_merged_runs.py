from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.comparing.merged_runs import MERGED_ID, merge_runs
from profkit.comparing.process_shares import ProcessWeights, differing
from profkit.model.run import Run
from profkit.model.session import SessionState
from profkit.transforms.tables import function_rows
from profkit.units import Unit
from tests.support.example_runs import STARTED_NS
from tests.support.example_worker_runs import FILE, MS, READ, RENDER, worker_run

ALIKE = {READ: 60, RENDER: 40}


def test_numbers_of_all_runs_add_up() -> None:
    merged = merge_runs(worker_run(number, ALIKE, nested=2, raised=1) for number in (2, 1, 0))
    info = merged.info
    assert (info.id, info.label, info.session) == (MERGED_ID, "handler", "")
    assert (info.calls, info.outermost_calls, info.nested, info.raised) == (36, 30, 6, 3)
    assert (info.samples, info.torn, info.wall_s, info.session_s) == (300, 3, pytest.approx(0.06), 30.0)
    assert (info.started_ns, info.achieved_hz) == (STARTED_NS, pytest.approx(20.0))
    assert merged.profile is not None
    assert merged.profile.total_weight == 300
    assert merged.resources == ()


def test_each_process_has_its_numbers() -> None:
    merged = merge_runs([worker_run(1, {READ: 10}), worker_run(0, ALIKE), worker_run(2, {READ: 5}, pid=101)])
    assert merged.merged is not None
    heaviest, second, third = merged.merged.processes
    assert (heaviest.process.pid, heaviest.samples, heaviest.calls, heaviest.runs) == (100, 100, 10, 1)
    assert (heaviest.cpu_share, heaviest.peak_rss_bytes) == (pytest.approx(0.5), 200 * 2**20)
    # The same pid, given to a later process.
    assert [(part.process.pid, part.samples) for part in (second, third)] == [(101, 10), (101, 5)]
    assert [info.id for info in merged.merged.infos] == [f"{number:010x}" for number in (1, 0, 2)]


def test_sessions_of_a_process_are_one_row() -> None:
    first = worker_run(0, ALIKE)
    second = replace(first, info=replace(first.info, id="b" * 10, session="another"))
    merged = merge_runs([second, first])
    assert merged.merged is not None
    (part,) = merged.merged.processes
    assert (part.runs, part.samples, part.calls, part.cpu_share) == (2, 200, 20, pytest.approx(0.5))
    assert merged.info.session_s == 20.0


def test_processes_of_containers_keep_their_threads_apart() -> None:
    runs = [worker_run(number, ALIKE, pid=1, host=f"web-{number}") for number in range(3)]
    merged = merge_runs(runs)
    assert merged.profile is not None
    assert {thread.name for thread in merged.profile.threads} == {f"MainThread on web-{n}" for n in range(3)}


def test_at_different_rates_shares_are_of_time() -> None:
    fast, slow = (
        worker_run(1, {READ: 100}, period_ns=10.0 * MS),
        worker_run(0, {RENDER: 20}, period_ns=50.0 * MS),
    )
    merged = merge_runs([fast, slow])
    assert merged.profile is not None
    assert merged.profile.unit is Unit.NANOSECONDS
    totals = {row.name: row.total_weight for row in function_rows(merged.profile)}
    assert (totals["read"], totals["render"]) == (1000 * MS, 1000 * MS)
    assert merged.info.samples == 120


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        (("SUCCESS", "RUNNING"), "RUNNING"),
        (("SUCCESS", "FAILED"), "SUCCESS"),
        (("FAILED", "FAILED"), "FAILED"),
        (("SUCCESS", "ENDED_EARLY", "FAILED"), "ENDED_EARLY"),
        (("ENDED_EARLY", "RUNNING"), "RUNNING"),
    ],
)
def test_a_merged_run_is_recording_as_long_as_one_is(states: tuple[str, ...], expected: str) -> None:
    runs = [worker_run(n, ALIKE, state=SessionState(state)) for n, state in enumerate(states)]
    assert merge_runs(runs).info.state is SessionState(expected)


def test_runs_without_samples_of_their_own_take_part() -> None:
    remote = Run(worker_run(1, {}).info)
    merged = merge_runs([worker_run(0, ALIKE), remote])
    assert merged.profile is not None
    assert (merged.info.calls, merged.info.samples) == (20, 100)
    assert merge_runs([remote]).profile is None


def test_no_runs_cannot_be_merged() -> None:
    with pytest.raises(ValueError, match="no runs"):
        merge_runs([])


def test_a_function_whose_share_differs_is_found_with_the_process() -> None:
    runs = [worker_run(number, ALIKE) for number in range(4)]
    runs.append(worker_run(4, {READ: 10, RENDER: 90}))
    merged = merge_runs(runs)
    assert merged.merged is not None
    found = {row.name: row for row in merged.merged.functions}
    # Library calls count for the function that makes them.
    assert set(found) == {"read", "render"}
    odd = [part.process.pid for part in merged.merged.processes].index(104)
    assert found["render"].differs == tuple(place == odd for place in range(5))
    assert found["render"].weights[odd] == 90
    assert (found["render"].file, found["render"].line, found["render"].weight) == (FILE, 30, 250)


def test_shares_that_are_alike_are_not_listed() -> None:
    merged = merge_runs([worker_run(number, ALIKE) for number in range(4)])
    assert merged.merged is not None
    assert merged.merged.functions == ()


def test_processes_with_few_samples_are_not_compared() -> None:
    merged = merge_runs([worker_run(0, {READ: 1000}), worker_run(1, {RENDER: 20})])
    assert merged.merged is not None
    assert merged.merged.functions == ()


def test_processes_of_the_same_program_raise_few_false_alarms() -> None:
    """Shares drawn once per process, as layouts of memory do, then samples in bursts of four."""
    draw = random.Random(20261122)
    alarms = 0
    for _ in range(200):
        processes = []
        for _ in range(6):
            p = min(0.95, max(0.05, draw.gauss(0.4, 0.02)))
            hits = 4 * sum(draw.random() < p for _ in range(75))
            processes.append(ProcessWeights(300, 300, {("a", "f"): hits, ("b", "f"): 300 - hits}))
        alarms += bool(differing(processes))
    assert alarms <= 10


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 50), st.integers(0, 50)), min_size=1, max_size=8))
def test_every_sample_is_in_the_merged_profile(workers: list[tuple[int, int, int]]) -> None:
    runs = [worker_run(number, {READ: read, RENDER: render}) for number, read, render in workers]
    merged = merge_runs(runs)
    expected: Counter[str] = Counter()
    for _, read, render in workers:
        expected.update({"read": read, "JSONEncoder.encode": render})
    assert merged.profile is not None
    got = {row.name: row.self_weight for row in function_rows(merged.profile) if row.self_weight}
    assert got == {name: weight for name, weight in expected.items() if weight}
    assert merged.merged is not None
    assert sum(part.weight for part in merged.merged.processes) == merged.profile.total_weight
