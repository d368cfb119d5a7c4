from __future__ import annotations

from dataclasses import replace

import pytest

from profkit.comparing.gate import check_counts
from profkit.comparing.instructions import compare_counts
from profkit.model.comparison import Outcome, Verdict
from profkit.model.findings import Finding, FindingCode
from profkit.model.function_counts import FunctionCount
from profkit.model.measurement import InstructionCounts
from profkit.render.views.findings import finding_text
from profkit.render.views.verdicts import counts_sentence
from tests.support.example_measurements import COUNTS, FUNCTIONS, LIBC, VALGRIND_ZYGOTE


def counts(stripped: float, *functions: tuple[str, float], **changes: object) -> InstructionCounts:
    rows = tuple(FunctionCount(name, own, own) for name, own in functions)
    return replace(COUNTS, stripped=stripped, functions=rows, **changes)  # type: ignore[arg-type]


def test_the_largest_difference_comes_first_whichever_way_it_goes() -> None:
    a = counts(1000, ("a.c:same", 500), ("a.c:less", 400), ("a.c:gone", 100))
    b = counts(1200, ("a.c:same", 500.2), ("a.c:less", 100), ("a.c:new", 599.8))
    compared = compare_counts([a], [b])
    assert [(row.name, row.delta) for row in compared.functions] == [
        ("a.c:new", 599.8), ("a.c:less", -300), ("a.c:gone", -100),
    ]  # fmt: skip
    assert (compared.verdict, compared.delta, compared.ratio) == (Verdict.SLOWER, 200, 1.2)
    assert counts_sentence(compared) == "executes 20.00 % more instructions"
    assert counts_sentence(compare_counts([b], [a])) == "executes 16.67 % fewer instructions"


def test_allocators_are_distinguished() -> None:
    malloc = f"./malloc/./malloc/malloc.c:malloc [{LIBC}]"
    compared = compare_counts([counts(10, (malloc, 50))], [counts(10, (malloc, 350))])
    assert (compared.verdict, compared.functions) == (Verdict.NO_DIFFERENCE, ())
    assert compared.allocators.delta == 300


def test_names_are_made_standard_only_between_environments() -> None:
    here = counts(1, ("/home/a/Python/ceval.c:f", 10))
    there = counts(
        1, ("/build/x/Python/ceval.c:f", 10), measured_in=replace(VALGRIND_ZYGOTE, python="3.12.1")
    )
    assert len(compare_counts([here], [replace(there, measured_in=VALGRIND_ZYGOTE)]).functions) == 2
    compared = compare_counts([here], [there])
    assert (compared.functions, compared.standardized) == ((), True)


def test_counts_of_unequal_numbers_of_executions_do_not_compare() -> None:
    compared = compare_counts([counts(1000, number=10)], [counts(1200, number=2)])
    assert compared.obstacle == Finding.of(FindingCode.NUMBERS_DIFFER, a=10, b=2)
    assert "--number 2" in finding_text(compared.obstacle)
    check = check_counts("f", compared, 0.01)
    assert (check.outcome, check.reasons) == (Outcome.INCONCLUSIVE, (compared.obstacle,))


def test_counts_of_equal_numbers_are_preferred() -> None:
    often, seldom = counts(1000, number=10), counts(900, number=2)
    compared = compare_counts([often, seldom], [counts(1200, number=10)])
    assert (compared.a, compared.b, compared.obstacle) == (1000, 1200, None)


def test_what_repeats_differ_by_is_no_difference() -> None:
    unsteady = counts(1000, raw_stripped=(100_000, 105_000))
    compared = compare_counts([unsteady], [counts(1040)])
    assert compared.verdict is Verdict.NO_DIFFERENCE
    assert counts_sentence(compared) == "executes as many instructions, to within 5 %"
    assert compare_counts([counts(1000)], [counts(1040)]).verdict is Verdict.SLOWER


@pytest.mark.parametrize(
    ("a", "b", "sentence"),
    [
        (0, 40, "executes instructions, unlike A"),
        (100, 300, "executes 3 times as many instructions"),
        (100, 20, "executes 20 % of A's instructions"),
        (5, 5.3, "executes as many instructions, to within 0.1 %"),
        (0, 0, "executes as many instructions, to within 0.1 %"),
    ],
)
def test_sentences(a: float, b: float, sentence: str) -> None:
    assert counts_sentence(compare_counts([counts(a)], [counts(b)])) == sentence


def test_of_several_runs_the_least_disturbed_one_counts() -> None:
    compared = compare_counts([counts(1005), counts(1000)], [counts(1100), counts(1099)])
    assert (compared.a, compared.b) == (1000, 1099)


def test_a_count_differs_in_nothing_from_itself() -> None:
    compared = compare_counts([COUNTS], [COUNTS])
    assert (compared.functions, compared.delta, len(FUNCTIONS)) == ((), 0, 6)
