"""The summary of profiled tests, as text and as Markdown."""

from __future__ import annotations

from profkit.comparing.gate import check_calls
from profkit.model.profiled_tests import ComparedTests, ProfiledTest, ProfiledTests
from profkit.render.options import DEFAULTS, PIPE, Terminal
from profkit.render.registry import PROFILED_TESTS
from tests.support.example_measured_runs import measured_run
from tests.support.example_runs import made_run

SLOW = ProfiledTest("test_it.py::test_slow[a|b]", 1.5, made_run())
LOST = ProfiledTest("test_it.py::test_lost", 0.001, problem="its run is not in the store")
MEASURED = ProfiledTest("test_it.py::test_timed", 0.1, measured_run(), "timed in this process: a lock")
CHECKS = (
    check_calls("test_it.py::test_slow", [1.0], [2.0], 0.03, 0.05),
    check_calls("test_it.py::test_short", [0.001], [0.002], 0.03, 0.05),
    check_calls("test_it.py::test_same", [1.0], [1.0], 0.5, 0.05),
)
COMPARED = ComparedTests("main", CHECKS, (CHECKS[0].name,), (CHECKS[1].name,), compared=3, without=2)
SUMMARY = ProfiledTests(
    (SLOW, LOST, MEASURED), 12, 1, made_run().info, comparison=COMPARED, problems=("no luck",)
)


def text(summary: ProfiledTests, terminal: Terminal = PIPE) -> str:
    return PROFILED_TESTS.renderer("text")(summary, DEFAULTS, terminal)


def test_text_has_tests_functions_and_the_comparison() -> None:
    shown = text(SUMMARY)
    for part in (
        "2 slowest of 12 sampled tests",
        "test_it.py::test_slow[a|b]",
        "test_it.py::test_lost  its run is not in the store",
        "1 measured test",
        "timed in this process: a lock",
        "`profkit report 'test_it.py::test_slow[a|b]'` shows all of a test",
        "1 of 5 tests is slower than its limit.",
        "1 test: inconclusive.",
        "2 tests without a baseline.",
        "slower by 1.00 ms per call",
        "no luck",
    ):
        assert part in shown
    assert "test_same" not in shown, "what is within its limit is only counted"
    assert "\x1b" not in shown


def test_text_fits_the_terminal() -> None:
    table = text(SUMMARY, Terminal(60)).partition("Sampled by")[0]
    assert max(map(len, table.splitlines())) <= 60


def test_markdown_escapes_pipes_and_folds_reports() -> None:
    shown = PROFILED_TESTS.renderer("markdown")(SUMMARY, DEFAULTS, PIPE)
    assert shown.startswith("# profkit: 2 slowest of 12 sampled tests, 1 measured test\n")
    assert r"**`test_it.py::test_slow[a\|b]`**" in shown
    assert shown.count("<details>") == shown.count("</details>") == 1
    assert "❌ regression" in shown
    assert "✅" not in shown


def test_nothing_to_compare() -> None:
    assert "No test was profiled" in text(ProfiledTests((), 0, comparison=ComparedTests("main")))
    none = ComparedTests("main", without=3, problem="it is no commit")
    assert "No test has a baseline 'main': it is no commit." in text(
        ProfiledTests((LOST,), 3, comparison=none)
    )
    good = ComparedTests("main", CHECKS[2:], compared=1)
    assert "No regression in 1 test." in text(ProfiledTests((LOST,), 1, comparison=good))


def test_only_the_number_of_tests() -> None:
    assert text(ProfiledTests((), 3)) == "0 slowest of 3 sampled tests"
