"""Figures of the benchmarks: what an interval says of a bound, and where intervals come from."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.figures import Figure, figure_from
from benchmarks.pairs import difference_figure, estimate, interleaved, ratio_figure, summed
from benchmarks.table import table_json, table_text

TIMES = st.floats(0.001, 1000)


@pytest.mark.parametrize(
    ("interval", "certain", "verdict"),
    [
        ((0.9, 1.05), False, "holds"),
        ((1.06, 1.2), False, "fails"),
        ((0.9, 1.2), False, "undecided"),
        (None, False, "undecided"),
        (None, True, "holds"),
    ],
)
def test_verdict(interval: tuple[float, float] | None, certain: bool, verdict: str) -> None:
    assert Figure("w", 1.0, bound=1.05, interval=interval, certain=certain).verdict == verdict


def test_without_a_bound_there_is_no_verdict() -> None:
    assert Figure("w", 1.0, interval=(0.9, 1.1)).verdict == ""


@pytest.mark.parametrize(("count", "rank"), [(5, 0), (6, 1), (8, 1), (9, 2), (20, 6), (80, 31)])
def test_ranks_of_the_tables(count: int, rank: int) -> None:
    """W. J. Conover, Practical Nonparametric Statistics: the sign test's ranks at 5 %, two-sided."""
    found = estimate([float(number) for number in range(1, count + 1)])
    assert found.interval == ((rank, count + 1 - rank) if rank else None)


@given(st.lists(TIMES, min_size=1, max_size=60))
def test_an_estimate_lies_within_its_interval_and_spread(values: list[float]) -> None:
    found = estimate(values)
    low, high = found.interval or found.spread
    assert found.spread[0] <= low <= found.median <= high <= found.spread[1]


@given(st.lists(st.tuples(TIMES, TIMES), min_size=1, max_size=60))
def test_ratios_turn_round(pairs: list[tuple[float, float]]) -> None:
    """With the sides exchanged the interval is the inverse one."""
    there = ratio_figure("w", pairs)
    back = ratio_figure("w", [(second, first) for first, second in pairs])
    assert (there.interval is None) == (len(pairs) < 6)
    if there.interval is not None and back.interval is not None:
        assert math.isclose(there.interval[0], 1 / back.interval[1])
        assert math.isclose(there.interval[1], 1 / back.interval[0])


def test_a_drift_hits_both_sides_alike() -> None:
    """A machine that gets slower by the same at each measurement shows no difference in the end."""
    clock = iter(range(100, 1000))
    pairs = interleaved(lambda: next(clock), lambda: next(clock), 20)
    assert sum(first for first, _ in pairs) == sum(second for _, second in pairs)


@given(st.lists(st.tuples(TIMES, TIMES), min_size=1, max_size=40), st.integers(1, 10))
def test_sums_lose_nothing(pairs: list[tuple[float, float]], size: int) -> None:
    groups = summed(pairs, size)
    assert len(groups) == -(-len(pairs) // size)
    assert math.isclose(sum(a for a, _ in groups), sum(a for a, _ in pairs))


def test_a_difference_is_per_call_in_microseconds() -> None:
    figure = difference_figure("w", [(0.003, 0.001)] * 6, calls=1000, bound=2.5)
    assert figure.value == pytest.approx(2.0)
    assert (figure.unit, figure.verdict) == ("µs", "holds")
    assert figure.detail == "3.00 µs - 1.00 µs, 6 pairs"


FIGURES = [
    Figure("one ÷ other", 1.0312, "×", 1.05, False, (1.01, 1.04), (0.9, 1.2), "20 pairs", "calls"),
    Figure("missing", 0, "of 20", 0, certain=True, measurement="recovery"),
]  # fmt: skip


def test_table() -> None:
    text = table_text(FIGURES, {"Python": "3"})
    lines = {line.split()[0]: line for line in text.splitlines() if line}
    assert lines["Python:"] == "Python: 3"
    cells = ["one ÷ other", "1.031 ×", "1.010 - 1.040", "0.900 - 1.200", "≤ 1.050 ×", "holds", "20 pairs"]
    assert [cell for cell in cells if cell not in lines["calls"]] == []
    assert "0 of 20" in lines["recovery"]


def test_json_round_trip() -> None:
    document = json.loads(table_json(FIGURES, {"Python": "3"}))
    assert document["schema"] == "profkit.benchmarks/1"
    assert document["machine"] == {"Python": "3"}
    assert [figure_from(figure) for figure in document["figures"]] == FIGURES
    assert document["figures"][0]["verdict"] == "holds"
