"""Comparisons and gates of memory runs: what counts as a change, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.comparing.gate import check_peaks, fail_on_gains
from profkit.comparing.memory import ARENA_BYTES, compare_memory
from profkit.comparing.sampled import compare_sampled
from profkit.errors import UsageError
from profkit.model.comparison import Change, Measure, Outcome
from profkit.model.notes import FindingCode
from profkit.model.profile import Value
from profkit.model.run import Run
from profkit.render.views.findings import finding_text
from tests.support.example_memory import MIB, memory_run
from tests.support.example_runs import made_run

LIMIT = 0.03


def pair(a: int, b: int, *, objects: bool = False) -> tuple[list[Run], list[Run]]:
    return [memory_run("aa01", a, objects=objects)], [memory_run("bb01", b, objects=objects)]


@pytest.mark.parametrize(
    ("a", "b", "objects", "change"),
    [
        (50 * MIB, 60 * MIB, False, Change.MORE),
        (60 * MIB, 50 * MIB, False, Change.LESS),
        (50 * MIB, 50 * MIB + ARENA_BYTES - 1, False, Change.NOISE),
        (500 * MIB, 500 * MIB + 2 * ARENA_BYTES, False, Change.NOISE),
        (MIB, 2 * MIB - 1, False, Change.NOISE),
        (MIB, MIB + 20_000, True, Change.MORE),
        (100_000, 100_000 + 4095, True, Change.NOISE),
    ],
)
def test_a_change_is_more_than_an_arena_and_a_hundredth(
    a: int, b: int, objects: bool, change: Change
) -> None:
    assert compare_memory(*pair(a, b, objects=objects)).peak.change is change


@given(st.lists(st.integers(1, 10**9), min_size=1, max_size=5))
def test_a_side_and_itself_are_no_different(peaks: list[int]) -> None:
    compared = compare_memory([memory_run("aa01", *peaks)], [memory_run("bb01", *peaks)])
    assert all(amounts.change is Change.NOISE for _, amounts in compared.figures)
    assert not compared.changed


def test_sides_whose_calls_overlap_are_no_different() -> None:
    a, b = [memory_run("aa01", 10 * MIB, 90 * MIB)], [memory_run("bb01", 80 * MIB, 95 * MIB)]
    assert compare_memory(a, b).peak.change is Change.NOISE


def test_functions_are_compared_by_the_chosen_value() -> None:
    compared = compare_memory(*pair(50 * MIB, 100 * MIB))
    own = {function.name: function.own.difference for function in compared.functions}
    assert own == {"read": 40 * MIB, "load": 10 * MIB}
    left = compare_memory(*pair(50 * MIB, 100 * MIB), Value.LEFT)
    assert [(one.name, one.own.difference) for one in left.changed] == [("load", 10 * MIB)]


def test_bytes_and_time_are_not_compared() -> None:
    memory, time = [memory_run("aa01")], [made_run(id="bb01")]
    for a, b in ((memory, time), (time, memory)):
        with pytest.raises(UsageError, match="compare bytes with bytes"):
            compare_memory(a, b)
        with pytest.raises(UsageError, match="bytes of memory are not compared with time"):
            compare_sampled(a, b)
    with pytest.raises(UsageError, match="on both sides"):
        compare_memory(memory, memory)


def test_objects_tracked_on_one_side_only_are_a_note() -> None:
    compared = compare_memory([memory_run("aa01")], [memory_run("bb01", objects=True)])
    codes = [note.code for note in compared.notes]
    assert FindingCode.TRACKED_DIFFERENTLY in codes
    assert all(finding_text(note) for note in compared.notes)


@pytest.mark.parametrize(
    ("a", "b", "outcome", "code"),
    [
        (50 * MIB, 60 * MIB, Outcome.REGRESSION, FindingCode.MORE_MEMORY),
        (50 * MIB, 50 * MIB, Outcome.OK, FindingCode.WITHIN_LIMIT),
        (5 * MIB, 5 * MIB, Outcome.OK, FindingCode.PEAKS_AGREE),
        (10 * MIB, 11 * MIB, Outcome.INCONCLUSIVE, FindingCode.LIMIT_IN_INTERVAL),
        (60 * MIB, 50 * MIB, Outcome.OK, FindingCode.WITHIN_LIMIT),
    ],
)
def test_a_gate_on_the_peak(a: int, b: int, outcome: Outcome, code: FindingCode) -> None:
    check = check_peaks("load", compare_memory(*pair(a, b)), LIMIT)
    assert (check.measure, check.outcome) == (Measure.PEAK, outcome)
    assert check.reasons[0].code is code
    assert all(finding_text(reason) for reason in check.reasons)


def test_a_gate_that_fails_on_gains() -> None:
    check = check_peaks("load", compare_memory(*pair(60 * MIB, 50 * MIB)), LIMIT)
    (gained,) = fail_on_gains([check], LIMIT)
    assert (gained.outcome, gained.reasons[0].code) == (Outcome.FASTER, FindingCode.LESS_MEMORY)
