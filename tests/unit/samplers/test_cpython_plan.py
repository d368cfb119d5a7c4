"""Plan of the `cpython` sampler."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from profkit.errors import InvalidOption, UsageError
from profkit.model.notes import Note, NoteCode
from profkit.model.session import SamplerPlan
from profkit.samplers import options, pyspy_plan
from profkit.samplers.base import HOST_CPU, LiveStacks
from profkit.samplers.cpython import DEFAULT_RATE_HZ, SAMPLER_CPU, CPythonSampler, round_cost_s
from profkit.samplers.options import SamplerOptions

FEW = LiveStacks(threads=1, frames=10)


def plan(options: SamplerOptions, live: LiveStacks, version: str = "3.15.0") -> SamplerPlan:
    """Plan with the same version for every Python that runs this."""
    return CPythonSampler(version=version).plan(options, live)


def check(options: SamplerOptions, version: tuple[int, int]) -> None:
    CPythonSampler(version=f"{version[0]}.{version[1]}.0").check(options)


def test_the_reader_of_3_14_cuts_stacks() -> None:
    made = plan(SamplerOptions(), FEW, "3.14.0")
    assert [note.code for note in made.notes] == [NoteCode.STACKS_CUT]


def refused(version: tuple[int, int], **given: Any) -> str:
    """The message about options."""
    with pytest.raises(UsageError) as caught:
        check(SamplerOptions(**given), version)
    return str(caught.value)


@pytest.mark.parametrize("version", [(3, 14), (3, 15), (3, 16)])
def test_what_it_does_not_support(version: tuple[int, int]) -> None:
    check(SamplerOptions(), version)
    check(SamplerOptions(blocking=False, subprocesses=True, scope="process"), version)
    for given in ({"blocking": True}, {"native": True}):
        assert "leave it out, or use sampler='pyspy'" in refused(version, **given)


@pytest.mark.gil
def test_the_states_of_threads_are_known_since_3_15() -> None:
    for given in ({"idle": False}, {"gil": True}):
        assert "since Python 3.15: leave it out, or use sampler='pyspy'" in refused((3, 14), **given)
        check(SamplerOptions(**given), (3, 15))
        check(SamplerOptions(**given), (3, 16))
    assert refused((3, 14), gil=True, idle=False).startswith("gil=True")


@pytest.mark.parametrize(("version", "fastest_hz"), [((3, 14), 3000), ((3, 15), 5000), ((3, 16), 5000)])
def test_rates(version: tuple[int, int], fastest_hz: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for rate_hz in (1, 2.5, fastest_hz):
        check(SamplerOptions(rate_hz=rate_hz), version)
    for rate_hz in (0.5, fastest_hz + 1):
        assert f"1 to {fastest_hz} Hz with Python 3.{version[1]}" in refused(version, rate_hz=rate_hz)
    monkeypatch.setattr(options, "cpu_frequency", lambda option, value: 2e9)
    check(SamplerOptions(sample_each=2e6), version)
    assert refused(version, sample_each=1e5).startswith("sample_each=")


def test_tasks_are_read_since_3_15() -> None:
    assert "leave it out, or use Python 3.15" in refused((3, 14), async_stacks=True)
    check(SamplerOptions(async_stacks=True, subprocesses=True), (3, 15))
    with pytest.raises(InvalidOption, match=r"only sampler='cpython' supports it, with Python 3\.15"):
        pyspy_plan.check(SamplerOptions(async_stacks=True))
    assert plan(SamplerOptions(async_stacks=True), FEW).async_stacks
    many = LiveStacks(threads=50, frames=480)
    assert plan(SamplerOptions(async_stacks=True), many).rate_hz == plan(SamplerOptions(), many).rate_hz // 5


def test_without_the_gil_it_cannot_be_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(options.sys, "_is_gil_enabled", lambda: False, raising=False)
    assert "runs without the GIL" in refused((3, 15), gil=True)
    check(SamplerOptions(), (3, 15))


@pytest.mark.parametrize(
    ("live", "rate_hz"),
    [
        (FEW, DEFAULT_RATE_HZ),
        (LiveStacks(threads=10, frames=180), DEFAULT_RATE_HZ),
        (LiveStacks(threads=50, frames=930), 250),
        (LiveStacks(threads=50, frames=10**6), 10),
    ],
)
def test_the_default_rate_keeps_within_a_quarter_of_a_core(live: LiveStacks, rate_hz: float) -> None:
    made = plan(SamplerOptions(), live)
    assert (made.rate_hz, made.blocking, made.native) == (rate_hz, False, False)
    codes = [] if rate_hz == DEFAULT_RATE_HZ else [NoteCode.LONG_ROUNDS]
    assert [note.code for note in made.notes] == codes
    assert made.rate_hz * round_cost_s(live) <= SAMPLER_CPU or made.rate_hz == 10


def test_a_requested_rate_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    crowd = LiveStacks(1, 10**6, other_samplers=9)
    made = plan(SamplerOptions(rate_hz=2500.0), crowd)
    assert (made.rate_hz, made.notes) == (2500.0, ())
    monkeypatch.setattr(options, "cpu_frequency", lambda option, value: 3e9)
    made = plan(SamplerOptions(sample_each=1e7), crowd)
    assert (made.rate_hz, made.sample_each, made.notes) == (300.0, 1e7, ())


@pytest.mark.parametrize(("others", "rate_hz"), [(0, 1000), (1, 1000), (7, 312), (999, 10)])
def test_samplers_of_a_host_share_a_part_of_it(others: int, rate_hz: float) -> None:
    made = plan(SamplerOptions(), replace(FEW, processors=2, other_samplers=others))
    assert made.rate_hz == rate_hz
    note = Note.of(NoteCode.SHARED_HOST, rate_hz=int(rate_hz), samplers=others, share=HOST_CPU)
    assert made.notes == (() if rate_hz == DEFAULT_RATE_HZ else (note,))


def test_the_rest_is_passed_on() -> None:
    given = SamplerOptions(idle=False, subprocesses=True, scope="process", max_duration_s=7.0, tags=("t",))
    made = plan(given, FEW)
    assert (made.sampler, made.idle, made.gil, made.subprocesses) == ("cpython", False, False, True)
    assert (made.scope, made.max_duration_s, made.tags, made.sample_each) == ("process", 7.0, ("t",), None)
    made = plan(SamplerOptions(gil=True), FEW)
    assert (made.idle, made.gil) == (False, True)
