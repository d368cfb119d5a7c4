"""Options of profilers that make no sense: each is one error, before anything starts."""

from __future__ import annotations

from typing import Any

import pytest

from profkit.calls.options import settings
from profkit.errors import InvalidOption, UsageError

WRONG: dict[str, tuple[object, ...]] = {
    "rate": (0, True, "fast"), "sample_each": (float("inf"),), "max_profile_duration_sec": (0, None),
    "timeout_wait_for_running_sec": (-1, None), "timeout_wait_for_finished_sec": (0,),
    "stack_max_len": (1.5,), "async_stack_max_len": (0,), "every": (None, 0.5),
    "stop_at_error": (1,), "threads": (None,),
    "enabled": ("no",), "native": (1,), "idle": ("yes",), "gil": (1,), "async_stacks": (None,),
    "subprocesses": (0,), "blocking": ("yes",), "scope": ("thread",), "on_busy": ("fail",), "sampler": (5,),
    "label": (5,),
}  # fmt: skip


@pytest.mark.parametrize(("name", "value"), [(name, value) for name in WRONG for value in WRONG[name]])
def test_the_option_is_named(name: str, value: object) -> None:
    options: Any = {name: value}
    with pytest.raises(InvalidOption) as caught:
        settings(options)
    assert caught.value.option == name


def test_what_does_not_go_together() -> None:
    with pytest.raises(UsageError, match="rate and sample_each both set"):
        settings({"rate": 100, "sample_each": 1e7})
    with pytest.raises(UsageError, match="native=True needs blocking"):
        settings({"native": True, "blocking": False})
    with pytest.raises(UsageError, match="it needs stop_at_error=True"):
        settings({"on_busy": "raise"})


def test_options_that_may_be_none() -> None:
    settings(
        {
            "rate": None,
            "sample_each": None,
            "timeout_wait_for_finished_sec": None,
            "stack_max_len": None,
            "async_stack_max_len": None,
            "label": None,
        }
    )
