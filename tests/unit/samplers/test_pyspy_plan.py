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


def stacks(frames: int = 5, wait_s: float = 0.0, *, sockets: bool = False) -> LiveStacks:
    return LiveStacks(threads=3, frames=frames, processor_wait_s=wait_s, timed_sockets=sockets)


def planned(options: SamplerOptions, live: LiveStacks) -> tuple[float, bool, list[str]]:
    """Rate, blocking, and the codes of the notes that explain them."""
    check(options)
    made = plan(options, live)
    return made.rate_hz, made.blocking, [note.code.name for note in made.notes]


@pytest.mark.parametrize(
    ("options", "live", "expected"),
    [
        # Without a rate, the budget decides.
        ({}, stacks(25), (100, True, [])),
        ({}, stacks(26), (96, True, ["LONG_ROUNDS"])),
        ({}, stacks(50), (55, True, ["LONG_ROUNDS"])),
        ({}, stacks(56), (50, True, ["LONG_ROUNDS"])),
        ({}, stacks(57), (100, False, ["NONBLOCKING_COST"])),
        ({}, stacks(300), (51, False, ["NONBLOCKING_COST", "LONG_ROUNDS"])),
        ({}, stacks(5000), (10, False, ["NONBLOCKING_COST", "LONG_ROUNDS"])),
        # A rate is kept, and blocking follows.
        ({"rate_hz": 10}, stacks(200), (10, True, [])),
        ({"rate_hz": 100}, stacks(20), (100, True, [])),
        ({"rate_hz": 100}, stacks(50), (100, False, ["NONBLOCKING_COST"])),
        ({"rate_hz": 1000}, stacks(1), (1000, False, ["NONBLOCKING_COST"])),
        ({"rate_hz": 300}, stacks(1), (300, True, [])),
        # What is requested is obeyed.
        ({"blocking": True}, stacks(5000), (100, True, ["BLOCKING_COST"])),
        ({"blocking": True, "rate_hz": 50}, stacks(), (50, True, [])),
        ({"blocking": False}, stacks(), (100, False, [])),
        ({"blocking": False, "rate_hz": 1000}, stacks(5000), (1000, False, [])),
        # Native stacks block.
        ({"native": True}, stacks(), (100, True, [])),
        ({"native": True}, stacks(100), (29, True, ["LONG_ROUNDS"])),
        ({"native": True}, stacks(5000), (1, True, ["BLOCKING_COST", "LONG_ROUNDS"])),
        ({"native": True, "rate_hz": 100}, stacks(100), (100, True, ["BLOCKING_COST"])),
        # Time on the processor is measured without stopping the program, and by stopping it only roughly.
        ({"idle": False}, stacks(), (100, False, ["NONBLOCKING_IDLE"])),
        ({"idle": False, "blocking": False}, stacks(), (100, False, [])),
        ({"idle": False, "blocking": True}, stacks(), (100, True, ["THREADS_WOKEN"])),
        ({"idle": False, "native": True}, stacks(), (100, True, ["THREADS_WOKEN"])),
        # A program that waits for processors is not stopped, and the rate is kept.
        ({}, stacks(3, 0.001), (100, True, [])),
        ({}, stacks(3, 0.002), (100, False, ["NONBLOCKING_BUSY"])),
        ({"rate_hz": 50}, stacks(3, 0.002), (50, True, [])),
        ({"rate_hz": 5}, stacks(3, 0.03), (5, True, [])),
        ({"rate_hz": 500}, stacks(3, 0.005), (500, False, ["NONBLOCKING_BUSY"])),
        ({"blocking": True}, stacks(3, 0.03), (100, True, [])),
        # Sockets with a timeout are not disturbed.
        ({}, stacks(sockets=True), (100, False, ["NONBLOCKING_SOCKETS"])),
        ({"blocking": True}, stacks(sockets=True), (100, False, ["BLOCKING_NOT_KEPT"])),
        ({"native": True}, stacks(sockets=True), (100, True, ["TIMEOUTS_RESTART"])),
        ({"blocking": False}, stacks(sockets=True), (100, False, [])),
    ],
)
def test_rate_and_blocking(
    options: dict[str, Any], live: LiveStacks, expected: tuple[float, bool, list[str]]
):
    assert planned(SamplerOptions(**options), live) == expected


SHARE = 100 * round_cost_s(stacks(500))


@pytest.mark.parametrize(
    ("options", "live", "notes"),
    [
        (
            {}, stacks(500),
            (
                Note.of(NoteCode.NONBLOCKING_COST, rate_hz=100, frames=500, threads=3, share=SHARE),
                Note.of(NoteCode.LONG_ROUNDS, rate_hz=30, usual_hz=100, frames=500, threads=3),
            ),
        ),
        ({"blocking": True}, stacks(500), (Note.of(NoteCode.BLOCKING_COST, share=SHARE),)),
        ({"blocking": True}, stacks(50_000), (Note.of(NoteCode.BLOCKING_COST, share=1.0),)),
        ({}, stacks(3, 0.002), (Note.of(NoteCode.NONBLOCKING_BUSY, rate_hz=100, wait_s=0.002),)),
        (
            {"rate_hz": 500}, stacks(3, 0.005),
            (Note.of(NoteCode.NONBLOCKING_BUSY, rate_hz=500, wait_s=0.005),),
        ),
    ],
)  # fmt: skip
def test_figures_of_notes(options: dict[str, Any], live: LiveStacks, notes: tuple[Note, ...]):
    assert plan(SamplerOptions(**options), live).notes == notes


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
    made = plan(options, stacks(1))
    assert (made.sampler, made.idle, made.subprocesses, made.scope) == ("pyspy", False, True, "process")
    assert (made.max_duration_s, made.tags, made.sample_each) == (7.0, ("t",), None)


@pytest.mark.gil
def test_time_with_the_gil_is_read_like_all_time():
    live, without = stacks(1), SamplerOptions()
    stopping = SamplerOptions(blocking=True)
    assert planned(SamplerOptions(gil=True), live) == planned(without, live)
    assert planned(replace(stopping, gil=True, idle=False), live) == planned(stopping, live)
    made = plan(SamplerOptions(gil=True), live)
    assert (made.gil, made.idle) == (True, False)
    assert not plan(without, live).gil


def test_cycles_become_a_rate(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(psutil, "cpu_freq", lambda: psutil._ntuples.scpufreq(2000.0, 800.0, 3000.0))
    assert procfs.cpu_frequency_hz() == 3e9
    assert planned(SamplerOptions(sample_each=1e7, blocking=False), stacks(1)) == (300, False, [])
    assert plan(SamplerOptions(sample_each=1e7), stacks(1)).sample_each == 1e7
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


@given(rate=st.none() | st.integers(1, FASTEST_HZ), count=st.integers(0, 10**6), native=st.booleans())
def test_a_rate_is_kept_or_the_fastest_within_the_budget_and_auto_blocks_only_within_it(
    rate: int | None, count: int, native: bool
):
    options, cost_s = SamplerOptions(rate_hz=rate, native=native), round_cost_s(stacks(count))
    check(options)
    made = plan(options, stacks(count))
    slowest_hz = 1 if native else SLOWEST_BLOCKING_HZ if made.blocking else 10
    budget = BUDGET if made.blocking else SAMPLER_CPU
    if rate is None:
        assert slowest_hz <= made.rate_hz <= DEFAULT_RATE_HZ
        assert made.rate_hz == slowest_hz or made.rate_hz * cost_s <= budget * (1 + 1e-9)
        assert made.rate_hz == DEFAULT_RATE_HZ or (made.rate_hz + 1) * cost_s > budget * (1 - 1e-9)
    else:
        assert made.rate_hz == rate
    within = made.rate_hz * cost_s <= BUDGET * (1 + 1e-9)
    assert made.rate_hz == int(made.rate_hz)
    if native:
        assert made.blocking
        assert within or made.notes
    else:
        assert within if made.blocking else made.notes
    assert plan(replace(options, blocking="auto"), stacks(count)) == made
