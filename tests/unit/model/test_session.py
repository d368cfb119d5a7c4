"""What a sampler's settings say about its stacks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from profkit.model.region import CALLS_ONLY
from profkit.model.session import SamplerPlan


@pytest.mark.parametrize(
    ("sampler", "blocking", "may_tear"),
    [
        ("pyspy", False, True),
        ("pyspy", True, False),
        ("cpython", False, False),
        ("inprocess", False, False),
        (CALLS_ONLY, False, False),
        ("strobeclient", False, True),
    ],
)
def test_only_stacks_that_are_read_unchecked_while_the_program_runs_may_tear(
    sampler: str, blocking: bool, may_tear: bool
) -> None:
    plan = replace(SamplerPlan.unknown(sampler, scope="call"), blocking=blocking)
    assert plan.may_tear is may_tear
