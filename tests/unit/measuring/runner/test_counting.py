"""Counting: equal numbers of executions, several processes, and counts by Python function."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import repeat
from typing import Any, cast

import pytest

from profkit.comparing.gate import check_counts
from profkit.comparing.instructions import compare_counts
from profkit.errors import WorkerDied, WorkerTimeout
from profkit.measuring.orders import work_order
from profkit.measuring.pool.command import ZygoteKind
from profkit.measuring.pool.jobs import Dump, Job, Reply, ZygoteFacts
from profkit.measuring.runner import counting
from profkit.measuring.runner.context import BatchContext
from profkit.measuring.runner.counting import with_python_functions
from profkit.measuring.runner.jobs import Task
from profkit.measuring.transfer.payload import pack
from profkit.measuring.warnings import count_warnings
from profkit.measuring.worker.protocol import SHARED
from profkit.model.comparison import Outcome
from profkit.model.function_counts import STATEMENT, PythonCounts
from profkit.model.measurement import Design, Freshness, InstructionCounts, MeasuredIn, Preload, Tool
from profkit.model.workorder import Simulation, WorkOrder
from profkit.render.views.measurement_warnings import warning_text
from tests.support.example_measurements import COUNTS
from tests.unit.measuring.runner.test_run import ScriptedPool, run, times

NUMBERS = {"short": 10, "other": 10, "long": 2}


class Counter:
    """Counts as a worker chooses: short statements often, unless the order gives a number."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, int | None, int | None]] = []
        self.stripped: Iterator[float] = repeat(1000.0)
        self.raw = 1000
        self.dies = False

    def count(self, task: Task, *_: object) -> InstructionCounts:
        order = task.order
        self.asked.append((order.label, order.number, order.processes))
        if self.dies and order.number is not None:
            raise WorkerDied(order.label, "exited")
        number, stripped = order.number or NUMBERS[order.label], next(self.stripped)
        repeats = (round(stripped * number),) * 2
        return replace(COUNTS, number=number, raw=(self.raw,) * 2, stripped=stripped, raw_stripped=repeats)


@pytest.fixture
def counter(monkeypatch: pytest.MonkeyPatch) -> Counter:
    made = Counter()
    monkeypatch.setattr(counting, "count", made.count)
    return made


def counted(design: Design, *labels: str, **options: Any) -> list[InstructionCounts]:
    orders = [work_order(repr(label), label=label, mode="callgrind", **options) for label in labels]
    found = [outcome.run.measurement for outcome in run(orders, design=design)[0]]
    return [one.instructions for one in found if one and one.instructions]


def measured_once(order: WorkOrder | Task, pool: ScriptedPool) -> InstructionCounts:
    (outcome,) = run([order], pool=pool)[0]
    assert outcome.run.measurement is not None
    assert outcome.run.measurement.instructions is not None
    return outcome.run.measurement.instructions


def numbers(counts: list[InstructionCounts]) -> list[int]:
    return [one.number for one in counts]


class TestNumbers:
    @pytest.mark.parametrize("design", [Design.INTERLEAVED, Design.ALTERNATING])
    def test_the_smallest_holds_for_all(self, counter: Counter, design: Design) -> None:
        assert numbers(counted(design, "short", "long", "other")) == [2, 2, 2]
        assert ("short", 2, None) in counter.asked
        assert ("long", 2, None) not in counter.asked

    @pytest.mark.parametrize("design", list(Design))
    def test_equal_ones_are_left_alone(self, counter: Counter, design: Design) -> None:
        assert numbers(counted(design, "short", "other")) == [10, 10]
        assert counter.asked == [
            ("short", None, None), ("short", 10, 1), ("other", None, None), ("other", 10, 1),
        ]  # fmt: skip

    def test_orders_that_are_not_to_be_compared_have_their_own(self, counter: Counter) -> None:
        assert numbers(counted(Design.SEPARATE, "short", "long")) == [10, 2]

    def test_a_failure_is_that_of_its_order(self, counter: Counter) -> None:
        counter.dies = True
        assert counted(Design.ALTERNATING, "short", "long") == []


class TestProcesses:
    def test_two_that_agree_are_enough(self, counter: Counter) -> None:
        counter.stripped = iter([1000.0, 1000.9])
        (found,) = counted(Design.SEPARATE, "short")
        assert (found.stripped, found.processes, len(found.raw)) == (1000.0, 1, 2)

    def test_two_that_differ_are_followed_by_others(self, counter: Counter) -> None:
        counter.stripped = iter([1010.0, 1000.0, 1030.0, 1020.0])
        (found,) = counted(Design.SEPARATE, "short")
        assert (found.stripped, found.processes, len(found.raw)) == (1000.0, 4, 8)
        (warning,) = count_warnings(found)
        assert warning_text(warning).startswith(
            "4 processes counted 10,000 to 10,300 instructions without allocators, while the"
        )
        assert counter.asked == [("short", None, None), *[("short", 10, 1)] * 3]

    def test_an_earlier_process_of_the_pool_can_be_the_second(self, counter: Counter) -> None:
        order, pool = work_order("1", label="short", mode="callgrind"), ScriptedPool(times)
        counter.stripped = iter([1000.0, 1000.9, 1000.5, 1003.0, 1000.0, 1010.0, 1020.0, 1000.0, 1000.0])
        processes = [measured_once(order, pool).processes for _ in range(4)]
        assert processes == [1, 1, 4, 1]
        assert [number for _, number, _ in counter.asked] == [None, 10, None, None, *[10] * 3, None, 10]

    def test_only_one_that_was_sent_the_same(self, counter: Counter) -> None:
        pool = ScriptedPool(times)
        for options in ({}, {"setup": "x = 1"}, {"env": {"X": "1"}}, {"number": 10}):
            measured_once(work_order("1", label="short", mode="callgrind", **options), pool)  # type: ignore[arg-type]
        payloads = [pack(print, [text]) for text in ("a", "b")]
        for payload in payloads:
            measured_once(Task(work_order(print, label="short", mode="callgrind"), payload), pool)
        assert len(counter.asked) == 2 * 6
        measured_once(Task(work_order(print, label="short", mode="callgrind"), payloads[0]), pool)
        assert len(counter.asked) == 2 * 6 + 1

    def test_the_oldest_of_too_many_jobs_is_forgotten(
        self, counter: Counter, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(counting, "_MAX_KNOWN", 2)
        pool = ScriptedPool(times)
        for asked, statement in ((2, "1"), (4, "2"), (5, "1"), (7, "3"), (9, "1"), (10, "3")):
            measured_once(work_order(statement, label="short", mode="callgrind"), pool)
            assert len(counter.asked) == asked

    @pytest.mark.parametrize("options", [{"processes": 1}, {"runs": 20}])
    def test_none_but_those_that_are_requested(self, counter: Counter, options: dict[str, int]) -> None:
        assert len(counted(Design.SEPARATE, "short", **options)) == len(counter.asked) == 1

    def test_none_for_what_takes_long(self, counter: Counter) -> None:
        counter.raw = 60_000_000
        assert len(counted(Design.SEPARATE, "long")) == len(counter.asked) == 1

    def test_what_they_differ_by_is_no_regression(self) -> None:
        """Three times the range of four processes is none; more than that is one."""
        before, same, after = (made(values) for values in UNSTEADY)
        assert check_counts("f", compare_counts([before], [same]), 0.0).outcome is Outcome.INCONCLUSIVE
        assert check_counts("f", compare_counts([before], [after]), 0.0).outcome is Outcome.REGRESSION


UNSTEADY = [(1000, 1010, 1020, 1030), (1080, 1090, 1100, 1110), (1100, 1110, 1120, 1130)]


def made(values: tuple[int, ...]) -> InstructionCounts:
    repeats = tuple(count for value in values for count in (value, value))
    return replace(COUNTS, stripped=float(min(values)), raw_stripped=repeats, processes=len(values))


KIND = ZygoteKind(("python3",), Tool.VALGRIND, Preload.NOTHING, (), simulate=(Simulation.CACHE,))
LOOP, WORK = 0x54FF0B0, 0x54FF0BB
EMPTY = f"events: Ir\nfn=0x{LOOP:016x}\n1 30\ntotals: 30\n"
FULL = (
    f"events: Ir\nfn=0x{LOOP:016x}\n1 40\ncfn=0x{WORK:016x}\ncalls=10 0\n1 500\n"
    f"fn=0x{WORK:016x}\n1 500\ntotals: 540\n"
)
STUBS: list[object] = [
    [LOOP, "setup and statement", "<setup and stmt>", 1],
    [WORK, "work", "app.py", 7],
]


def known_counts(python: str = "3.13.2", net: float = 55.0) -> InstructionCounts:
    return InstructionCounts(10, (550,), 0.0, net, net, MeasuredIn(Tool.VALGRIND, Preload.NOTHING, python))


class Context:
    """Answers one job; remembers what it was asked."""

    def __init__(self, stubs: object = STUBS, error: WorkerTimeout | None = None) -> None:
        self._stubs, self._error = stubs, error
        self.asked: list[tuple[ZygoteKind, Job]] = []

    def attempt(self, kind: ZygoteKind, job: Job, retries: int) -> Reply:
        self.asked.append((kind, job))
        if self._error is not None:
            raise self._error
        case = {"number": 10, "dumps": ["full"], "baseline_dumps": ["empty"], "stubs": self._stubs}
        dumps = {"full": Dump("full", FULL), "empty": Dump("empty", EMPTY)}
        message = {"ok": True, "cases": [{**case, "fresh": SHARED}]}
        return Reply(message, "", ZygoteFacts(1, "3.13.2", ()), dumps)


def by_function(
    context: Context, known: InstructionCounts | None = None, **options: object
) -> PythonCounts | None:
    order = work_order("work()", mode="callgrind", **options)  # type: ignore[arg-type]
    found = with_python_functions(known or known_counts(), Task(order), KIND, cast("BatchContext", context))
    return found.python


def test_functions_are_counted_by_a_zygote_of_its_own_kind() -> None:
    context = Context()
    found = by_function(context)
    assert found is not None
    assert [(row.name, row.file, row.line, row.exclusive, row.calls) for row in found.functions] == [
        ("work", "app.py", 7, 50, 1),
        (STATEMENT, "", 0, 1, 0),
    ]
    ((kind, job),) = context.asked
    assert kind == replace(KIND, by_function=True, simulate=())
    assert (job.message["mode"], job.message["number"], job.message["warm"]) == ("attribution", [10], 20)


def test_long_statements_are_warmed_up_once() -> None:
    context = Context()
    by_function(context, known_counts(net=3e6))
    assert context.asked[0][1].message["warm"] == 1


def test_executions_get_their_state_as_they_did() -> None:
    context = Context()
    by_function(context, replace(known_counts(), freshness=Freshness(True, ("argument 1",))))
    (case,) = cast("list[dict[str, dict[str, object]]]", context.asked[0][1].message["cases"])
    assert (case["fresh"]["decided"], case["fresh"]["changes"]) == (True, ["argument 1"])


@pytest.mark.parametrize("options", [{"python_functions": False}, {"runs": 9}, {"language": "c++"}])
def test_it_is_left_out(options: dict[str, object]) -> None:
    context = Context()
    assert by_function(context, **options) is None
    assert context.asked == []


def test_an_older_python_cannot() -> None:
    context = Context()
    assert by_function(context, known_counts("3.11.9")) == PythonCounts(
        missing="this needs Python 3.12 or later"
    )
    assert context.asked == []


@pytest.mark.parametrize("stubs", [None, [[1, "work"]], [["1", "work", "app.py", 7]], [[-1, "work", "", 0]]])
def test_an_odd_reply_is_no_failure_of_the_order(stubs: object) -> None:
    found = by_function(Context(stubs))
    assert found is not None
    assert "stubs is" in found.missing


def test_a_failure_is_none_of_the_order() -> None:
    found = by_function(Context(error=WorkerTimeout("work()", 600.0, 3, "printed")))
    assert found is not None
    assert "work()" in found.missing
    assert "printed" not in found.missing
