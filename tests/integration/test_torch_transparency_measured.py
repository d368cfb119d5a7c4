"""Code decorated with a measuring mode behaves under PyTorch's compilers and tracers as if it were not.

The cases are those of sampled functions; nothing is measured here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch  # noqa: F401 - so that the module is left out where torch is missing

from profkit import profile
from profkit.measuring.decorated import program
from profkit.measuring.decorated.backlog import Backlog
from tests.integration import test_torch_transparency as sampled
from tests.integration.test_torch_transparency import (  # noqa: F401 - collected here, too
    TestAboveCompiled,
    TestExport,
    TestMethodsWithinCompiled,
    TestModules,
    TestOtherTracers,
    fresh_dynamo,
)

pytestmark = [pytest.mark.filterwarnings("ignore::DeprecationWarning"), pytest.mark.torch]


class TestCompiledItself(sampled.TestCompiledItself):
    test_calls_are_seen = None  # in samples
    test_first_call_that_starts_a_session = None  # of samples


class TestWithinCompiled(sampled.TestWithinCompiled):
    test_generator = None  # cannot be measured

    def test_traced_away_is_reported(self, caplog: pytest.LogCaptureFixture) -> None:  # type: ignore[override]
        decorated = sampled.wave(measured(label="traced away"))
        outer = sampled.Compiler()(lambda x: decorated(x), fullgraph=True)
        for _ in range(5):
            outer(sampled.X)
        assert caplog.text.count("traced away: calls that torch compiles or exports are not measured") == 1
        assert decorated.last_run is None


def measured(function: Callable[..., Any] | None = None, /, label: str | None = None) -> Any:
    return profile(function, mode="timer", label=label)  # type: ignore[call-overload]


@pytest.fixture(autouse=True)
def instead_of_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampled, "profile", measured)
    monkeypatch.setattr(program, "BACKLOG", Backlog())
    monkeypatch.setattr(Backlog, "add", lambda self, pending: pending.payload.close())
