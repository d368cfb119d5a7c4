"""Statements counted by real Callgrind, in forks of a Python that imports the standard library alone."""

from __future__ import annotations

import compileall
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from profkit.transforms.counts import strip_allocators
from tests.support.callgrind_files import read_callgrind
from tests.support.worker_jobs import callgrind_job, case

pytestmark = pytest.mark.valgrind

ROOT = Path(__file__).parents[2]
PROGRAM = Path(__file__).parent / "programs" / "count_in_forks.py"

SPLIT = case("s.split()", "s = 'a few words in a string'")
SPLIT_IN_MODULE = {**SPLIT, "level": "module"}
SUMS = {100 * n: case("sum(numbers)", f"numbers = tuple(range(100)) * {n}") for n in (1, 2, 4)}
"""Of numbers that exist once: since Python 3.12 others cost more, because their references are counted."""
FAILS = "def f(x):\n    return 1 // x"
JOBS = {
    "nothing": callgrind_job(case("pass"), number=[10], repeats=3),
    "nothing, 57": callgrind_job(case("pass"), number=[57]),
    "nothing in a module": callgrind_job(case("pass", level="module"), number=[10], repeats=3),
    "split": callgrind_job(SPLIT, number=[10], repeats=4),
    "split again": callgrind_job(SPLIT, number=[10], repeats=4),
    "split, 20": callgrind_job(SPLIT, number=[20]),
    "split in a module": callgrind_job(SPLIT_IN_MODULE, number=[10], repeats=4),
    "list": callgrind_job(case("[i * i for i in range(100)]"), number=[10]),
    "list again": callgrind_job(case("[i * i for i in range(100)]"), number=[10]),
    **{f"sum {length}": callgrind_job(sum_arm, number=[4]) for length, sum_arm in SUMS.items()},
    "call": callgrind_job(case("f(3)", "def f(x):\n    return x + 1"), number=[10]),
    "not specialised": callgrind_job(case("a + b", "a = b = [1]")),
    "fails": callgrind_job(case("f(0)", FAILS)),
    "after a failure": callgrind_job(SPLIT, number=[10], repeats=4),
}


@dataclass(frozen=True, slots=True)
class Counted:
    number: int
    repeats: list[int]
    baseline: int
    stripped: int
    """Net of one repeat, without what depends on the state of the heap."""

    @property
    def net(self) -> int:
        return min(self.repeats) - self.baseline


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict]:
    folder = tmp_path_factory.mktemp("dumps")
    # A process that has to compile what it imports counts differently.
    assert compileall.compile_dir(ROOT / "profkit" / "measuring", quiet=1)
    done = subprocess.run(
        ["valgrind", "-q", "--tool=callgrind", "--instr-atstart=no", "--collect-atstart=no",
         f"--callgrind-out-file={folder}/cg.%p", f"--log-file={folder}/log",
         sys.executable, str(PROGRAM), f"{folder}/cg"],
        input=json.dumps(list(JOBS.values())),
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
        timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return dict(zip(JOBS, json.loads(done.stdout), strict=True))


def counted(answers: dict[str, dict], name: str) -> Counted:
    answer = answers[name]
    assert answer["ok"], answer.get("trace")
    (only,) = answer["cases"]
    (baseline,) = only["baseline_dumps"]
    dumps = [read_callgrind(Path(path)) for path in (*only["dumps"], baseline)]
    # Nothing was left from before the dump, nor is anything missing in it.
    assert all(sum(f.exclusive for f in dump.functions) == dump.instructions for dump in dumps)
    *repeats, last = [dump.instructions for dump in dumps]
    without = [strip_allocators(dump) for dump in dumps]
    return Counted(only["number"], repeats, last, min(without[:-1]) - without[-1])


@pytest.mark.parametrize("name", ["nothing", "nothing, 57", "nothing in a module"])
@pytest.mark.gil
def test_nothing_costs_nothing(answers: dict[str, dict], name: str):
    counts = counted(answers, name)
    assert set(counts.repeats) == {counts.baseline}
    assert counts.baseline > 0


@pytest.mark.parametrize(
    ("name", "repeats"),
    [
        ("split", 4),
        ("split in a module", 4),
        ("list", 2),
        ("call", 2),
        ("sum 100", 2),
        ("not specialised", 2),
    ],
)
@pytest.mark.gil
def test_repeats_are_alike_to_the_instruction(answers: dict[str, dict], name: str, repeats: int):
    counts = counted(answers, name)
    assert len(counts.repeats) == repeats
    assert len(set(counts.repeats)) == 1


@pytest.mark.parametrize(
    ("one", "other"), [("split", "split again"), ("list", "list again"), ("split", "after a failure")]
)
def test_forks_count_alike_to_the_instruction(answers: dict[str, dict], one: str, other: str):
    assert counted(answers, one) == counted(answers, other)


def test_the_loop_costs_the_same_whatever_is_in_it(answers: dict[str, dict]):
    names = [name for name, job in JOBS.items() if job["number"] == [10] and "module" not in name]
    assert len({counted(answers, name).baseline for name in names}) == 1


def test_what_each_execution_costs_does_not_depend_on_how_many_there_are(answers: dict[str, dict]):
    ten, twenty = counted(answers, "split"), counted(answers, "split, 20")
    assert twenty.net / 20 == pytest.approx(ten.net / 10, rel=0.01)


@pytest.mark.gil
def test_counts_are_linear_in_the_work(answers: dict[str, dict]):
    nets = {length: counted(answers, f"sum {length}").stripped / 4 for length in SUMS}
    assert nets[400] - nets[200] == pytest.approx(2 * (nets[200] - nets[100]), rel=0.001)
    assert (nets[400] - nets[100]) / 300 > 5


def test_names_of_a_module_cost_more_than_those_of_a_function(answers: dict[str, dict]):
    assert counted(answers, "split in a module").net > counted(answers, "split").net


def test_failures_come_out(answers: dict[str, dict]):
    trace = answers["fails"]["trace"]
    assert trace.startswith('Traceback (most recent call last):\n  File "<stmt>", line 1, in <module>\n')
    assert re.search(r"ZeroDivisionError: (integer )?division.* by zero\n$", trace)
