"""Process of the `cpython` sampler: its command line, and failures explained from its log."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from profkit.model.session import SamplerPlan
from profkit.samplers import cpython_process, helper

PLAN = replace(SamplerPlan.unknown("cpython", scope="call", rate_hz=1000.0), max_duration_s=600.0)
OUTPUT = Path("/spool/session/segment-000.stacks")


def words(plan: SamplerPlan) -> tuple[str, ...]:
    return cpython_process.command("/usr/bin/python3", 4711, plan, OUTPUT)


def test_the_command_line() -> None:
    assert words(PLAN) == (
        *("/usr/bin/python3", "-I", "-S", f"{helper.__path__[0]}/__main__.py"),
        *("--pid=4711", "--rate=1000", "--duration=605", "--only=all", "--retries=10", "--children=no"),
        str(OUTPUT),
    )


def test_the_command_line_of_other_plans() -> None:
    assert "--only=cpu" in words(replace(PLAN, idle=False))
    assert "--only=gil" in words(replace(PLAN, idle=False, gil=True))
    assert "--children=yes" in words(replace(PLAN, subprocesses=True))
    assert "--rate=0.333333" in words(replace(PLAN, rate_hz=1 / 3))
    assert "--duration=6" in words(replace(PLAN, max_duration_s=0.01))
