"""Headlines of comparisons, and which functions only lost share because of others."""

from __future__ import annotations

import pytest

from profkit.model.comparison import Change, Compared, Difference, Estimate, FunctionComparison
from profkit.render.views.sampled_comparison import is_bystander

LESS = Compared(
    Estimate(0.4, 0.38, 0.42), Estimate(0.3, 0.28, 0.32), Difference(-0.1, -0.13, -0.07, 0.001, Change.LESS)
)
SAME = Compared(
    Estimate(0.4, 0.38, 0.42), Estimate(0.39, 0.37, 0.41), Difference(-0.01, -0.03, 0.01, 0.4, Change.NOISE)
)
Pair = tuple[Estimate, Estimate]


def function(share: Compared, time_s: Pair | None) -> FunctionComparison:
    return FunctionComparison("f", "a.py", share, share, time_s, time_s)


@pytest.mark.parametrize(
    ("share", "time_s", "expected"),
    [
        (LESS, (Estimate(1.0, 0.9, 1.1), Estimate(1.02, 0.92, 1.12)), True),
        (LESS, (Estimate(1.0, 0.99, 1.01), Estimate(0.7, 0.69, 0.71)), False),
        (LESS, None, False),
        (SAME, (Estimate(1.0, 0.9, 1.1), Estimate(1.0, 0.9, 1.1)), False),
    ],
)
def test_a_function_whose_time_per_call_is_the_same_is_a_bystander(
    share: Compared, time_s: Pair | None, expected: bool
) -> None:
    assert is_bystander(function(share, time_s)) is expected
