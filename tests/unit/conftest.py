"""Fixtures of several test modules."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from profkit.cli.main import main
from profkit.config import Config, read_config
from profkit.samplers import attach_facts
from tests.support.cli_runs import Profkit, Said


@pytest.fixture(autouse=True)
def _time_for_probes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Probes of system calls have time, however busy the machine is."""
    monkeypatch.setattr(attach_facts, "_PROBE_TIMEOUT_S", 60.0)


@pytest.fixture
def config(tmp_path: Path) -> Config:
    """Where a program in the test's own folder keeps things."""
    return read_config({}, tmp_path)


@pytest.fixture
def own_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The key of seals is the test's own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Local time is UTC."""
    with monkeypatch.context() as changed:
        changed.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()


@pytest.fixture
def profkit(config: Config, capsys: pytest.CaptureFixture[str]) -> Profkit:
    """`profkit`, called in this process."""

    def called(*arguments: str) -> Said:
        capsys.readouterr()
        code = main(arguments, config)
        return Said(code, *capsys.readouterr())

    return called
