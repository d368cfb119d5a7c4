"""What commands wait for: samplers of programs that have ended, and for a bounded time."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from profkit.cli.workspace import await_samplers
from profkit.clock import ManualClock
from profkit.config import Config, read_config
from profkit.process.procfs import start_ticks
from tests.support.example_sessions import manifest, segment, session_folder

OURS = replace(manifest().process, launch="a1", host=os.uname().nodename)


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return read_config({"PROFKIT_SPOOL": str(tmp_path / "spool")}, tmp_path)


@pytest.mark.parametrize(
    ("launch", "has_sampler", "is_running", "waited_s"),
    [("a1", True, False, 5.0), ("a1", False, False, 0.0), ("a1", True, True, 0.0), ("b2", True, False, 0.0)],
    ids=["a sampler that writes", "no sampler", "a program that goes on", "another launch"],
)
def test_samplers_of_programs_that_have_ended_are_awaited(
    launch: str, has_sampler: bool, is_running: bool, waited_s: float, config: Config
) -> None:
    own = {"pid": os.getpid(), "start_ticks": start_ticks(os.getpid())}
    process = replace(OURS, launch=launch, **(own if is_running else {}))  # type: ignore[arg-type]
    part = segment(0, **own) if has_sampler else segment(0)
    session_folder(config.spool, manifest(part, process=process))
    clock = ManualClock()
    await_samplers("a1", config, clock)
    assert clock.monotonic_s() == pytest.approx(waited_s, abs=0.02)


def test_without_a_spool_there_is_nothing_to_wait_for(config: Config) -> None:
    clock = ManualClock()
    await_samplers("a1", config, clock)
    assert clock.monotonic_s() == 0.0
