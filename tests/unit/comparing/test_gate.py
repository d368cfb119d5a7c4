"""What a gate lets through, what it stops, and what it leaves open."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from profkit.comparing.gate import check_calls, check_counts, check_times, fail_on_gains
from profkit.comparing.instructions import compare_counts
from profkit.model.comparison import Check, GateResult, Measure, Outcome, TimesCompared, Verdict
from profkit.model.measurement import Design
from profkit.model.notes import FindingCode
from profkit.render.views.findings import reasons_text
from tests.support.example_measured_comparisons import more_counts
from tests.support.example_measurements import COUNTS

LIMIT = 0.03


def times(low: float | None, high: float | None, design: Design = Design.INTERLEAVED) -> TimesCompared:
    effect = 0.05 if design is Design.SEPARATE else 0.005
    ratio = 1.0 if low is None or high is None else (low * high) ** 0.5
    return TimesCompared(ratio, low, high, (10, 10), Verdict.SLOWER, effect, design=design)


def codes(check: Check) -> list[FindingCode]:
    return [reason.code for reason in check.reasons]


@pytest.mark.parametrize(
    ("low", "high", "outcome"),
    [
        (0.99, 1.01, Outcome.OK),
        (1.01, 1.03, Outcome.OK),
        (1.01, 1.05, Outcome.INCONCLUSIVE),
        (0.90, 1.10, Outcome.INCONCLUSIVE),
        (1.031, 1.05, Outcome.REGRESSION),
        (0.50, 0.60, Outcome.OK),
        (None, None, Outcome.INCONCLUSIVE),
    ],
)
def test_times_by_their_interval(low: float | None, high: float | None, outcome: Outcome) -> None:
    assert check_times("x", times(low, high), LIMIT).outcome is outcome


def test_what_was_measured_separately_must_exceed_what_the_machine_does() -> None:
    check = check_times("x", times(1.05, 1.07, Design.SEPARATE), LIMIT)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert codes(check) == [FindingCode.WITHIN_DRIFT, FindingCode.MEASURE_ALTERNATELY]
    assert check_times("x", times(1.09, 1.12, Design.SEPARATE), LIMIT).outcome is Outcome.REGRESSION
    assert check_times("x", times(0.99, 1.02, Design.SEPARATE), LIMIT).outcome is Outcome.OK


def test_an_inconclusive_check_says_what_would_decide_it() -> None:
    check = check_times("x", times(0.99, 1.05), LIMIT)
    assert reasons_text(check.reasons) == (
        "the interval, −1.0 % to +5.0 %, contains the limit of 3 %; measure with more --processes"
    )


@pytest.mark.parametrize(
    ("factor", "outcome"), [(1.0, Outcome.OK), (1.029, Outcome.OK), (1.031, Outcome.REGRESSION)]
)
def test_instructions_are_exact(factor: float, outcome: Outcome) -> None:
    check = check_counts("x", compare_counts([COUNTS], [more_counts(factor)]), LIMIT)
    assert (check.outcome, check.measure) == (outcome, Measure.INSTRUCTIONS)
    told = {
        Outcome.OK: "within the limit of 3 %",
        Outcome.REGRESSION: "3.1 % more instructions; the limit is 3 %",
    }
    assert reasons_text(check.reasons) == told[outcome]


def test_repeats_that_differ_make_instructions_uncertain() -> None:
    unsteady = replace(COUNTS, raw_stripped=(100_000, 102_000))
    assert (
        check_counts("x", compare_counts([unsteady], [more_counts(1.02)]), LIMIT).outcome
        is Outcome.INCONCLUSIVE
    )
    assert (
        check_counts("x", compare_counts([unsteady], [more_counts(1.06)]), LIMIT).outcome
        is Outcome.REGRESSION
    )
    nothing = replace(COUNTS, stripped=0.0)
    assert check_counts("x", compare_counts([nothing], [COUNTS]), LIMIT).outcome is Outcome.REGRESSION
    assert check_counts("x", compare_counts([nothing], [nothing]), LIMIT).outcome is Outcome.OK


def test_a_single_sampled_run_decides_only_what_is_gross() -> None:
    assert check_calls("f", [1.0], [1.2], LIMIT).outcome is Outcome.INCONCLUSIVE
    assert check_calls("f", [1.0], [1.0], LIMIT).outcome is Outcome.INCONCLUSIVE
    assert check_calls("f", [1.0], [1.4], LIMIT).outcome is Outcome.REGRESSION
    assert check_calls("f", [1.0], [0.7], LIMIT).outcome is Outcome.OK
    assert codes(check_calls("f", [1.0], [1.0], LIMIT))[0] is FindingCode.SINGLE_RUN


def test_several_sampled_runs_show_how_much_they_differ() -> None:
    steady = [1.0, 1.004, 0.997, 1.001]
    assert check_calls("f", steady, [time_s * 1.01 for time_s in steady], LIMIT).outcome is Outcome.OK
    assert check_calls("f", steady, [time_s * 1.05 for time_s in steady], LIMIT).outcome is Outcome.REGRESSION
    unsteady = [1.0, 1.2, 0.9, 1.1]
    assert (
        check_calls("f", unsteady, [time_s * 1.1 for time_s in unsteady], LIMIT).outcome
        is Outcome.INCONCLUSIVE
    )


def test_identical_code_is_hardly_ever_a_regression() -> None:
    dice = random.Random(7)
    runs = [[1.1 ** dice.gauss(0, 1) for _ in range(4)] for _ in range(400)]
    outcomes = [check_calls("f", a, b, 0.0).outcome for a, b in zip(runs[::2], runs[1::2], strict=True)]
    assert outcomes.count(Outcome.REGRESSION) <= 10


def test_unknown_durations_decide_nothing() -> None:
    for a, b in (([], [1.0]), ([1.0], []), ([0.0], [1.0])):
        assert check_calls("f", a, b, LIMIT).outcome is Outcome.INCONCLUSIVE


def test_gains_are_reported_where_they_are_requested() -> None:
    checks = [check_times("x", times(0.8, 0.9), LIMIT), check_times("y", times(0.96, 0.98), LIMIT)]
    assert [check.outcome for check in fail_on_gains(checks, LIMIT)] == [Outcome.FASTER, Outcome.OK]


def result(*checks: tuple[str, Outcome]) -> Outcome:
    return GateResult(
        "main", LIMIT, tuple(Check(name, Measure.TIME, found, ()) for name, found in checks)
    ).outcome


def test_one_figure_of_an_order_may_decide_what_the_other_leaves_open() -> None:
    ok, slow, open_ = Outcome.OK, Outcome.REGRESSION, Outcome.INCONCLUSIVE
    assert result(("x", ok), ("x", open_)) is ok
    assert result(("x", slow), ("x", ok)) is slow
    assert result(("x", open_), ("x", open_)) is open_
    assert result(("x", ok), ("y", open_)) is open_
    assert result(("x", open_), ("y", slow)) is slow
    assert result(("x", Outcome.FASTER), ("y", open_)) is Outcome.FASTER
    assert result() is open_
