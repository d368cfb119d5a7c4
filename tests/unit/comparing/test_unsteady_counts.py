"""Counts that should be equal and are not: what a comparison, a gate and a history make of them."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.comparing.gate import check_counts, check_measured
from profkit.comparing.history import history_of, is_beyond_noise
from profkit.comparing.instructions import MIN_EFFECT, compare_counts, spread_of_runs, widest
from profkit.comparing.measured import compare_measured
from profkit.model.comparison import CountSpread, Outcome, Verdict
from profkit.model.measurement import ControlCount, InstructionCounts, MeasuredRun, Preload
from profkit.model.notes import Finding, FindingCode
from profkit.render.json.comparisons import measured_comparison_json
from profkit.render.json.small_reports import history_json
from profkit.render.options import ReportOptions, Terminal
from profkit.render.registry import HISTORY, MEASURED_COMPARISON
from tests.support.example_measured_comparisons import NEW, OLD, run
from tests.support.example_measurements import COUNTS, VALGRIND_ZYGOTE

OPTIONS, PAGE = ReportOptions(), Terminal(120)


def counts(stripped: float, number: int = 100, **changes: object) -> InstructionCounts:
    return replace(COUNTS, stripped=stripped, number=number, **changes)  # type: ignore[arg-type]


def counted(
    run_id: str, stripped: float, commit: str = OLD, number: int = 100, **order: object
) -> MeasuredRun:
    return run(run_id, None, counts(stripped, number), commit=commit, batch=f"batch-{run_id}", **order)  # type: ignore[arg-type]


class TestRunsOfOneCommit:
    def test_they_show_that_a_count_depends_on_its_input(self) -> None:
        runs = [counted("a", 5000), counted("b", 5100), counted("c", 5050), counted("d", 9000, NEW)]
        spread = spread_of_runs(runs)
        assert spread == CountSpread(5000, 5100, 3)
        assert spread.part == pytest.approx(0.02)

    @pytest.mark.parametrize(
        "other",
        [
            counted("b", 9000, NEW),
            counted("b", 9000, number=2),
            counted("b", 9000, setup="n = 2"),
            counted("b", 9000, env=(("A", "b"),)),
            counted("b", 9000, python="/other/python"),
            counted("b", 5002),
        ],
    )
    def test_what_may_differ_shows_nothing(self, other: MeasuredRun) -> None:
        assert spread_of_runs([counted("a", 5000), other]) is None

    def test_without_a_commit_nothing_is_known(self) -> None:
        runs = [
            replace(one, info=replace(one.info, process=replace(one.info.process, git_commit=None)))
            for one in (counted("a", 5000), counted("b", 9000))
        ]
        assert spread_of_runs(runs) is None

    @given(st.lists(st.floats(100, 1e9), min_size=2))
    def test_the_widest_commit_counts(self, values: list[float]) -> None:
        runs = [counted(f"{n}", value, OLD if n % 2 else NEW) for n, value in enumerate(values)]
        found = spread_of_runs(runs)
        assert found == widest(*(spread_of_runs(runs[start::2]) for start in (0, 1)))
        assert found is None or found.part > MIN_EFFECT


class TestCompare:
    def test_what_runs_of_a_commit_differ_by_is_no_difference(self) -> None:
        a = [counted(f"a{n}", 5000 + 25 * n) for n in range(5)]
        b = [counted("c", 5300, NEW)]
        compared = compare_measured(a, b, ("A", "B"))
        (order,) = compared.orders
        assert order.counts is not None
        assert order.counts.verdict is Verdict.NO_DIFFERENCE
        text = MEASURED_COMPARISON.text(compared, OPTIONS, PAGE)
        assert "executes as many instructions, to within 6 %" in text
        assert "its count depends on its input: 5,000 to 5,100 (+2 %) over 5 runs of one commit" in " ".join(
            text.split()
        )
        data = json.loads(measured_comparison_json(compared, OPTIONS))
        assert data["orders"][0]["instructions"]["spread_of_runs"] == {"least": 5000, "most": 5100, "runs": 5}

    def test_what_exceeds_that_is_one(self) -> None:
        a, b = [counted(f"a{n}", 5000 + 25 * n) for n in range(5)], [counted("c", 5400, NEW)]
        (order,) = compare_measured(a, b, ("A", "B")).orders
        assert order.counts is not None
        assert order.counts.verdict is Verdict.SLOWER

    @pytest.mark.parametrize(
        "other",
        [
            counts(5100, number=2),
            counts(5100, controls=(ControlCount("sorting", 2.0),)),
            counts(5100, measured_in=replace(VALGRIND_ZYGOTE, preload=Preload.NUMPY)),
        ],
    )
    def test_there_is_no_verdict_where_counts_do_not_compare(self, other: InstructionCounts) -> None:
        first = replace(COUNTS, stripped=5000, controls=(ControlCount("sorting", 1.0),))
        a, b = run("a", None, first), run("b", None, other)
        compared = compare_measured([a], [b], ("A", "B"))
        (order,) = json.loads(measured_comparison_json(compared, OPTIONS))["orders"]
        assert order["instructions"]["obstacle"]["text"]
        assert order["instructions"]["verdict"] == "not-compared"
        for word in ("slower", "faster", "more instructions"):
            assert word not in order["instructions"]["sentence"]
            assert word not in MEASURED_COMPARISON.text(compared, OPTIONS, PAGE)
        (check,) = check_measured(compared, 0.0)
        assert check.outcome is Outcome.INCONCLUSIVE


class TestGate:
    @given(st.floats(1, 1e9), st.floats(-MIN_EFFECT, MIN_EFFECT), st.sampled_from([0.0, 0.001, 0.03]))
    def test_unchanged_code_is_no_regression(self, count: float, residue: float, limit: float) -> None:
        compared = compare_counts([counts(count)], [counts(count * (1 + residue * 0.99))])
        assert check_counts("f", compared, limit).outcome is Outcome.OK

    @given(st.floats(0, 0.49), st.sampled_from([0.0, 0.03]))
    def test_a_part_of_an_instruction_is_no_regression(self, residue: float, limit: float) -> None:
        for count in (0.0, 1.0, 5.0):
            compared = compare_counts([counts(count)], [counts(count + residue)])
            assert check_counts("f", compared, limit).outcome is Outcome.OK

    @given(st.lists(st.floats(1000, 1100), min_size=2, max_size=8), st.sampled_from([0.0, 0.01, 0.03]))
    def test_what_depends_on_its_input_is_no_regression(self, values: list[float], limit: float) -> None:
        """Any run of unchanged code against others of one commit that show as much."""
        runs = [counted(f"{n}", value) for n, value in enumerate([1000.0, 1100.0, *values[1:]])]
        current = counted("current", values[0], NEW)
        compared = compare_measured(runs, [current], ("A", "B"))
        (check,) = check_measured(compared, limit)
        assert check.outcome is not Outcome.REGRESSION
        if check.outcome is Outcome.INCONCLUSIVE:
            assert Finding.of(FindingCode.SEED_THE_INPUT, least=1000.0, most=1100.0) in check.reasons

    def test_a_real_change_is_one(self) -> None:
        compared = compare_counts([counts(1000)], [counts(1002)])
        assert check_counts("f", compared, 0.0).outcome is Outcome.REGRESSION


class TestHistory:
    def test_unequal_numbers_are_series_of_their_own(self) -> None:
        runs = [counted("a", 5000), counted("b", 5240, number=2), counted("c", 5001, NEW)]
        history = history_of("x + y", runs)
        assert [(one.number, [point.value for point in one.points]) for one in history.series] == [
            (100, [5000, 5001]), (2, [5240]),
        ]  # fmt: skip
        assert not any(is_beyond_noise(one, 1) for one in history.series if len(one.points) > 1)
        text = HISTORY.text(history, OPTIONS, PAGE)
        assert "100 executions at a time" in text
        assert "2 executions at a time" in text
        data = json.loads(history_json(history, OPTIONS))
        assert [one["executions_at_a_time"] for one in data["series"]] == [100, 2]

    def test_a_single_number_needs_no_words(self) -> None:
        assert "at a time" not in HISTORY.text(history_of("x + y", [counted("a", 5000)]), OPTIONS, PAGE)

    def test_what_runs_of_a_commit_differ_by_is_no_change(self) -> None:
        runs = [counted("a", 5000), counted("b", 5100), counted("c", 5480, NEW), counted("d", 6600, "9" * 40)]
        history = history_of("x + y", runs)
        (series,) = history.series
        assert series.spread == CountSpread(5000, 5100, 2)
        assert [is_beyond_noise(series, place) for place in (1, 2)] == [False, True]
        text = " ".join(HISTORY.text(history, OPTIONS, PAGE).split())
        assert "its count depends on its input: 5,000 to 5,100 (+2 %) over 2 runs of one commit" in text
        spread = json.loads(history_json(history, OPTIONS))["series"][0]["spread_of_runs"]
        assert spread == {"least": 5000, "most": 5100, "runs": 2}

    def test_steady_counts_show_any_change(self) -> None:
        runs = [counted(f"{n}", 5000 + 10 * n, f"{n}" * 40) for n in range(4)]
        (series,) = history_of("x + y", runs).series
        assert series.spread is None
        assert all(is_beyond_noise(series, place) for _, place in pairwise(range(4)))
