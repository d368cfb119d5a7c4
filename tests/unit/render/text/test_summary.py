"""Measured runs in a line or two."""

from __future__ import annotations

from dataclasses import replace

from profkit.comparing.measured import names_of
from profkit.model.workorder import Language
from profkit.render.options import Terminal
from profkit.render.registry import LISTED_RUNS
from profkit.render.views.measured import RELATIVE, WARNED, time_row, uncertainty, variants
from profkit.render.views.measurement_warnings import warning_text
from profkit.render.views.summary_lines import measured_summary_lines
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


def test_uncertainty_is_half_the_interval() -> None:
    row = time_row(timing([[value] for value in (0.98, 0.99, 1.0, 1.0, 1.01, 1.02)]))
    assert row is not None
    assert uncertainty(row) == "±2.0 %"
    few = time_row(timing([[1.0]]))
    assert few is not None
    assert uncertainty(few) == ""


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


def test_warnings_are_a_second_line() -> None:
    lines = measured_summary_lines(measured(timing(blocks(1.0)), warnings=(BUSY, QUICK, FEW)))
    busy, quick, few = map(warning_text, (BUSY, QUICK, FEW))
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
    assert "(c++, language c++)" not in LISTED_RUNS.text([cpp.info], terminal=Terminal(200))
    plain = replace(cpp, info=replace(cpp.info, order=replace(cpp.info.order, labels=())))
    assert variants([python, plain])[1] == "c++"
