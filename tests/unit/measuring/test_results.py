from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.errors import BadReply, MeasuringError, TooShort
from profkit.measuring.pool.jobs import Dump, Reply, ZygoteFacts
from profkit.measuring.results import counts_of, measured_in, numbers_of, timing_of, together
from profkit.measuring.worker.protocol import SHARED
from profkit.model.measurement import Freshness, InstructionCounts, MeasuredIn, Preload, ProcessTimes, Tool

TIMED: Mapping[str, object] = {
    "number": 100,
    "times_s": [1e-6, 2e-6],
    "cpu_s": 0.15,
    "wall_s": 0.2,
    "involuntary": 3,
    "loop_s": 0.0,
    "loop_spread_s": 0.0,
    "fresh": SHARED,
}


def zygote(serial: int = 1, *packages: tuple[str, str]) -> ZygoteFacts:
    return ZygoteFacts(serial, "3.11.9", packages)


def reply(*cases: object, of: ZygoteFacts | None = None) -> Reply:
    return Reply({"ok": True, "cases": list(cases)}, "what it printed", of or zygote())


def test_times_of_all_processes() -> None:
    timing = timing_of("sorted", [reply(TIMED), reply({**TIMED, "times_s": [3e-6, 1]}, of=zygote(2))])
    assert timing.number == 100
    assert timing.processes == (
        ProcessTimes((1e-6, 2e-6), 1, pytest.approx(0.75), 3),
        ProcessTimes((3e-6, 1.0), 2, pytest.approx(0.75), 3),
    )
    assert timing.measured_in == MeasuredIn(Tool.NONE, Preload.NOTHING, "3.11.9")


def test_interleaved_statements_each_have_their_own() -> None:
    replies = [reply(TIMED, {**TIMED, "number": 7})] * 3
    assert [timing_of("", replies, case).number for case in (0, 1)] == [100, 7]
    assert numbers_of("", replies[0]) == (100, 7)


def test_times_too_short_for_the_clock_cast_no_warning_on_the_machine() -> None:
    timing = timing_of("", [reply({**TIMED, "times_s": [0], "cpu_s": 0, "wall_s": 0})])
    assert timing.processes[0].cpu_share == 1.0


def test_where_it_was_measured() -> None:
    both = zygote(1, ("numpy", "2.1"), ("torch", "2.13"))
    assert measured_in(Tool.NONE, both) == MeasuredIn(Tool.NONE, Preload.TORCH, "3.11.9", both.packages)
    assert measured_in(Tool.VALGRIND, zygote(1, ("numpy", "2.1"))).preload is Preload.NUMPY


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("number", 0),
        ("number", None),
        ("number", 2.5),
        ("number", True),
        ("times_s", []),
        ("times_s", "1.0"),
        ("times_s", [1.0, None]),
        ("times_s", [-1e-6]),
        ("times_s", [float("nan")]),
        ("times_s", [True]),
        ("cpu_s", float("inf")),
        ("wall_s", "0.2"),
        ("involuntary", -1),
        ("loop_s", None),
        ("fresh", {}),
        ("fresh", {**SHARED, "decided": 1}),
        ("fresh", {**SHARED, "globals": [["module"]]}),
        ("fresh", {**SHARED, "changes": "all"}),
    ],
)
def test_nonsense_is_refused_by_name(field: str, value: object) -> None:
    with pytest.raises(BadReply, match=field) as refusal:
        timing_of("sorted", [reply(TIMED), reply({**TIMED, field: value})])
    assert "'sorted' returned no numbers" in str(refusal.value)
    assert "what it printed" in str(refusal.value)


FRESH = {**SHARED, "decided": True, "changes": ["argument 'values'"]}


def test_what_executions_had_of_their_own_is_kept() -> None:
    cases = [{**TIMED, "fresh": FRESH, "loop_s": loop_s} for loop_s in (3e-8, 2e-8)]
    kept = timing_of("sort", [reply(case) for case in cases]).freshness
    assert kept == Freshness(fresh=True, changes=("argument 'values'",), loop_s=2e-8)


def test_a_time_that_what_was_subtracted_could_explain_is_refused() -> None:
    def times(spread_s: float) -> list[Reply]:
        case = {**TIMED, "fresh": FRESH, "loop_s": 3e-8, "loop_spread_s": spread_s}
        return [reply(case), reply({**case, "loop_spread_s": 1e-3}), reply(case)]

    assert timing_of("sort", times(0.05e-6)).number == 100
    with pytest.raises(TooShort, match=r"takes about 1e\+03 ns, and passing the objects that it changes"):
        timing_of("sort", times(0.051e-6))


@pytest.mark.parametrize("cases", [None, {}, "cases", []])
def test_replies_without_the_statement(cases: object) -> None:
    with pytest.raises(BadReply):
        timing_of("sorted", [Reply({"ok": True, "cases": cases}, "", zygote())])
    with pytest.raises(BadReply):
        timing_of("sorted", [reply(TIMED)], case=1)


def test_processes_that_do_not_belong_together() -> None:
    with pytest.raises(BadReply, match=r"per block: \[7, 100\]"):
        timing_of("", [reply(TIMED), reply({**TIMED, "number": 7})])
    with pytest.raises(BadReply, match="different environments"):
        timing_of("", [reply(TIMED), reply(TIMED, of=zygote(2, ("torch", "2.13")))])


def dump(instructions: int, events: str = "Ir") -> str:
    zeros = " 0" * events.count(" ")
    return (
        f"events: {events}\n\nfl=work.c\nfn=work\n1 {instructions - 7}{zeros}\n"
        f"fl=malloc.c\nfn=malloc\n1 7{zeros}\ntotals: {instructions}{zeros}\n"
    )


DUMPS = {"/d/cg.1.1": dump(127), "/d/cg.1.2": dump(2027), "/d/cg.1.3": dump(2127)}
COUNTED = {
    "number": 10,
    "dumps": ["/d/cg.1.2", "/d/cg.1.3"],
    "baseline_dumps": ["/d/cg.1.1"],
    "fresh": SHARED,
}


def counted(texts: Mapping[str, str] = DUMPS, **changes: object) -> Reply:
    return Reply(
        {"cases": [{**COUNTED, **changes}]},
        "what it printed",
        zygote(1, ("numpy", "2.1")),
        {path: Dump(path, text) for path, text in texts.items()},
    )


@given(st.lists(st.tuples(st.integers(1, 10**6), st.integers(1, 10**6)), min_size=1, max_size=5))
def test_counts_of_several_processes_have_the_repeats_of_all(pairs: list[tuple[int, int]]) -> None:
    counts = [made_counts(raw=(first, second), stripped=float(min(first, second))) for first, second in pairs]
    merged = together(counts)
    assert merged.raw == tuple(total for pair in pairs for total in pair)
    assert merged.stripped == min(one.stripped for one in counts)


def made_counts(raw: tuple[int, ...], stripped: float) -> InstructionCounts:
    place = MeasuredIn(Tool.VALGRIND, Preload.NOTHING, "3.11.9")
    return InstructionCounts(10, raw, 0.0, stripped, stripped, place, raw_stripped=raw)


def test_instructions_of_one_execution() -> None:
    counts = counts_of("work", counted())
    assert counts.number == 10
    assert counts.raw == (2027, 2127)
    assert (counts.baseline, counts.net, counts.stripped) == (12.7, 190.0, 190.0)
    assert [(row.name, row.exclusive) for row in counts.functions] == [("work.c:work", 190.0)]
    assert counts.measured_in.tool is Tool.VALGRIND
    assert counts.measured_in.preload is Preload.NUMPY
    assert counts_of("work", counted(baseline_dumps=[])).net == 202.7


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (counted(number=0), "number is 0"),
        (counted(dumps=[]), r"dumps is \[\]"),
        (counted(dumps=[3]), "dumps is 3"),
        (counted(dumps=["/etc/passwd"]), "dumps is '/etc/passwd'"),
        (counted(baseline_dumps=None), "baseline_dumps is None"),
        (counted({**DUMPS, "/d/cg.1.3": "fn=work\n"}), "without a line of events"),
        (counted({**DUMPS, "/d/cg.1.3": dump(2127, "Ir Dr")}), "dumps of different events"),
    ],
)
def test_counts_that_make_no_sense_are_refused(wrong: Reply, said: str) -> None:
    with pytest.raises(BadReply, match=said):
        counts_of("work", wrong)


anything = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(sorted(TIMED)), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(sorted(TIMED)), anything) | anything)
def test_whatever_a_worker_says_gives_times_or_a_clear_error(case: object) -> None:
    said = {**TIMED, **case} if isinstance(case, dict) else case
    try:
        timing = timing_of("sorted", [reply(said)])
    except MeasuringError:
        return
    assert all(time_s >= 0 for time_s in timing.times_s[0])
    assert timing.number >= 1
