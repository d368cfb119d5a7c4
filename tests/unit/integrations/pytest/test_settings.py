from __future__ import annotations

import pytest

import profkit
from profkit.errors import UsageError
from profkit.integrations.pytest import plugin
from profkit.integrations.pytest.fixture import Rounds
from profkit.integrations.pytest.profiling import Record, finished
from profkit.integrations.pytest.settings import MarkSettings, limit_of
from profkit.units import parse_percentage


@pytest.mark.parametrize(("text", "part"), [("5%", 0.05), (" 2.5 % ", 0.025), ("0", 0.0), ("150", 1.5)])
def test_percentages(text: str, part: float) -> None:
    assert parse_percentage(text) == pytest.approx(part)


@pytest.mark.parametrize("text", ["", "much", "-1%", "nan", "inf", "20000%"])
def test_what_is_no_limit(text: str) -> None:
    with pytest.raises(UsageError, match="give a percentage from 0 on"):
        limit_of("limit", text)


def test_options_of_sampled_tests_are_those_of_the_run_and_of_the_mark() -> None:
    found = MarkSettings(options={"rate": 50.0, "sample_tags": ["slow"]}).sampling({"rate": 10.0}, "a::b")
    assert (found.sampler.rate_hz, found.label) == (50.0, "a::b")
    assert found.sampler.tags == ("pytest", "slow")


def test_a_mark_of_sampling_leaves_the_measuring_options_alone() -> None:
    assert MarkSettings(options={"rate": 50.0}).measuring() == {"mode": "timer"}
    counting = MarkSettings("callgrind", options={"quick": True})
    assert counting.measuring() == {"quick": True, "mode": "callgrind"}


def test_records_travel_as_plain_values() -> None:
    report = pytest.TestReport("a::b", ("a", 0, "b"), {}, "passed", None, "call", duration=2.0)
    assert finished(report) is None
    report.profkit_record = {"measured": True, "run": "1a", "problem": "", "limit": 0.05}  # type: ignore[attr-defined]
    back = pytest.TestReport._from_json(report._to_json())
    found = finished(back)
    assert found is not None
    assert (found.label, found.duration_s, found.passed) == ("a::b", 2.0, True)
    assert found.record == Record(True, "1a", "", 0.05)
    back.outcome = "skipped"
    assert finished(back) is None
    back.wasxfail = "reason"  # type: ignore[attr-defined]
    assert finished(back) is not None


def test_rounds() -> None:
    calls: list[int] = []
    rounds = Rounds(calls.append, (1,), {}, rounds=3, warmup_rounds=2, iterations=4)
    rounds.check()
    rounds.run()
    assert len(calls) == 5 * 4
    assert len(rounds.spans) == 5


@pytest.mark.parametrize("wrong", [{"rounds": 0}, {"iterations": True}, {"warmup_rounds": -1}])
def test_rounds_that_make_no_sense(wrong: dict[str, int]) -> None:
    with pytest.raises(UsageError, match="give a whole number"):
        Rounds(print, (), {}, **wrong).check()


def test_arguments_of_a_setup_are_for_one_iteration() -> None:
    with pytest.raises(UsageError, match="use 1 if setup returns arguments"):
        Rounds(print, (), {}, setup=lambda: ((), {}), iterations=2).run()


def test_pytest_leaves_the_assertions_of_the_package_alone() -> None:
    for module in (profkit, plugin):  # else it warns if the package was imported before it
        assert "PYTEST_DONT_REWRITE" in str(module.__doc__)
