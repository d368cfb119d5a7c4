"""Turning the compile-time hook on where torch cannot be imported."""

from __future__ import annotations

import logging
import sys

import pytest

from profkit.errors import InvalidOption
from profkit.integrations import torch_compile
from profkit.process import guard
from profkit.pytorch.errors import TorchMissing


@pytest.fixture
def without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """No module of torch can be imported, as where it is not installed."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "torch"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setattr(guard, "_LOGGED", set())


@pytest.mark.usefixtures("without_torch")
def test_one_warning_without_torch(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "profkit"):
        for _ in range(2):
            with torch_compile.enable() as compilations:
                assert not compilations.active
                assert compilations.runs == ()
    (message,) = [record.getMessage() for record in caplog.records]
    assert message.startswith("compilations run unprofiled: profiling compilations needs torch")


@pytest.mark.usefixtures("without_torch")
def test_strict_options_raise() -> None:
    with pytest.raises(TorchMissing, match="install torch"):
        torch_compile.enable(stop_at_error=True)
    torch_compile.disable()


def test_options_are_checked_before_torch_is_imported() -> None:
    with pytest.raises(InvalidOption):
        torch_compile.enable(rate=-1)
