"""Moments of `profkit report --since`; `test_report_merged` has which runs are merged."""

from __future__ import annotations

import pytest

from profkit.cli.runs_to_merge import parse_moment
from profkit.errors import UsageError


@pytest.mark.parametrize(
    ("text", "expected_s"), [("10m", 400.0), ("2h", -6200.0), ("1970-01-01T00:00:07+00:00", 7.0)]
)
def test_moments(text: str, expected_s: float) -> None:
    assert parse_moment(text, now_ns=1000 * 10**9) == expected_s * 1e9


def test_a_moment_that_is_none() -> None:
    with pytest.raises(UsageError, match="give it as 10m, 2h, 1d or 2026-11-22T14:30"):
        parse_moment("yesterday")
