"""The programs with a known answer measure it, and the checks of reports find what is wrong."""

from __future__ import annotations

import sys
import threading
from collections.abc import Hashable
from dataclasses import replace
from importlib.util import find_spec

import pytest

from benchmarks.answers.answers_table import Row, table_text, total
from benchmarks.answers.cases import ALSO, CASES, PLANTED, PROGRAMS, Case, State
from benchmarks.answers.checks import Verdict, check
from benchmarks.answers.reading import ThreadState, claims_of, summary_of_text, thread_states
from benchmarks.answers.running import measure_plainly
from benchmarks.answers.truth import Span
from benchmarks.answers.truths import ProcessTruth, ThreadTruth, expected_of, lines_of

CASE = {case.name: case for case in CASES}
SLEEPS, QUEUE, EVEN = CASE["retry_sleep"], CASE["queue_main_waits"], CASE["even_functions"]
LINE = lines_of(SLEEPS.path, PLANTED).start
SENTENCE = f"await_file (retry_sleep.py:{LINE}) sleeps 97 % ±2 of the time."


def truth(
    cpu_s: float = 0.1, delay_s: float = 0.0, *, spent_s: float = 3.9, child: bool = False
) -> ProcessTruth:
    thread = ThreadTruth(1, "MainThread", cpu_s, delay_s, 4.0)
    return ProcessTruth(1, child, 0.0, (thread,), {PLANTED: {1: (spent_s, 0.0)}, ALSO: {}})


def checked(sentence: str = SENTENCE, case: Case = SLEEPS, working: float = 0.02, **times: float) -> Verdict:
    measured = [truth(**times)]
    return check(case, [sentence], sentence, {1: ThreadState(working, 400)}, measured, measured)


def test_there_are_enough_programs_with_and_without_an_answer() -> None:
    assert len(CASE) == len(CASES)
    assert sum(bool(case.answers) for case in CASES) >= 40
    assert sum(not case.answers for case in CASES) == 10
    assert {case.path for case in CASES} == set(PROGRAMS.glob("*.py")) - {PROGRAMS / "__init__.py"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_each_answer_has_its_line_and_each_line_its_answer(case: Case) -> None:
    source = case.path.read_text("utf-8")
    assert {answer.marker for answer in case.answers} == {m for m in (PLANTED, ALSO) if f"# {m}\n" in source}
    assert all(lines_of(case.path, answer.marker) for answer in case.answers)
    assert "profkit" not in source


def is_installed(name: str) -> bool:
    """Whether programs can use a module; none of these tests has a GPU."""
    return name != "cuda" and find_spec(name) is not None


RUNNABLE = [case for case in CASES if all(map(is_installed, case.needs))]


def kind_of(case: Case) -> Hashable:
    """What the time of a program is spent on, and what it needs."""
    return frozenset((answer.state, answer.child) for answer in case.answers), case.needs, case.launcher


FIRST = {kind_of(case): case.name for case in reversed(RUNNABLE)}
"""One program of each kind."""


def marks_of(case: Case) -> list[pytest.MarkDecorator]:
    marks = [pytest.mark.torch] if "torch" in case.needs else []
    return marks if case.name == FIRST[kind_of(case)] else [*marks, pytest.mark.full]


@pytest.mark.slow
@pytest.mark.parametrize(
    "case", [pytest.param(case, id=case.name, marks=marks_of(case)) for case in RUNNABLE]
)
def test_a_program_measures_its_answer(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """All answers are measured but those of a loader's workers, and waiting takes no processor time."""
    monkeypatch.setenv("ANSWERS_SECONDS", "0.3")
    truths = measure_plainly(case, sys.executable, 0)
    assert any(truth.threads for truth in truths)
    for answer in case.answers:
        expected = expected_of(answer, truths)
        assert expected is not None or (case.name == "loader_bound_2" and answer.child)
        if expected is not None and answer.state not in {State.WORKS, State.EITHER}:
            assert expected.busy < 0.5


def test_a_marked_function_has_all_its_lines_and_a_marked_loop_its_head() -> None:
    assert len(lines_of(CASE["pipe_worker"].path, PLANTED)) > 3
    assert len(lines_of(CASE["popen_stdout"].path, PLANTED)) == 1
    decorated = lines_of(CASE["lru_miss"].path, PLANTED)
    source = CASE["lru_miss"].path.read_text("utf-8").splitlines()
    assert source[decorated.start - 1].startswith("@lru_cache")


def test_nested_blocks_of_a_thread_count_once_and_threads_have_their_own() -> None:
    span = Span()
    with span, span:
        thread = threading.Thread(target=lambda: (span.__enter__(), span.__exit__()))
        thread.start()
        thread.join()
        inside = span.spent()[threading.get_native_id()][0]
    after = span.spent()
    assert len(after) == 2
    assert inside <= after[threading.get_native_id()][0]


def test_a_claim_has_its_place_its_states_and_its_share() -> None:
    first, second = claims_of(
        ["a (x.py:3) waits 90 % ±4 of the time for a child process; b (y.py:5-7) works."]
    )
    assert (first.file, first.lines) == ("x.py", range(3, 4))
    assert (second.file, second.lines) == ("y.py", range(5, 8))
    assert first.states == {State.WAITS, State.CHILDREN, State.WORKS}
    assert first.share == pytest.approx((0.86, 0.94))


def test_a_thread_that_works_mostly_in_a_place_spends_at_least_half_of_its_work_there() -> None:
    claim = next(claims_of(["Thread “a” worked 90 % ±2 of its time, mostly in f (x.py:3)."]))
    assert claim.share == pytest.approx((0.44, 0.92))


def test_the_share_of_a_line_is_meant_if_a_line_is_marked() -> None:
    sentence = f"await_file takes 60 % ±2 of the time, 97 % ±2 at lib/retry_sleep.py:{LINE}, and sleeps."
    claim = next(claims_of([sentence]))
    assert claim.share == pytest.approx((0.58, 0.62))
    assert claim.share_of_line == pytest.approx((0.95, 0.99))
    assert checked(sentence).share
    assert not checked(sentence.replace("97 %", "60 %")).share


def test_a_thread_that_often_wakes_up_waits_less() -> None:
    quiet, busy = (expected_of(SLEEPS.answers[0], [truth(delay_s=delay_s)]) for delay_s in (0.0, 1.0))
    assert quiet is not None
    assert busy is not None
    assert quiet.share[0] - busy.share[0] == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("share", "ends"), [("100 % −2", (0.98, 1.0)), ("0 % +3", (0.0, 0.03)), ("48 %", (0.48, 0.48))]
)
def test_a_share_has_the_interval_that_is_stated(share: str, ends: tuple[float, float]) -> None:
    assert next(claims_of([f"a (x.py:3) takes {share} of the time."])).share == pytest.approx(ends)


def test_the_summary_of_a_text_report_is_its_first_paragraph() -> None:
    assert summary_of_text("label\n──────\nOne (x.py:1)\n  two.\n\nprogram  x") == "One (x.py:1) two."


def test_states_are_asked_for_thread_by_thread() -> None:
    asked = {7: {"activity": {"working": 30, "waiting": 10}}, 8: {"activity": None}}
    assert thread_states({"threads": [{"tid": 7}, {"tid": 8}]}, asked.__getitem__) == {
        7: ThreadState(0.75, 40)
    }


def test_a_right_summary_passes() -> None:
    assert checked().passed


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        (SENTENCE.replace(f":{LINE}", ":1"), "does not name"),
        (SENTENCE.replace("sleeps", "takes"), "says works"),
        (SENTENCE.replace("97 %", "60 %"), "says 58–62 %"),
    ],
)
def test_a_wrong_summary_fails(wrong: str, problem: str) -> None:
    verdict = checked(wrong)
    assert not verdict.passed
    assert problem in "; ".join(verdict.problems)


def test_either_answer_is_right() -> None:
    also = lines_of(QUEUE.path, ALSO).start
    sentence = f"Thread “derive” worked 95 % ±3 of its time, mostly in derive (queue_main_waits.py:{also})."
    thread = ThreadTruth(2, "derive", 3.8, 0.1, 4.0)
    known = replace(truth(), threads=(thread,), spans={PLANTED: {}, ALSO: {2: (3.9, 3.8)}})
    assert check(QUEUE, [sentence], sentence, {}, [known], [known]).passed


def test_a_program_with_nothing_wrong_names_no_line() -> None:
    assert checked("The time is spread.", EVEN).passed
    assert not checked("mean (even_functions.py:15) takes 90 % of the time.", EVEN).passed


def test_a_thread_that_wants_a_processor_is_working() -> None:
    assert checked(cpu_s=1.0, delay_s=2.9, working=0.98).threads
    assert not checked(cpu_s=1.0, delay_s=2.9, working=0.25).threads
    assert not checked(cpu_s=0.1, working=0.2).threads


def test_threads_that_fight_for_the_gil_may_not_work_while_they_want_a_processor() -> None:
    contended = replace(SLEEPS, contended=True)
    for working, is_right in ((0.4, False), (0.5, True), (0.7, True), (0.85, False)):
        assert checked(case=contended, cpu_s=2.0, delay_s=1.0, working=working).threads is is_right


def test_the_table_has_a_total_and_says_what_was_not_run() -> None:
    wrong = Verdict(problems=("does not name retry_sleep.py:16",))
    rows = [Row(SLEEPS, (checked(), wrong)), Row(EVEN, not_run="torch")]
    assert total(rows) == "1 of 2"
    text = table_text(rows, {"Python": "3"})
    assert "1 of 2" in text
    assert "torch is missing" in text
    assert "does not name retry_sleep.py:16" in text


def test_an_answer_that_was_not_measured_is_not_right() -> None:
    assert not check(SLEEPS, [SENTENCE], SENTENCE, {}, [truth(child=True)], []).passed
