from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.model.histogram import (
    NO_DURATIONS,
    bucket_bounds_ns,
    bucket_of,
    histogram_of,
    merge_histograms,
    quantile_ns,
)
from profkit.stats.means import share_interval

durations = st.lists(st.one_of(st.integers(0, 200), st.integers(0, 10**15)), max_size=40)


@given(durations)
def test_a_histogram_is_exact_in_all_but_the_buckets(times: list[int]) -> None:
    histogram = histogram_of(times)
    assert histogram.count == len(times) == sum(count for _, count in histogram.buckets)
    assert histogram.sum_ns == sum(times)
    assert (histogram.min_ns, histogram.max_ns) == (min(times, default=0), max(times, default=0))
    numbers = [bucket for bucket, _ in histogram.buckets]
    assert numbers == sorted(set(map(bucket_of, times)))


@given(durations, durations, durations)
def test_merging_gives_the_histogram_of_all_durations(
    one: list[int], two: list[int], three: list[int]
) -> None:
    a, b, c = histogram_of(one), histogram_of(two), histogram_of(three)
    everything = histogram_of(one + two + three)
    assert merge_histograms([a, b, c]) == everything
    assert merge_histograms([merge_histograms([c, a]), b]) == everything
    assert merge_histograms([a, merge_histograms([b, c])]) == everything


def test_nothing_is_the_empty_histogram() -> None:
    assert histogram_of([]) == merge_histograms([]) == merge_histograms([NO_DURATIONS]) == NO_DURATIONS
    with pytest.raises(ValueError, match="quantile"):
        quantile_ns(NO_DURATIONS, 0.5)


def test_a_negative_duration_is_refused() -> None:
    with pytest.raises(ValueError, match="-3"):
        histogram_of([1, -3])


@given(durations.filter(bool), st.floats(0, 1), st.floats(0, 1))
def test_quantiles_rise_and_stay_within_the_durations(times: list[int], p: float, q: float) -> None:
    histogram = histogram_of(times)
    low, high = sorted((p, q))
    assert min(times) <= quantile_ns(histogram, low) <= quantile_ns(histogram, high) <= max(times)
    assert quantile_ns(histogram, 0) == min(times)
    assert quantile_ns(histogram, 1) == max(times)


@given(durations.filter(bool), st.floats(0, 1))
def test_a_quantile_lies_in_the_bucket_of_the_true_one(times: list[int], q: float) -> None:
    ordered = sorted(times)
    true = ordered[max(0, math.ceil(q * len(times)) - 1)]
    first, after = bucket_bounds_ns(bucket_of(true))
    assert first <= quantile_ns(histogram_of(times), q) <= after - 1


def test_short_durations_are_exact() -> None:
    histogram = histogram_of(range(1, 16))
    assert [quantile_ns(histogram, q) for q in (0.2, 0.6, 0.8)] == [3, 9, 12]


@pytest.mark.parametrize("q", [-0.1, 1.1, math.nan])
def test_no_other_shares(q: float) -> None:
    with pytest.raises(ValueError, match="quantile"):
        quantile_ns(histogram_of([1]), q)


def test_known_wilson_intervals() -> None:
    # Newcombe, Statistics in Medicine 17 (1998), table I, method 3.
    for weight, total, low, high in ((81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0, 0.1611),
                                     (1, 29, 0.0061, 0.1718)):  # fmt: skip
        assert share_interval(weight, total) == pytest.approx((low, high), abs=5e-5)


def test_no_samples_say_nothing() -> None:
    assert share_interval(0, 0) == (0.0, 1.0)


@given(st.integers(1, 10**6).flatmap(lambda total: st.tuples(st.integers(0, total), st.just(total))))
def test_an_interval_holds_its_share_and_narrows_with_samples(counts: tuple[int, int]) -> None:
    weight, total = counts
    low, high = share_interval(weight, total)
    assert 0 <= low <= weight / total <= high <= 1
    more_low, more_high = share_interval(4 * weight, 4 * total)
    assert more_high - more_low < high - low


@pytest.mark.parametrize(("weight", "total"), [(2, 1), (-1, 3)])
def test_what_is_no_share_is_refused(weight: int, total: int) -> None:
    with pytest.raises(ValueError, match="no share"):
        share_interval(weight, total)
