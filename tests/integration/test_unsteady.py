"""Failed tests run again alone: small folders of tests that fail once, each time, or with their worker."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.unsteady import JOURNAL, MOST_FAILED, MOST_RUNS, often_unsteady, record

CHECKOUT = Path(__file__).parents[2]
CONFTEST = """
import hashlib
import pytest
from tests.support.unsteady import add_option as pytest_addoption, register as pytest_configure

@pytest.fixture
def first(request):
    marker = request.path.with_name(hashlib.sha1(request.node.nodeid.encode()).hexdigest())
    fresh = not marker.exists()
    marker.touch()
    return fresh
"""
STEADY = "def test_steady(): pass\n"
UNSTEADY = "def test_unsteady(first): assert not first, 'busy'\n"
MANY = f"@pytest.mark.parametrize('n', range({MOST_FAILED + 1}))\n"
BROKEN = "def test_broken(): assert False, 'wrong'\n"


def pytest_in(folder: Path, tests: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run tests in a folder with the plugin."""
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "test_some.py").write_text(f"import os, signal, pytest\n{tests}")
    command = [sys.executable, "-m", "pytest", "-p", "xdist", "-p", "no:cacheprovider", f"--rootdir={folder}"]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # others take most of the time
    return subprocess.run(
        [*command, *options, str(folder)], cwd=CHECKOUT, env=environment, capture_output=True, text=True
    )


def closing(run: subprocess.CompletedProcess[str]) -> str:
    """Return the numbers in the last line."""
    found = re.fullmatch(r"=+ (.*) in [0-9.]+s.* =+", run.stdout.splitlines()[-1])
    assert found, run.stdout
    return found[1]


def recorded(folder: Path) -> list[str]:
    """Return the names of the tests in the journal."""
    journal = folder / JOURNAL
    lines = journal.read_text().splitlines() if journal.exists() else []
    return [json.loads(line)["test"].partition("::")[2] for line in lines]


@pytest.mark.parametrize("processes", ["0", "2"])
def test_a_run_passes_if_its_failed_tests_pass_alone(processes: str, tmp_path: Path) -> None:
    run = pytest_in(tmp_path, STEADY + UNSTEADY, "-n", processes)
    assert run.returncode == 0, run.stdout
    assert closing(run) == "2 passed, 1 unsteady"
    section = run.stdout.partition("= unsteady =")[2].splitlines()
    assert "UNSTEADY test_some.py::test_unsteady - AssertionError: busy" in section
    assert recorded(tmp_path) == ["test_unsteady"]


@pytest.mark.parametrize("processes", ["0", "2"])
def test_a_test_that_fails_again_fails_the_run(processes: str, tmp_path: Path) -> None:
    run = pytest_in(tmp_path, STEADY + UNSTEADY + BROKEN, "-n", processes)
    assert run.returncode == pytest.ExitCode.TESTS_FAILED
    assert closing(run) == "1 failed, 2 passed, 1 unsteady"
    first, again = run.stdout.split("= again, alone: test_some.py::test_broken =")
    assert "E   AssertionError: wrong" in first
    assert "    E   AssertionError: wrong" in again
    assert recorded(tmp_path) == ["test_unsteady"]


def test_fixtures_can_be_unsteady(tmp_path: Path) -> None:
    fixtures = (
        "@pytest.fixture\ndef before(first): assert not first, 'setup'\n"
        "@pytest.fixture\ndef after(first):\n    yield\n    assert not first, 'teardown'\n"
    )
    run = pytest_in(tmp_path, fixtures + "def test_a(before): pass\ndef test_b(after): pass\n", "-n", "0")
    assert run.returncode == 0, run.stdout
    assert closing(run) == "2 passed, 2 unsteady"


def test_a_test_that_fails_twice_in_one_run_is_one_test(tmp_path: Path) -> None:
    fixture = "@pytest.fixture\ndef after(first):\n    yield first\n    assert not first, 'teardown'\n"
    run = pytest_in(tmp_path, fixture + "def test_a(after): assert not after\n", "-n", "0")
    assert run.returncode == 0, run.stdout
    assert closing(run) == "1 passed, 1 unsteady"


def test_a_crash_of_a_worker_is_a_failure_of_its_test(tmp_path: Path) -> None:
    crash = "def test_crash(first):\n    if first: os.kill(os.getpid(), signal.SIGKILL)\n"
    run = pytest_in(tmp_path, STEADY + crash, "-n", "2")
    assert run.returncode == 0, run.stdout
    assert closing(run) == "2 passed, 1 unsteady"
    assert recorded(tmp_path) == ["test_crash"]


def test_a_crash_of_the_process_that_runs_a_test_again_is_a_failure(tmp_path: Path) -> None:
    run = pytest_in(tmp_path, "def test_crash(): os.kill(os.getpid(), signal.SIGKILL)\n", "-n", "2")
    assert run.returncode == pytest.ExitCode.TESTS_FAILED
    assert closing(run) == "1 failed"
    assert f"killed by signal {signal.SIGKILL:d}" in run.stdout


def test_crashes_that_end_the_run_are_not_forgiven(tmp_path: Path) -> None:
    crash = "def test_crash(n): os.kill(os.getpid(), signal.SIGKILL)\n"
    run = pytest_in(tmp_path, MANY + crash, "-n", "1", "--max-worker-restart=1")
    assert run.returncode == pytest.ExitCode.TESTS_FAILED
    assert closing(run) == "2 failed"
    assert "again, alone" not in run.stdout


def test_parameters_of_any_form_are_found_again(tmp_path: Path) -> None:
    names = ["-a b", "x[1]::c", "c//./ä'\n"]
    tests = f"@pytest.mark.parametrize('name', {names!r})\n" + UNSTEADY.replace("first)", "name, first)")
    run = pytest_in(tmp_path, tests, "-n", "0")
    assert run.returncode == 0, run.stdout
    assert closing(run) == f"{len(names)} passed, {len(names)} unsteady"


def test_each_test_runs_again_in_a_process_of_its_own_after_all_others(tmp_path: Path) -> None:
    note = "def note(): print(os.getpid(), file=open(os.path.dirname(__file__) + '/processes', 'a'))\n"
    failing = "def test_{0}():\n    note()\n    assert False\n"
    passing = "def test_last(): note()\n"
    pytest_in(tmp_path, note + failing.format("a") + failing.format("b") + passing, "-n", "0")
    first, second, third, *alone = (tmp_path / "processes").read_text().split()
    assert first == second == third
    assert len({first, *alone}) == 3


def test_only_the_selected_tests_of_a_marker_run_again(tmp_path: Path) -> None:
    marked = "@pytest.mark.slow\n" + UNSTEADY
    options = ("-c", str(CHECKOUT / "pyproject.toml"), "-m", "slow")
    run = pytest_in(tmp_path, marked + STEADY, *options)
    assert run.returncode == 0, run.stdout
    assert closing(run) == "1 passed, 1 unsteady"


@pytest.mark.parametrize(
    ("tests", "options", "numbers"),
    [
        (UNSTEADY, ["--no-rerun"], "1 failed"),
        (MANY + "def test_broken(n): assert False\n", [], f"{MOST_FAILED + 1} failed"),
        (UNSTEADY, ["-x"], "1 failed"),
        (UNSTEADY, ["-x", "-n", "2"], "1 failed"),
        (UNSTEADY + "def test_interrupted(): raise KeyboardInterrupt\n", [], "1 failed"),
    ],
    ids=["off", "many", "x", "x-parallel", "interrupted"],
)
def test_no_test_runs_again(tests: str, options: list[str], numbers: str, tmp_path: Path) -> None:
    run = pytest_in(tmp_path, tests, "-n", "0", *options)
    assert run.returncode in (pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED)
    assert closing(run) == numbers
    assert "again, alone" not in run.stdout
    assert recorded(tmp_path) == []


def test_a_collection_that_fails_is_not_forgiven(tmp_path: Path) -> None:
    (tmp_path / "test_other.py").write_text("import nothing_of_this_name\n")
    run = pytest_in(tmp_path, UNSTEADY, "-n", "0", "--continue-on-collection-errors")
    assert run.returncode == pytest.ExitCode.TESTS_FAILED
    assert closing(run) == "1 failed, 1 error"
    assert "again, alone" not in run.stdout


def test_a_test_is_unsteady_too_often_after_a_number_of_runs(tmp_path: Path) -> None:
    for _ in range(MOST_RUNS):
        record(tmp_path, ["test_a", "test_b"])
    assert often_unsteady(tmp_path / JOURNAL) == {}
    record(tmp_path, ["test_b"])
    assert often_unsteady(tmp_path / JOURNAL) == {"test_b": MOST_RUNS + 1}


def test_the_check_names_tests_that_are_unsteady_too_often(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.support.unsteady"]
    environment = {"PYTHONPATH": str(CHECKOUT)}

    def check() -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)

    assert check().returncode == 0
    for _ in range(MOST_RUNS + 1):
        record(tmp_path, ["test_a"])
    failed = check()
    assert failed.returncode == 1
    assert failed.stdout == f"unsteady in {MOST_RUNS + 1} runs: test_a\n"


SELECTING = """
from tests.support.selection import SelectionReport

def pytest_configure(config):
    config.pluginmanager.register(SelectionReport())
"""


@pytest.mark.parametrize("processes", [0, 2])
@pytest.mark.slow
def test_deselected_tests_are_counted(processes: int, tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(SELECTING)
    (tmp_path / "test_some.py").write_text("".join(f"def test_{name}(): pass\n" for name in ("a", "b", "c")))
    command = [sys.executable, "-m", "pytest", "-n", str(processes), "-k", "not a", "-p", "no:cacheprovider"]
    run = subprocess.run(
        [*command, str(tmp_path), f"--rootdir={tmp_path}"], cwd=CHECKOUT, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout
    assert "3 collected, 1 deselected" in run.stdout.splitlines()
    assert "2 passed" in run.stdout
