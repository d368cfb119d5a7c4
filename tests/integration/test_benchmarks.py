"""The benchmarks measure: what they find is the machine's business, that they find it is ours."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.integration.harness import PREFERS_READER, environment, python_without_py_spy, run_program
from tests.support.seccomp_filters import READ, launcher

VERDICTS = {"", "holds", "fails", "undecided"}

pytestmark = pytest.mark.sampler


def figures_of(folder: Path, suite: str, *names: str) -> list[dict[str, Any]]:
    """What measurements of a suite find, quickly; they leave nothing behind."""
    command = ["-m", f"benchmarks.{suite}", "--quick", "--json", "--only", *names]
    document = json.loads(run_program(folder, command, code=0).stdout)
    assert document["schema"] == "profkit.benchmarks/1"
    assert document["machine"]["Python"]
    assert not list(folder.iterdir())
    found: list[dict[str, Any]] = document["figures"]
    return found


@pytest.mark.outside
@pytest.mark.slow
def test_the_table_shows_ratios_bounds_and_the_machine(tmp_path: Path) -> None:
    command = ["-m", "benchmarks.sampling", "--quick", "--only", "imports", "calls"]
    done = run_program(tmp_path, command, code=0)
    rows = [line for line in done.stdout.splitlines() if re.match(r"(imports|calls) ", line)]
    assert len(rows) == 11
    assert sum("÷" in row and " × " in row for row in rows) == 3
    assert all(re.search(r"\b(holds|fails|undecided)\b", row) for row in rows if "≤" in row)
    for fact in ("processor", "kernel", "Python", "versions", "load before", "load after", "repetitions"):
        assert re.search(rf"^{fact}: \S", done.stdout, re.MULTILINE)
    assert "imports" in done.stderr


@pytest.mark.parametrize(
    ("name", "figures"),
    [
        ("first_result", 3),
        pytest.param("accuracy", 4, marks=[pytest.mark.torch, pytest.mark.full]),
        pytest.param("attribution", 36 if PREFERS_READER else 24, marks=pytest.mark.full),
        pytest.param("recovery", 3, marks=pytest.mark.full),
    ],
)
@pytest.mark.gil
@pytest.mark.slow
def test_measurements_as_json(tmp_path: Path, name: str, figures: int) -> None:
    found = figures_of(tmp_path, "sampling", name)
    assert len(found) == figures
    assert {figure["measurement"] for figure in found} == {name}
    assert {figure["verdict"] for figure in found} <= VERDICTS
    assert all(figure["value"] >= 0 for figure in found)


@pytest.mark.gil
@pytest.mark.full
def test_denials_reach_the_samplers_that_are_left(tmp_path: Path) -> None:
    found = figures_of(tmp_path, "sampling", "denials")
    assert len(found) == (6 if PREFERS_READER else 7)
    assert {figure["bound"] for figure in found} == {1.0}


@pytest.mark.outside
@pytest.mark.full
def test_slowdown_has_a_ratio_for_each_case(tmp_path: Path) -> None:
    found = figures_of(tmp_path, "sampling", "slowdown", "many_processes")
    bounds = {figure["what"]: figure["bound"] for figure in found if figure["bound"] is not None}
    assert sorted(bounds.values()) == [1.02, 1.05, 1.08, 1.08, 1.1]
    assert all(figure["value"] > 0 for figure in found if figure["unit"] == "×")


def test_without_a_sampler_nothing_is_measured(tmp_path: Path) -> None:
    command = ["-m", "benchmarks.sampling", "--quick", "--only", "calls"]
    python, environ = python_without_py_spy(tmp_path)
    done = run_program(tmp_path, command, python=python, environ=environ, launcher=launcher(READ), code=1)
    assert "no sampler is attached" in done.stderr
    assert "failed: calls" in done.stdout


def test_an_unknown_measurement_is_refused(tmp_path: Path) -> None:
    done = run_program(
        tmp_path, ["-m", "benchmarks.sampling", "--only", "everything"], environ=environment(), code=2
    )
    assert "attribution" in done.stderr


@pytest.mark.alone  # it counts processes and their memory
@pytest.mark.full
def test_measuring_has_a_suite_of_its_own(tmp_path: Path) -> None:
    found = figures_of(tmp_path, "measuring", "many_orders")
    assert [figure["verdict"] for figure in found] == ["holds", "holds", "holds"]


@pytest.mark.full
def test_reporting_has_a_suite_of_its_own(tmp_path: Path) -> None:
    found = {figure["what"]: figure for figure in figures_of(tmp_path, "reporting", "large_reports")}
    assert found["html: size of the page"]["verdict"] == "holds"
    assert {name.partition(":")[0] for name in found} == {"text", "html", "markdown"}


@pytest.mark.torch
@pytest.mark.full
def test_pools_are_measured_side_by_side(tmp_path: Path) -> None:
    found = figures_of(tmp_path, "pool", "small_calls")
    assert [figure["unit"] for figure in found] == ["ms", "×", "×", "×"]
    assert found[2]["value"] < 1, "a fork costs less than a new interpreter"
