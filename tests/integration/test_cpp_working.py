"""Shared objects of C++ as the arms of jobs."""

from __future__ import annotations

from pathlib import Path

import pytest

from profkit.measuring.cpp.building import libraries_for
from profkit.model.workorder import Language, WorkOrder
from tests.support.worker_jobs import performed

ROOT = Path(__file__).parents[2]
DEPTH = """
#include <filesystem>
thread_local int depth = 0;
struct Guard { Guard() { ++depth; } ~Guard() { --depth; } };
int threads() {
  int found = 0;
  for (auto const &task : std::filesystem::directory_iterator("/proc/self/task")) found += task.exists();
  return found;
}
"""


def order(stmt: str, setup: str = "") -> WorkOrder:
    return WorkOrder(stmt, stmt=stmt, setup=setup, global_setup=DEPTH, language=Language.CPP)


ORDERS = {
    "guarded": order("if (depth != 1) throw std::logic_error(std::to_string(depth));", "Guard guard;"),
    "bare": order("if (depth != 0) throw std::logic_error(std::to_string(depth));"),
    "threads": order("if (true) throw std::runtime_error(std::to_string(threads()));"),
    "no setup": order("", "if (true) throw std::runtime_error(\"in setup\");"),
    "twice": order("profkit::keep(std::sqrt(x)); profkit::keep(std::sqrt(x));", "double x = 2;"),
    "hundred times": order("for (int i = 0; i < 100; ++i) profkit::keep(std::sqrt(x));", "double x = 2;"),
}  # fmt: skip


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    found = libraries_for(
        list(ORDERS.values()), progress=lambda *step: None, cache=tmp_path_factory.mktemp("cpp")
    )
    paths = [path for path in found.values() if isinstance(path, Path)]
    assert len(paths) == len(ORDERS), found
    return dict(zip(ORDERS, paths, strict=True))


def job(libraries: dict[str, Path], *names: str) -> dict[str, object]:
    cases = [
        {"stmt": None, "setup": "", "global_setup": "", "language": "c++", "level": "function",
         "payload": False, "library": str(libraries[name])}
        for name in names
    ]  # fmt: skip
    return {"mode": "timer", "num_threads": 1, "cases": cases, "number": [None] * len(cases), "blocks": 5,
            "block_s": 0.001, "min_run_time_s": 0.01, "runs": None, "seed": 1}  # fmt: skip


def test_times_of_blocks(libraries: dict[str, Path]):
    [answer] = performed(job(libraries, "twice", "hundred times"))
    few, many = (min(case["times_s"]) for case in answer["cases"])
    assert 10 < many / few < 200
    assert [len(case["times_s"]) for case in answer["cases"]] == [5, 5]
    assert all(case["cpu_s"] > 0 for case in answer["cases"])


def test_a_guard_is_in_force_for_its_own_arm_and_job_alone(libraries: dict[str, Path]):
    cases = ("guarded", "bare", "guarded")
    assert all(answer["ok"] for answer in performed(*(job(libraries, name) for name in cases)))
    [together] = performed(job(libraries, *cases))
    assert together["ok"], together["error"]


def test_an_arm_that_is_alone_runs_in_the_only_thread(libraries: dict[str, Path]):
    alone, beside_another = performed(job(libraries, "threads"), job(libraries, "bare", "threads"))
    assert alone == {"ok": False, "error": "std::runtime_error: 1"}
    assert beside_another == {"ok": False, "error": "std::runtime_error: 3"}


def test_what_a_setup_throws(libraries: dict[str, Path]):
    for answer in performed(job(libraries, "no setup"), job(libraries, "bare", "no setup")):
        assert answer == {"ok": False, "error": "std::runtime_error: in setup"}
