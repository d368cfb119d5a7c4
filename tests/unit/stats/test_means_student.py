from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.stats.means import t_quantile, t_two_sided

TABLE = {
    (0.05, 1): 12.7062,
    (0.05, 2): 4.3027,
    (0.05, 4): 2.7764,
    (0.01, 10): 3.1693,
    (0.001, 30): 3.6460,
    (0.1, 120): 1.6577,
    (0.05, math.inf): 1.95996,
}
"""Of any book: two-sided."""

degrees = st.floats(0.5, 1e5)


@pytest.mark.parametrize(("wrong", "df"), TABLE)
def test_the_table_of_any_book(wrong: float, df: float) -> None:
    assert t_quantile(wrong, df) == pytest.approx(TABLE[wrong, df], abs=6e-5)


@given(st.floats(0.0, 1e6), degrees)
def test_a_tail_is_a_probability_that_falls(t: float, df: float) -> None:
    p = t_two_sided(t, df)
    assert 0 <= p <= 1
    assert t_two_sided(-t, df) == p
    assert t_two_sided(t * 1.1 + 0.01, df) <= p


@given(st.floats(1e-9, 1.0), degrees)
def test_a_quantile_is_where_the_tail_begins(wrong: float, df: float) -> None:
    assert t_two_sided(t_quantile(wrong, df), df) == pytest.approx(wrong, rel=1e-6, abs=1e-12)


@given(st.floats(0.0, 50.0))
def test_one_and_two_degrees_have_closed_forms(t: float) -> None:
    assert t_two_sided(t, 1) == pytest.approx(1 - 2 * math.atan(t) / math.pi, abs=1e-12)
    assert t_two_sided(t, 2) == pytest.approx(1 - t / math.sqrt(2 + t * t), abs=1e-12)


@given(st.floats(0.0, 6.0))
def test_many_degrees_are_the_normal_distribution(t: float) -> None:
    assert t_two_sided(t, 1e6) == pytest.approx(t_two_sided(t, math.inf), abs=1e-5)


def test_what_makes_no_sense_is_refused() -> None:
    assert t_two_sided(math.inf, 3) == 0
    with pytest.raises(ValueError, match="degrees"):
        t_two_sided(1.0, 0)
    for wrong in (0.0, 1.5):
        with pytest.raises(ValueError, match="probability"):
            t_quantile(wrong, 5)
