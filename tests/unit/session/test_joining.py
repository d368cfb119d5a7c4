"""The table of who may join a session."""

from __future__ import annotations

import pytest

from profkit.samplers.options import SamplerOptions
from profkit.session.counters import Policy
from profkit.session.joining import Decision, decide

A, B, WHOLE = SamplerOptions(), SamplerOptions(rate_hz=7.0), SamplerOptions(scope="process")
STRICT = Policy("raise", strict=True)


@pytest.mark.parametrize(
    ("held", "asked", "policy", "busy", "nested", "decision"),
    [
        (None, A, Policy(), False, False, Decision.START),
        (A, A, Policy(), True, False, Decision.JOIN),
        (A, B, Policy(), True, True, Decision.JOIN),
        (A, B, Policy(), False, False, Decision.REPLACE),
        (A, B, Policy("share"), True, False, Decision.SHARE),
        (A, B, Policy("skip"), True, False, Decision.SKIP),
        (A, B, Policy("wait"), True, False, Decision.WAIT),
        (A, B, STRICT, True, False, Decision.RAISE),
        (WHOLE, WHOLE, Policy(), True, False, Decision.SKIP),
        (WHOLE, WHOLE, Policy(), False, False, Decision.JOIN),
        (A, WHOLE, Policy("share"), True, False, Decision.SKIP),
        (WHOLE, A, Policy("wait"), True, False, Decision.WAIT),
    ],
)
def test_decide(
    held: SamplerOptions | None, asked: SamplerOptions, policy: Policy, busy: bool, nested: bool,
    decision: Decision,
) -> None:  # fmt: skip
    assert decide(held, asked, policy, busy=busy, nested=nested) is decision
