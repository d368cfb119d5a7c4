"""Sums of live samples: since the start, and over the last seconds by a clock."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profkit.clock import ManualClock
from profkit.live.rows import (
    ALL,
    Chosen,
    Order,
    chosen_samples,
    costs,
    function_rows,
    line_rows,
    thread_rows,
    tree_of,
)
from profkit.live.samples import LONGEST_WINDOW_S, Batch, History, LiveSamples
from profkit.model.profile import Frame, Profile, Thread, ThreadState
from profkit.render.options import Activity
from profkit.transforms.combine import merge_profiles
from profkit.transforms.tables import function_rows as rows_of_profile
from profkit.transforms.waiting import waiting_stacks
from tests.support.profile_strategies import profile_of, profiles, thread_states

BATCHES = st.lists(profiles(states=thread_states), min_size=1, max_size=5)
WORK, WAIT = profile_of(("f:1 g:2", 3), ("f:1", 1)), profile_of(("f:1 h:3", 2), tid=2)


def live_of(batches: Sequence[Profile], clock: ManualClock | None = None) -> LiveSamples:
    """A second of samples for each profile."""
    live, clock = LiveSamples(), clock or ManualClock()
    for profile in batches:
        began_s = clock.monotonic_s()
        clock.advance(1)
        live.add(Batch(began_s, clock.monotonic_s(), profile, rounds=10))
    return live


@settings(max_examples=25)
@given(batches=BATCHES)
def test_sums_are_those_of_all_samples(batches: list[Profile]) -> None:
    live, together = live_of(batches), merge_profiles(batches)
    overall, recent = live.overall, live.recent(LONGEST_WINDOW_S)
    assert overall.samples == together.total_weight
    assert (overall.rounds, overall.sampled_s) == (10 * len(batches), len(batches))
    assert (recent.stacks, recent.own, recent.total) == (overall.stacks, overall.own, overall.total)
    found = costs(overall)
    assert {live.tables.functions[number]: (cost.own, cost.total) for number, cost in found.items()} == {
        (row.name, row.file): (row.self_weight, row.total_weight) for row in rows_of_profile(together)
    }
    assert tree_of(live.tables, overall).total_weight == together.total_weight
    for number, cost in found.items():
        rows = line_rows(live.tables, overall, number).values()
        assert sum(row.own for row in rows) == cost.own
        assert sum(row.total for row in rows) >= cost.total  # several lines of a recursive function
    threads = thread_rows(live, overall)
    assert sum(row.samples for row in threads) == overall.samples
    assert all(0 <= row.working <= row.samples for row in threads)


@settings(max_examples=25)
@given(batches=BATCHES)
def test_selections_are_parts_of_the_whole(batches: list[Profile]) -> None:
    live = live_of(batches)
    tables, overall = live.tables, live.overall

    def weight(chosen: Chosen) -> int:
        return sum(sample.weight for sample in chosen_samples(tables, overall, chosen))

    threads = range(len(tables.threads))
    assert sum(weight(Chosen(thread)) for thread in threads) == weight(ALL)
    assert weight(Chosen(None, Activity.WORKING)) + weight(Chosen(None, Activity.WAITING)) == weight(ALL)
    waited = sum(
        sample.weight for profile in batches for sample in profile.samples
        if sample.stack in waiting_stacks(profile)
    )  # fmt: skip
    assert weight(Chosen(None, Activity.WAITING)) == waited
    for chosen in (Chosen(0), Chosen(None, Activity.WORKING)):
        by_function = costs(overall, chosen)
        ends = sum(s.weight for s in chosen_samples(tables, overall, chosen) if tables.stacks[s.stack])
        assert sum(cost.own for cost in by_function.values()) == ends
        assert all(0 <= cost.waiting <= cost.own <= cost.total for cost in by_function.values())


@pytest.mark.parametrize(("window_s", "seconds"), [(1, 1), (1.5, 2), (3, 3), (60, 60)])
def test_windows_slide(window_s: float, seconds: int) -> None:
    clock = ManualClock()
    live = live_of([WAIT] * 70 + [WORK] * seconds, clock)
    recent = live.recent(window_s)
    assert (recent.sampled_s, recent.samples) == (seconds, 4 * seconds)
    assert {live.tables.functions[number][0] for number in costs(recent)} == {"f", "g"}
    assert live.overall.samples == 70 * 2 + 4 * seconds


def test_a_window_shorter_than_a_batch_has_the_newest_batch() -> None:
    live = LiveSamples()
    live.add(Batch(0, 5, WAIT, 50))
    live.add(Batch(5, 10, WORK, 50))
    assert live.recent(1).samples == WORK.total_weight
    assert live.recent(1).achieved_hz == 10


def test_what_batches_overlap_is_sampled_once_and_rates_without_rounds_are_not_known() -> None:
    live = LiveSamples()
    assert live.overall.achieved_hz is None
    for began_s, until_s, rounds in ((0, 5, 50), (4.5, 9.5, 50), (11, 12, 10)):
        live.add(Batch(began_s, until_s, WORK, rounds))
    assert (live.overall.sampled_s, live.until_s) == (10.5, 12)
    live = LiveSamples()
    live.add(Batch(0, 1, WORK, None))
    assert live.overall.achieved_hz is None


def test_a_reset_forgets_samples_and_keeps_numbers() -> None:
    live = live_of([WORK])
    before = dict(enumerate(live.tables.functions))
    live.reset()
    assert (live.overall.samples, live.recent(60).samples, live.until_s, live.newest) == (0, 0, None, {})
    live.add(Batch(5, 6, WAIT, 10))
    assert live.overall.samples == WAIT.total_weight
    assert dict(enumerate(live.tables.functions)).items() >= before.items()


def test_waiting_is_recognized_by_source_lines() -> None:
    live = LiveSamples(lambda file, line: "time.sleep(1)" if line == 3 else "work()")
    live.add(Batch(0, 1, WORK, 10))
    live.add(Batch(1, 2, WAIT, 10))
    rows = thread_rows(live, live.overall)
    assert [(row.thread.tid, row.working, row.waits_now, row.function) for row in rows] == [
        (1, 4, False, "g"), (2, 0, True, "h")
    ]  # fmt: skip


def names(live: LiveSamples, order: Order, text: str = "") -> list[str]:
    return [row.name for row in function_rows(live, live.recent(1), ALL, order, text)]


@pytest.mark.parametrize(
    ("order", "text", "expected"),
    [
        (Order.RECENT_SELF, "", "abc"), (Order.RECENT_TOTAL, "", "bac"), (Order.SELF, "", "cab"),
        (Order.TOTAL, "", "bca"), (Order.NAME, "", "abc"), (Order.NAME, "C", "c"),
        (Order.NAME, "APP.PY", "abc"),
    ],
)  # fmt: skip
def test_orders_and_filter(order: Order, text: str, expected: str) -> None:
    live = live_of([profile_of(("b c", 9)), profile_of(("b a", 4), ("b", 1))])
    assert names(live, order, text) == [*expected]


def test_work_comes_before_waiting() -> None:
    live = LiveSamples(lambda file, line: "time.sleep(1)" if line == 3 else "")
    live.add(Batch(0, 1, profile_of(("f:1", 2), ("h:3", 9)), 10))
    assert names(live, Order.RECENT_SELF) == ["f", "h"]


SAMPLES = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(1, 5)), max_size=8)


@settings(max_examples=25)
@given(batches=st.lists(SAMPLES, max_size=5), apart=st.floats(0, 3))
def test_samples_are_kept_in_order_and_do_not_overlap(
    batches: list[list[tuple[int, int, int]]], apart: float
) -> None:
    history = History()
    for number, samples in enumerate(batches):
        history.add(number * apart, samples, tuple(range(len(samples))))
    kept = list(history.samples())
    assert kept == [sample for samples in batches for sample in samples]
    ends: Counter[int] = Counter()
    for (_, thread, weight), start in zip(kept, history.starts(0.1), strict=True):
        assert start >= ends[thread]
        ends[thread] = start + weight


def test_starts_that_are_not_known_and_samples_that_are_too_many() -> None:
    history = History()
    assert history.starts(1.0) == ()
    history.add(0, [(0, 0, 1)], ())
    assert history.starts(1.0) == ()
    history = History(most=3)
    history.add(1.5, [(0, 0, 1)] * 3, (0, 1, 2))
    assert (len(history), history.is_whole, history.starts(1.0)) == (3, True, (0, 1, 2))
    for began_s in (2.5, 3.5):
        history.add(began_s, [(0, 0, 1)], (0,))
    assert (len(history), history.is_whole, history.began_s) == (0, False, 1.5)
    assert history.starts(1.0) == ()


def test_equal_stacks_of_threads_in_different_states_differ(tmp_path: Path) -> None:
    frames = (Frame("f", str(tmp_path), 1),)
    profile = Profile(
        frames=frames, stacks=((0,), (0,)), threads=(Thread(1, 1, "t"),),
        samples=((0, 0, 2), (1, 0, 3)), states=(ThreadState.WORKING, ThreadState.WAITING),  # type: ignore[arg-type]
    )  # fmt: skip
    live = LiveSamples()
    live.add(Batch(0, 1, profile, 5))
    assert [row.working for row in thread_rows(live, live.overall)] == [2]
