"""Counting by Python function after counting: when, how, and what happens if it fails."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import pytest

from profkit.errors import WorkerTimeout
from profkit.measuring.orders import work_order
from profkit.measuring.pool.command import ZygoteKind
from profkit.measuring.pool.jobs import Dump, Job, Reply, ZygoteFacts
from profkit.measuring.runner.attribution import with_python_functions
from profkit.measuring.runner.context import BatchContext
from profkit.measuring.runner.jobs import Task
from profkit.measuring.worker.protocol import SHARED
from profkit.model.function_counts import STATEMENT, PythonCounts
from profkit.model.measurement import Freshness, InstructionCounts, MeasuredIn, Preload, Tool
from profkit.model.workorder import Simulation

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


def counts(python: str = "3.13.2", net: float = 55.0) -> InstructionCounts:
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


def counted(
    context: Context, known: InstructionCounts | None = None, **options: object
) -> PythonCounts | None:
    order = work_order("work()", mode="callgrind", **options)  # type: ignore[arg-type]
    found = with_python_functions(known or counts(), Task(order), KIND, cast("BatchContext", context))
    return found.python


def test_functions_are_counted_by_a_zygote_of_its_own_kind() -> None:
    context = Context()
    found = counted(context)
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
    counted(context, counts(net=3e6))
    assert context.asked[0][1].message["warm"] == 1


def test_executions_get_their_state_as_they_did() -> None:
    context = Context()
    counted(context, replace(counts(), freshness=Freshness(True, ("argument 1",))))
    (case,) = cast("list[dict[str, dict[str, object]]]", context.asked[0][1].message["cases"])
    assert (case["fresh"]["decided"], case["fresh"]["changes"]) == (True, ["argument 1"])


@pytest.mark.parametrize("options", [{"python_functions": False}, {"runs": 9}, {"language": "c++"}])
def test_it_is_left_out(options: dict[str, object]) -> None:
    context = Context()
    assert counted(context, **options) is None
    assert context.asked == []


def test_an_older_python_cannot() -> None:
    context = Context()
    assert counted(context, counts("3.11.9")) == PythonCounts(missing="this needs Python 3.12 or later")
    assert context.asked == []


@pytest.mark.parametrize("stubs", [None, [[1, "work"]], [["1", "work", "app.py", 7]], [[-1, "work", "", 0]]])
def test_an_odd_reply_is_no_failure_of_the_order(stubs: object) -> None:
    found = counted(Context(stubs))
    assert found is not None
    assert "stubs is" in found.missing


def test_a_failure_is_none_of_the_order() -> None:
    found = counted(Context(error=WorkerTimeout("work()", 600.0, 3, "printed")))
    assert found is not None
    assert "work()" in found.missing
    assert "printed" not in found.missing
