from __future__ import annotations

from dataclasses import replace
from typing import Any

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.errors import InvalidOption, UsageError
from profkit.model.notes import Note, NoteCode
from profkit.process import procfs
from profkit.samplers.base import HOST_CPU, LiveStacks
from profkit.samplers.options import SamplerOptions
from profkit.samplers.pyspy_plan import (
    BUDGET,
    DEFAULT_RATE_HZ,
    FASTEST_HZ,
    SAMPLER_CPU,
    SLOWEST_BLOCKING_HZ,
    check,
    plan,
    round_cost_s,
)


def frames(count: int) -> LiveStacks:
    return LiveStacks(threads=3, frames=count)


def chosen(live: LiveStacks, **options: Any) -> tuple[float, bool, int]:
    """Rate, blocking, and how many notes explain them."""
    made = SamplerOptions(**options)
    check(made)
    result = plan(made, live)
    return result.rate_hz, result.blocking, len(result.notes)


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (5, (100, True, 0)),
        (25, (100, True, 0)),
        (26, (96, True, 1)),
        (50, (55, True, 1)),
        (56, (50, True, 1)),
        (57, (100, False, 1)),
        (300, (51, False, 2)),
        (5000, (10, False, 2)),
    ],
)
def test_without_a_rate_the_budget_decides(count: int, expected: tuple[float, bool, int]):
    assert chosen(frames(count)) == expected


@pytest.mark.parametrize(
    ("rate", "count", "expected"),
    [
        (10, 200, (10, True, 0)),
        (100, 20, (100, True, 0)),
        (100, 50, (100, False, 1)),
        (1000, 1, (1000, False, 1)),
        (300, 1, (300, True, 0)),
    ],
)
def test_a_rate_is_kept_and_blocking_follows(rate: float, count: int, expected: tuple[float, bool, int]):
    assert chosen(frames(count), rate_hz=rate) == expected


def test_what_is_requested_is_obeyed():
    assert chosen(frames(5000), blocking=True) == (100, True, 1)
    assert chosen(frames(5), blocking=True, rate_hz=50) == (50, True, 0)
    assert chosen(frames(5), blocking=False) == (100, False, 0)
    assert chosen(frames(5000), blocking=False, rate_hz=1000) == (1000, False, 0)


def test_native_stacks_block():
    assert chosen(frames(5), native=True) == (100, True, 0)
    assert chosen(frames(100), native=True) == (29, True, 1)
    assert chosen(frames(5000), native=True) == (1, True, 2)
    assert chosen(frames(100), native=True, rate_hz=100) == (100, True, 1)


def test_notes_show_the_cost():
    note, lowered = plan(SamplerOptions(), frames(500)).notes
    share = 100 * round_cost_s(frames(500))
    assert note == Note.of(NoteCode.NONBLOCKING_COST, rate_hz=100, frames=500, threads=3, share=share)
    assert lowered == Note.of(NoteCode.LONG_ROUNDS, rate_hz=30, usual_hz=100, frames=500, threads=3)
    (note,) = plan(SamplerOptions(blocking=True), frames(500)).notes
    assert note == Note.of(NoteCode.BLOCKING_COST, share=share)
    (note,) = plan(SamplerOptions(blocking=True), frames(50_000)).notes
    assert note == Note.of(NoteCode.BLOCKING_COST, share=1.0)


def test_time_on_the_processor_is_measured_without_stopping_the_program():
    made = plan(SamplerOptions(idle=False), frames(5))
    assert not made.blocking
    assert made.rate_hz == 100
    assert made.notes == (Note(NoteCode.NONBLOCKING_IDLE),)
    assert plan(SamplerOptions(idle=False, blocking=False), frames(5)).notes == ()


@pytest.mark.parametrize("options", [{"blocking": True}, {"native": True}], ids=str)
def test_time_on_the_processor_by_stopping_is_said_to_be_rough(options: dict[str, Any]):
    made = plan(SamplerOptions(idle=False, **options), frames(5))
    assert made.blocking
    assert made.notes == (Note(NoteCode.THREADS_WOKEN),)


@pytest.mark.parametrize(
    ("wait_s", "rate_hz", "blocking"),
    [(0.001, None, True), (0.002, None, False), (0.002, 50, True), (0.03, 5, True), (0.005, 500, False)],
)
def test_a_program_that_waits_for_processors_is_not_stopped(wait_s: float, rate_hz: float, blocking: bool):
    live = replace(frames(3), processor_wait_s=wait_s)
    made = plan(SamplerOptions(rate_hz=rate_hz), live)
    wanted_hz = rate_hz or 100
    assert (made.rate_hz, made.blocking) == (wanted_hz, blocking), "the rate is kept"
    note = Note.of(NoteCode.NONBLOCKING_BUSY, rate_hz=wanted_hz, wait_s=wait_s)
    assert made.notes == (() if blocking else (note,))
    assert plan(SamplerOptions(blocking=True), live).blocking


def test_sockets_with_a_timeout_are_not_disturbed():
    live = replace(frames(5), timed_sockets=True)
    made = plan(SamplerOptions(), live)
    assert not made.blocking
    assert made.notes == (Note(NoteCode.NONBLOCKING_SOCKETS),)
    asked = plan(SamplerOptions(blocking=True), live)
    assert not asked.blocking
    assert asked.notes == (Note(NoteCode.BLOCKING_NOT_KEPT),)
    native = plan(SamplerOptions(native=True), live)
    assert native.blocking
    assert native.notes == (Note(NoteCode.TIMEOUTS_RESTART),)
    assert plan(SamplerOptions(blocking=False), live).notes == ()


@pytest.mark.parametrize(("others", "expected"), [(0, 100), (3, 100), (7, 56), (99, 10)])
def test_samplers_of_a_host_share_a_part_of_it(others: int, expected: float):
    live = LiveStacks(1, 3, processors=2, other_samplers=others)
    made = plan(SamplerOptions(), live)
    assert (made.rate_hz, made.blocking) == (expected, True)
    note = Note.of(NoteCode.SHARED_HOST, rate_hz=int(expected), samplers=others, share=HOST_CPU)
    assert made.notes == (() if expected == 100 else (note,))
    assert plan(SamplerOptions(rate_hz=77), live).rate_hz == 77


@given(processors=st.integers(1, 256), others=st.integers(1, 2000), stacks=st.integers(1, 10_000))
def test_each_keeps_within_its_part(processors: int, others: int, stacks: int):
    live = LiveStacks(1, stacks, processors=processors, other_samplers=others)
    rate_hz = plan(SamplerOptions(), live).rate_hz
    assert rate_hz <= 10 or rate_hz * round_cost_s(live) * (others + 1) <= HOST_CPU * processors
    alone = plan(SamplerOptions(), replace(live, other_samplers=0))
    assert rate_hz <= max(10, alone.rate_hz)


def test_the_rest_is_passed_on():
    options = SamplerOptions(idle=False, subprocesses=True, scope="process", max_duration_s=7.0, tags=("t",))
    made = plan(options, frames(1))
    assert (made.sampler, made.idle, made.subprocesses, made.scope) == ("pyspy", False, True, "process")
    assert (made.max_duration_s, made.tags, made.sample_each) == (7.0, ("t",), None)


@pytest.mark.gil
def test_time_with_the_gil_is_read_like_all_time():
    live = frames(1)
    assert chosen(live, gil=True) == chosen(live)
    assert chosen(live, gil=True, idle=False, blocking=True) == chosen(live, blocking=True)
    made = plan(SamplerOptions(gil=True), live)
    assert (made.gil, made.idle) == (True, False)
    assert not plan(SamplerOptions(), live).gil


def test_cycles_become_a_rate(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(psutil, "cpu_freq", lambda: psutil._ntuples.scpufreq(2000.0, 800.0, 3000.0))
    assert procfs.cpu_frequency_hz() == 3e9
    assert chosen(frames(1), sample_each=1e7, blocking=False) == (300, False, 0)
    assert plan(SamplerOptions(sample_each=1e7), frames(1)).sample_each == 1e7
    for cycles in (1e10, 1e5):
        with pytest.raises(InvalidOption, match="sample_each"):
            check(SamplerOptions(sample_each=cycles))


def test_cycles_need_a_known_frequency(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("profkit.process.procfs.cpu_frequency_hz", lambda: None)
    with pytest.raises(InvalidOption, match="does not report its processor's frequency"):
        check(SamplerOptions(sample_each=1e7))


@pytest.mark.parametrize(
    ("options", "option"),
    [
        (SamplerOptions(rate_hz=0), "rate"),
        (SamplerOptions(rate_hz=-5), "rate"),
        (SamplerOptions(rate_hz=0.5), "rate"),
        (SamplerOptions(rate_hz=float("nan")), "rate"),
        (SamplerOptions(rate_hz=float("inf")), "rate"),
        (SamplerOptions(rate_hz=FASTEST_HZ + 1), "rate"),
        (SamplerOptions(sample_each=-1), "sample_each"),
        (SamplerOptions(max_duration_s=0), "max_profile_duration_sec"),
        (SamplerOptions(native=True, blocking=False), "blocking"),
    ],
)
def test_nonsense_is_one_clear_error(options: SamplerOptions, option: str):
    with pytest.raises(InvalidOption) as caught:
        check(options)
    assert caught.value.option == option
    assert str(caught.value).startswith(f"{option}=")


def test_a_rate_is_said_once():
    with pytest.raises(UsageError, match="rate and sample_each"):
        check(SamplerOptions(rate_hz=100, sample_each=1e7))


@given(rate=st.integers(1, FASTEST_HZ), count=st.integers(0, 10**6), native=st.booleans())
def test_a_rate_that_is_requested_is_kept(rate: int, count: int, native: bool):
    assert plan(SamplerOptions(rate_hz=rate, native=native), frames(count)).rate_hz == rate


@given(count=st.integers(0, 10**6), native=st.booleans())
def test_without_a_rate_the_fastest_within_the_budget_is_chosen(count: int, native: bool):
    made = plan(SamplerOptions(native=native), frames(count))
    budget, slowest_hz = (
        (BUDGET, 1 if native else SLOWEST_BLOCKING_HZ) if made.blocking else (SAMPLER_CPU, 10)
    )
    cost_s = round_cost_s(frames(count))
    assert slowest_hz <= made.rate_hz <= DEFAULT_RATE_HZ
    assert made.rate_hz == slowest_hz or made.rate_hz * cost_s <= budget * (1 + 1e-9)
    assert made.rate_hz == DEFAULT_RATE_HZ or (made.rate_hz + 1) * cost_s > budget * (1 - 1e-9)


@given(
    rate=st.none() | st.integers(1, FASTEST_HZ),
    count=st.integers(0, 10**6),
    native=st.booleans(),
)
def test_auto_blocks_only_within_the_budget(rate: int | None, count: int, native: bool):
    options = SamplerOptions(rate_hz=rate, native=native)
    check(options)
    made = plan(options, frames(count))
    within = made.rate_hz * round_cost_s(frames(count)) <= BUDGET * (1 + 1e-9)
    assert made.rate_hz == int(made.rate_hz)
    if native:
        assert made.blocking
        assert within or made.notes
    else:
        assert within if made.blocking else made.notes
    assert plan(replace(options, blocking="auto"), frames(count)) == made
