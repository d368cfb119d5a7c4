"""Measured numbers in words, and runs in a line or two."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.comparing.measured import names_of
from profkit.model.workorder import Language
from profkit.render.formatting import counts_alike, range_of, spread, switches, time_text, times_alike
from profkit.render.terminal import Terminal
from profkit.render.text.runs import runs_text
from profkit.render.text.summary import measured_summary_lines
from profkit.render.views.measured import RELATIVE, WARNED, time_row, uncertainty, variants
from profkit.render.views.measurement_warnings import sentence
from tests.support.example_measurements import (
    BUSY,
    COUNTS,
    FEW,
    QUICK,
    batch,
    blocks,
    both,
    extremes,
    failed,
    hostile,
    measured,
    timing,
)


@pytest.mark.parametrize(
    ("duration_s", "text"),
    [
        (0.0, "0 s"),
        (0.3e-9, "0.300 ns"),
        (9.9996e-9, "10.00 ns"),
        (1.2344e-6, "1.234 µs"),
        (999.96e-6, "1,000 µs"),
        (0.0612345, "61.23 ms"),
        (86_400.0, "86,400 s"),
    ],
)
def test_one_time(duration_s: float, text: str) -> None:
    assert time_text(duration_s) == text


def test_times_share_a_unit_unless_they_are_too_far_apart() -> None:
    assert times_alike([1.2344e-6, None, 12.5e-6]) == ["1.234 µs", "", "12.500 µs"]
    assert times_alike([40e-9, 60e-3]) == ["40.00 ns", "60.00 ms"]
    assert times_alike([0.0, 1e-6]) == ["0.000 µs", "1.000 µs"]
    assert times_alike([0.0, None]) == ["0 s", ""]
    assert times_alike([]) == []


def test_counts_have_decimals_where_they_tell() -> None:
    assert counts_alike([5600.8, 100.2, None]) == ["5,601", "100", ""]
    assert counts_alike([5600.8, 31.0]) == ["5,600.8", "31.0"]
    assert counts_alike([7.0, 0.0, -3.0]) == ["7", "0", "-3"]


def test_how_many() -> None:
    assert range_of([1], "process") == "1 process"
    assert range_of([10, 4], "process") == "4–10 processes"
    assert range_of([1000], "block") == "1,000 blocks"
    assert switches(2) == "2 involuntary switches"


def test_uncertainty_is_half_the_interval() -> None:
    row = time_row(timing([[value] for value in (0.98, 0.99, 1.0, 1.0, 1.01, 1.02)]))
    assert row is not None
    assert uncertainty(row) == "±2.0 %"
    few = time_row(timing([[1.0]]))
    assert few is not None
    assert uncertainty(few) == ""


def test_spread_is_as_high_as_there_are_values() -> None:
    assert spread([1.0, 1.1, 1.2, 2.0], 4) == "█  ▃"
    assert spread([3.0, 3.0], 8) == "█"


@given(st.lists(st.floats(0, 1e9), min_size=1), st.integers(1, 30))
def test_every_spread_fits_and_shows_both_ends(values: list[float], cells: int) -> None:
    shown = spread(values, cells)
    assert len(shown) in (1, cells)
    assert shown[0] != " " != shown[-1]


def test_a_run_in_a_line() -> None:
    assert measured_summary_lines(both()) == [
        "x + y: min 1.231 µs, median 1.241 µs ±0.8 % of 10 processes × 20 blocks; "
        "4,999 instructions, 5,601 with memory allocators"
    ]
    assert measured_summary_lines(measured(timing([[1.5]]))) == [
        "x + y: min 1.500 s, median 1.500 s of 1 process × 1 block"
    ]
    assert measured_summary_lines(measured(None, COUNTS)) == [
        "x + y: 4,999 instructions, 5,601 with memory allocators"
    ]


def test_doubts_are_a_second_line() -> None:
    lines = measured_summary_lines(measured(timing(blocks(1.0)), warnings=(BUSY, QUICK, FEW)))
    busy, quick, few = map(sentence, (BUSY, QUICK, FEW))
    assert lines[1:] == [f"  {WARNED}: {busy}; {few}; {RELATIVE}: {quick}"]


def test_a_failure_is_its_first_line() -> None:
    (line,) = measured_summary_lines(failed())
    assert line.startswith("'broken' raised ZeroDivisionError")
    assert "Traceback" not in line


def test_every_run_has_one_or_two_lines_that_print() -> None:
    for run in (*batch(), *extremes(), hostile()):
        lines = measured_summary_lines(run)
        assert 1 <= len(lines) <= 2
        assert all(line.isprintable() for line in lines)


def test_a_language_is_named_once() -> None:
    python, cpp = (
        replace(
            both(),
            info=replace(
                both().info,
                id=language.value * 4,
                order=replace(both().info.order, language=language, labels=(("language", language.value),)),
            ),
        )
        for language in Language
    )
    assert variants([python, cpp]) == ["python", "c++"]
    assert list(names_of([python, cpp])) == ["x + y (python)", "x + y (c++)"]
    assert "(c++, language c++)" not in runs_text([cpp.info], Terminal(200))
    plain = replace(cpp, info=replace(cpp.info, order=replace(cpp.info.order, labels=())))
    assert variants([python, plain])[1] == "c++"
