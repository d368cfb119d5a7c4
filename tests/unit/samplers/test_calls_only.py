"""The sampler that takes no samples."""

from __future__ import annotations

from pathlib import Path

import pytest

from profkit.clock import ManualClock
from profkit.errors import InvalidOption
from profkit.model.region import CALLS_ONLY
from profkit.model.session import SessionState
from profkit.samplers import registry
from profkit.samplers.base import LiveStacks, await_state
from profkit.samplers.calls_only import CallsOnlySampler
from profkit.samplers.options import SamplerOptions

SAMPLER = CallsOnlySampler()


def test_it_is_running_at_once_and_done_at_once(tmp_path: Path) -> None:
    clock = ManualClock()
    plan = SAMPLER.plan(SamplerOptions(CALLS_ONLY), LiveStacks(1, 5))
    attachment = SAMPLER.attach(1, plan, tmp_path, 3, clock)
    assert await_state(attachment, SessionState.RUNNING, 0, clock, "-") is SessionState.RUNNING
    assert (attachment.segment().index, attachment.segment().pid) == (3, None)
    attachment.request_stop()
    assert await_state(attachment, SessionState.SUCCESS, 0, clock, "-") is SessionState.SUCCESS
    attachment.kill()
    assert clock.monotonic_s() == ManualClock().monotonic_s()
    assert list(tmp_path.iterdir()) == []
    assert (plan.sampler, plan.rate_hz) == (CALLS_ONLY, 0)


@pytest.mark.parametrize(
    ("option", "options"),
    [
        ("rate", {"rate_hz": 5.0}), ("sample_each", {"sample_each": 1e9}), ("blocking", {"blocking": True}),
        ("native", {"native": True}), ("idle", {"idle": False}), ("subprocesses", {"subprocesses": True}),
        ("async_stacks", {"async_stacks": True}), ("allow_dumpable", {"allow_dumpable": True}),
        pytest.param("gil", {"gil": True}, marks=pytest.mark.gil),
    ],
)  # fmt: skip
def test_options_about_samples_are_refused(option: str, options: dict[str, object]) -> None:
    with pytest.raises(InvalidOption, match=f"^{option}=.*sampler='none' takes no samples"):
        registry.check(SamplerOptions(CALLS_ONLY, **options))  # type: ignore[arg-type]


def test_others_are_accepted() -> None:
    options = SamplerOptions(CALLS_ONLY, scope="process", max_duration_s=9.0, tags=("a",))
    (fallback,) = registry.list_fallbacks(options)
    assert fallback.sampler.plan(options, LiveStacks(1, 5)).tags == ("a",)
