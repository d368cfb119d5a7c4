"""Sums of weights over parts."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from profkit.transforms.sums import by_weight, sum_parts

THINGS = st.lists(st.tuples(st.frozensets(st.integers(0, 5)), st.integers(0, 4)), max_size=20)


@given(THINGS)
def test_each_part_has_the_weight_of_its_things(things: list[tuple[frozenset[int], int]]) -> None:
    expected: Counter[int] = Counter()
    for parts, weight in things:
        for part in parts:
            expected[part] += weight
    assert sum_parts(by_weight(things), lambda parts: parts) == dict(expected)


def test_weights_may_be_fractions() -> None:
    groups = by_weight([("ab", 0.5), ("bc", 0.25), ("b", 0.5)])
    assert groups == {0.5: ["ab", "b"], 0.25: ["bc"]}
    assert sum_parts(groups, lambda text: map(ord, text)) == {ord("a"): 0.5, ord("b"): 1.25, ord("c"): 0.25}
