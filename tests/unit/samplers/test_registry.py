from __future__ import annotations

from pathlib import Path

import pytest

from profkit.errors import InvalidOption
from profkit.samplers import registry
from profkit.samplers.pyspy import PySpySampler


def test_names():
    assert registry.names() == ("auto", "pyspy", "strobeclient")
    for name in ("pyspy", "strobeclient"):
        assert registry.resolve(name).name == name


def test_auto_prefers_strobeclient_on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert registry.resolve("auto").name == "pyspy"
    (tmp_path / "strobeclient").write_text("#!/bin/sh\n")
    assert registry.resolve("auto").name == "pyspy", "it must be executable"
    (tmp_path / "strobeclient").chmod(0o755)
    assert registry.resolve("auto").name == "strobeclient"


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(InvalidOption, match="give one of auto, pyspy, strobeclient"):
        registry.resolve("austin")


def test_a_sampler_of_ones_own(monkeypatch: pytest.MonkeyPatch):
    class Own(PySpySampler):
        name = "own"

    monkeypatch.setattr(registry, "_SAMPLERS", dict(registry._SAMPLERS))
    own = Own()
    registry.register(own)
    assert registry.resolve("own") is own
    assert registry.names() == ("auto", "own", "pyspy", "strobeclient")
