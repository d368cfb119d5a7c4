from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from profkit.errors import InvalidOption
from profkit.samplers import registry
from profkit.samplers.cpython import CPythonSampler
from profkit.samplers.options import SamplerOptions
from profkit.samplers.pyspy import PySpySampler

INSIDE = ("inprocess", "auto")


def ways(**options: object) -> list[tuple[str, object]]:
    """What is tried, in order."""
    found = registry.list_fallbacks(SamplerOptions(**options))  # type: ignore[arg-type]
    return [(fallback.sampler.name, fallback.options.blocking) for fallback in found]


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


@pytest.fixture
def before_cpython(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try the same with every Python that runs this."""
    monkeypatch.setattr(registry, "_CPYTHON_SINCE", (99,))
    monkeypatch.setattr(registry, "_FREE_THREADED", False)


def install(monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    """Let py-spy and CPython's reader be found, with the abilities of a version of Python."""
    monkeypatch.setattr(registry, "_CPYTHON_SINCE", (3, 0))
    monkeypatch.setitem(registry._SAMPLERS, "cpython", CPythonSampler("python", version))
    monkeypatch.setattr(PySpySampler, "find", lambda sampler: "py-spy")


def test_names():
    assert registry.names() == ("auto", "cpython", "inprocess", "none", "pyspy", "strobeclient")
    for name in ("cpython", "inprocess", "none", "pyspy", "strobeclient"):
        assert registry.resolve(name).name == name


@pytest.mark.usefixtures("before_cpython")
def test_auto_prefers_strobeclient_on_path(path: Path):
    pyspy = [("pyspy", "auto"), ("pyspy", False)]
    assert ways() == [*pyspy, INSIDE]
    (path / "strobeclient").write_text("#!/bin/sh\n")
    assert ways() == [*pyspy, INSIDE], "it must be executable"
    (path / "strobeclient").chmod(0o755)
    assert ways() == [("strobeclient", "auto"), *pyspy, INSIDE]
    assert ways(native=True) == [("pyspy", "auto")], "strobeclient has no native frames"


@pytest.mark.usefixtures("before_cpython")
def test_what_was_asked_for_is_the_only_way():
    assert ways(sampler="pyspy") == [("pyspy", "auto")]
    assert ways(blocking=True) == [("pyspy", True)]
    assert ways(blocking=False) == [("pyspy", False), ("inprocess", False)]


@pytest.mark.states
def test_auto_prefers_the_reader_of_cpython(path: Path):
    assert ways()[0] == ("cpython", "auto")
    assert ways(rate_hz=500.0)[0] == ("cpython", "auto")
    for options in ({"native": True}, {"blocking": True}, {"rate_hz": 9000.0}):
        assert ways(**options)[0][0] == "pyspy"


@pytest.mark.gil
@pytest.mark.parametrize("library", ["gevent", "sqlalchemy.ext.asyncio"])
def test_greenlets_are_read_by_pyspy(path: Path, monkeypatch: pytest.MonkeyPatch, library: str):
    install(monkeypatch, "3.15.0")
    monkeypatch.setitem(sys.modules, library, sys)
    assert ways() == [("pyspy", "auto"), ("pyspy", False), ("cpython", "auto"), INSIDE]


@pytest.mark.gil
def test_auto_leaves_out_what_a_sampler_does_not_support(path: Path, monkeypatch: pytest.MonkeyPatch):
    install(monkeypatch, "3.14.0")
    pyspy = [("pyspy", "auto"), ("pyspy", False)]
    assert ways() == [("cpython", "auto"), *pyspy, INSIDE]
    assert ways(gil=True) == pyspy, "3.14 does not report the states of threads"
    install(monkeypatch, "3.15.0")
    assert ways(gil=True) == [("cpython", "auto"), *pyspy]
    assert ways(async_stacks=True) == [("cpython", "auto")]
    assert ways(blocking=True) == [("pyspy", True)]
    assert ways(native=True) == [("pyspy", "auto")]


def test_free_threaded_programs_are_read_by_cpython(path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(registry, "_FREE_THREADED", True)
    install(monkeypatch, "3.15.0")
    pyspy = [("pyspy", "auto"), ("pyspy", False)]
    assert ways() == [("cpython", "auto"), INSIDE, *pyspy]
    monkeypatch.setattr(registry, "_CPYTHON_SINCE", (99,))
    assert ways() == [INSIDE, ("cpython", "auto"), *pyspy], "stacks of 3.14 may be cut"
    assert ways(native=True) == [("pyspy", "auto")], "a later py-spy may support it"


def test_nothing_installed_is_said(path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "executable", "")
    for name, program in (("pyspy", "py-spy"), ("strobeclient", "strobeclient")):
        (fallback,) = registry.list_fallbacks(SamplerOptions(sampler=name))
        assert program in str(fallback.missing)


@pytest.mark.parametrize("with_strobeclient", [False, True])
@pytest.mark.parametrize("ask", [registry.check, registry.list_fallbacks])
def test_options_that_no_sampler_supports_are_explained_by_the_best_one(
    ask: Callable[[SamplerOptions], object], with_strobeclient: bool, monkeypatch: pytest.MonkeyPatch
):
    options = SamplerOptions(async_stacks=True, native=True)
    best, *_ = [name for name in registry._candidates(options) if name != "strobeclient"]
    with pytest.raises(InvalidOption) as of_best:
        registry.resolve(best).check(options)
    found = "/usr/bin/strobeclient" if with_strobeclient else None
    monkeypatch.setattr(registry.shutil, "which", lambda name: found)
    with pytest.raises(InvalidOption) as said:
        ask(options)
    assert str(said.value) == str(of_best.value)


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(
        InvalidOption, match="give one of auto, cpython, inprocess, none, pyspy, strobeclient"
    ):
        registry.resolve("austin")


def test_a_sampler_of_ones_own(monkeypatch: pytest.MonkeyPatch):
    class Own(PySpySampler):
        name = "own"

    monkeypatch.setattr(registry, "_SAMPLERS", dict(registry._SAMPLERS))
    own = Own()
    registry.register(own)
    assert registry.resolve("own") is own
    assert registry.names() == ("auto", "cpython", "inprocess", "none", "own", "pyspy", "strobeclient")
