"""Sentences of findings: one for each code, from the figures that comparisons give it."""

from __future__ import annotations

import pytest

from profkit.model.notes import Finding, FindingCode
from profkit.render.views.findings import FINDINGS, finding_text, reasons_text

Code = FindingCode

TEXTS = {
    Finding.of(Code.SAMPLED_DIFFERENTLY, aspect="frames", a="Python", b="Python, native"): (
        "the sides were sampled differently, which can change shares (the frames: A Python; B Python, native)"
    ),
    Finding.of(Code.BIASED_SAMPLES, runs="a1, a2", ways="thread, timer"): (
        "some runs were sampled from inside (a1, a2: thread, timer), others otherwise. Such samples "
        "show waiting and other code without the GIL too often, which alone can change shares"
    ),
    Finding.of(Code.UNEVEN_LOAD, a=0.97, b=0.5): (
        "A used 97 % of a core, B 50 %: one side waited longer, or the machine was busier, which changes "
        "shares and makes intervals wider"
    ),
    Finding.of(Code.RATES_DIFFER, low_hz=49.6, high_hz=100): "sampling rates differ: 50 to 100 Hz",
    Finding.of(Code.SAMPLES_UNORDERED, runs="a1, b1"): (
        "the order of samples is not known (a1, b1), so intervals are twice as wide as for ordered samples"
    ),
    Finding.of(Code.TORN_STACKS, run="a1", share=0.123): (
        '12 % of the stacks of run a1 were inconsistent ("torn"): its callers may be wrong'
    ),
    Finding.of(Code.COMPREHENSIONS_INLINED): (
        "Python 3.12 and later run list, set and dict comprehensions as part of the function around them; "
        "those of earlier versions are counted as part of it, too"
    ),
    Finding.of(Code.TRACKED_DIFFERENTLY, a="each", b="by arena"): (
        "Python objects were tracked differently, which changes all figures: A each; B by arena"
    ),
    Finding.of(Code.MORE_MEMORY, change=0.5, limit=0.03): "a peak 50 % higher; the limit is 3 %",
    Finding.of(Code.LESS_MEMORY, limit=0.03): "a lower peak by more than 3 %: renew the baseline",
    Finding.of(Code.PEAKS_AGREE, least_bytes=2**20): (
        "a difference of less than 1 %, or of 1.00 MiB, can be chance"
    ),
    Finding.of(Code.TRACK_OBJECTS): (
        "give all calls the same input, or track each Python object (python_allocators=True)"
    ),
    Finding.of(Code.VERSIONS_DIFFER, aspect="torch", a="2.6", b="2.7"): "torch differs: A 2.6; B 2.7",
    Finding.of(Code.ENVIRONMENTS_DIFFER, a="Python 3.11.2", b=""): (
        "environments differ: A Python 3.11.2; B not known"
    ),
    Finding.of(Code.INTERPRETERS_DIFFER, a="/one/bin/python", b=""): (
        "interpreters differ: A has /one/bin/python; B has profkit's own"
    ),
    Finding.of(Code.MACHINES_DIFFER, machines="node-1, node-2"): (
        "measured on different machines (node-1, node-2), which alone changes times"
    ),
    Finding.of(Code.CONTROLS_AGREE): (
        "three fixed C++ statements have the same counts on both sides: instruction counts are comparable"
    ),
    Finding.of(Code.CONTROLS_MISSING): (
        "it is not known whether instruction counts are comparable: measure both sides with --python or "
        "--source-cmd, which also counts three fixed C++ statements"
    ),
    Finding.of(Code.SUBMODULES_EMPTY): (
        "submodules are empty in work trees, so their code was not measured at these commits"
    ),
    Finding.of(Code.NOT_MEASURED, detail="'f' raised ValueError"): "'f' raised ValueError",
    Finding.of(Code.NOT_MEASURED, detail=""): "it has no numbers",
    Finding.of(Code.MODES_DIFFER): "one side was timed, the other's instructions were counted",
    Finding.of(Code.TIMES_NOT_COMPARABLE, detail="no times above 0"): "no times above 0",
    Finding.of(Code.NUMBERS_DIFFER, a=1000, b=2): (
        "A was counted with 1,000 executions at a time and B with 2, which changes a count; measure both "
        "with --number 2"
    ),
    Finding.of(Code.RUNS_LEFT_OUT, side="A", commit=3, failed=1): (
        "A: 4 runs left out (3 of another commit, 1 without results)"
    ),
    Finding.of(Code.PRELOADS_DIFFER, a="torch", b="stdlib"): (
        "A was counted in processes with torch preloaded, B in ones with stdlib; measure both with "
        "the same --imports"
    ),
    Finding.of(Code.CONTROLS_DIFFER, control="sorting", a=1250.25, b=1251.0, more=1): (
        "C++ control statements, which do not depend on the environment, were counted differently (sorting: "
        "1,250.2 and 1,251.0; 1 more), so no counts are comparable"
    ),
    Finding.of(Code.WITHIN_LIMIT, limit=0.03): "within the limit of 3 %",
    Finding.of(Code.SLOWER_THAN_LIMIT, at_least=0.125, limit=0.03): (
        "at least 12.5 % slower; the limit is 3 %"
    ),
    Finding.of(Code.MORE_INSTRUCTIONS, change=0.05, limit=0.005): (
        "5 % more instructions; the limit is 0.5 %"
    ),
    Finding.of(Code.FASTER_THAN_LIMIT, limit=0.03): "faster by more than 3 %: renew the baseline",
    Finding.of(Code.FEWER_INSTRUCTIONS, limit=0.03): (
        "fewer instructions by more than 3 %: renew the baseline"
    ),
    Finding.of(Code.LIMIT_IN_INTERVAL, limit=0.03, low=0.98, high=1.05): (
        "the interval, −2.0 % to +5.0 %, contains the limit of 3 %"
    ),
    Finding.of(Code.WITHIN_DRIFT, drift=0.05): (
        "slower than the limit, but by less than the 5 % that the machine can cause"
    ),
    Finding.of(Code.BY_CHANCE): "slower than the limit, but unchanged code differs as much too often",
    Finding.of(Code.COUNTS_AGREE): "no more than counts of unchanged code differ",
    Finding.of(Code.BASELINE_EMPTY): "the baseline executes no instructions",
    Finding.of(Code.TOO_FEW_PROCESSES, processes=1, needed=6): "1 process measured; at least 6 are needed",
    Finding.of(Code.CALLS_UNKNOWN): "the durations of calls are not known on both sides",
    Finding.of(Code.SINGLE_RUN, noise=0.25): "single runs may differ by 25 %",
    Finding.of(Code.SHORT_DIFFERENCE, slower_s=0.0125, least_s=0.05): (
        "slower by 12.5 ms per call, and single calls differ by up to 50.0 ms when the machine is busy"
    ),
    Finding.of(Code.MEASURE_THE_CALL): "measure the call instead of sampling it",
    Finding.of(Code.MEASURE_MORE_PROCESSES): "measure with more --processes",
    Finding.of(Code.MEASURE_ALTERNATELY, runs=4): (
        "measure both alternately with `profkit compare --git`, or in 4 runs per side"
    ),
    Finding.of(Code.RECORD_MORE_RUNS): "record more runs of both sides, and name them all: LABEL@REVISION",
    Finding.of(Code.STEADY_THE_STATEMENT): "make the statement do the same in each execution",
    Finding.of(Code.SEED_THE_INPUT, least=1000.0, most=1100.0): (
        "seed what it reads, because its count depends on its input (1,000 to 1,100 in runs of one commit)"
    ),
}


@pytest.mark.parametrize("finding", TEXTS, ids=lambda finding: finding.code.value)
def test_sentences(finding: Finding) -> None:
    assert finding_text(finding) == TEXTS[finding]


def test_each_code_has_a_sentence() -> None:
    assert {finding.code for finding in TEXTS} == set(FINDINGS) == set(FindingCode)


def test_unsuitable_figures_are_shown_as_they_are() -> None:
    assert finding_text(Finding.of(Code.UNEVEN_LOAD, a="x")) == "uneven-load (a=x)"
    assert finding_text(Finding(Code.RATES_DIFFER)) == "rates-differ (without figures)"


def test_reasons_are_one_sentence() -> None:
    reasons = (Finding.of(Code.CALLS_UNKNOWN), Finding.of(Code.MEASURE_MORE_PROCESSES))
    assert reasons_text(reasons) == (
        "the durations of calls are not known on both sides; measure with more --processes"
    )
