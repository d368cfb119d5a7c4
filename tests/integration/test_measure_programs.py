"""Programs and commands that measure: what they print, keep and leave behind, however they end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from profkit import measure, work_order
from profkit.measuring.pool.pool import process_pool
from profkit.measuring.runner.counting import callgrind_kind
from profkit.measuring.runner.jobs import Task
from profkit.store.measured import measured_files
from tests.integration.harness import environment, profkit, reported, run_program
from tests.support.spool_folders import read_measured
from tests.support.waiting import until

ENDLESS = """
import time
from profkit import measure, measure_all, work_order
orders = [work_order("1 + 1", quick=True, min_run_time_s=0.01), work_order("sum(iter(int, 1))", quick=True)]
measure_all(orders)
"""


def at_home_in(folder: Path) -> set[int]:
    """Processes whose HOME is the folder: a program that was started so, and all that work for it."""
    processes = psutil.process_iter(["environ"])
    return {p.pid for p in processes if (p.info["environ"] or {}).get("HOME") == str(folder)}


Endless = tuple[subprocess.Popen[str], Callable[[], set[int]]]


@pytest.fixture
def endless(tmp_path: Path) -> Iterator[Endless]:
    """A program that has measured one order and is at another without an end, and who works for it."""
    script = tmp_path / "endless.py"
    script.write_text(ENDLESS)
    program = subprocess.Popen(
        [sys.executable, str(script)], cwd=tmp_path, env=environment(HOME=str(tmp_path)),
        stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    spool = tmp_path / ".profkit" / "spool"
    try:
        until(lambda: measured_files(spool) and len(at_home_in(tmp_path)) >= 4, "not measuring")
        yield program, lambda: at_home_in(tmp_path)
    finally:
        program.kill()
        program.communicate()


def test_an_interrupt_ends_everything_and_loses_nothing(endless: Endless, tmp_path: Path) -> None:
    program, left = endless
    program.send_signal(signal.SIGINT)
    _, complaints = program.communicate(timeout=20)
    assert program.returncode == -signal.SIGINT
    assert "KeyboardInterrupt" in complaints
    until(lambda: not left(), "processes are left")
    (kept,) = measured_files(tmp_path / ".profkit" / "spool")
    assert read_measured(kept).info.label == "1 + 1"


@pytest.mark.parametrize("signum", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_program_leaves_nobody(endless: Endless, tmp_path: Path, signum: signal.Signals) -> None:
    program, left = endless
    program.send_signal(signum)
    program.wait()
    until(lambda: not left(), "processes are left")
    assert measured_files(tmp_path / ".profkit" / "spool")


def test_a_script_without_a_main_guard_measures_once(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("print('ran')\nfrom profkit import measure\nmeasure('pass', quick=True)\n")
    done = run_program(tmp_path, [str(script)])
    assert (done.returncode, done.stdout, done.stderr) == (0, "ran\n", "")


def test_the_command_shows_what_it_measured_and_report_shows_it_again(tmp_path: Path) -> None:
    measured = profkit(
        tmp_path, "measure", "sum(l)", "--setup", "l = [1, 2]", "--threads", "1,2", "--quick", "--json"
    )
    found = json.loads(measured.stdout)
    assert [order["num_threads"] for order in found["orders"]] == [1, 2]
    assert measured.stderr.startswith("profkit: 0/6")
    assert "6/6" in measured.stderr
    again = reported(tmp_path)
    assert again == found
    assert "sum(l)" in profkit(tmp_path, "list").stdout


def test_a_function_is_found_by_its_name_in_the_current_folder(tmp_path: Path) -> None:
    (tmp_path / "work.py").write_text(
        "class Deep:\n    @staticmethod\n    def of(n=3):\n        return n\ndef needs(n): ...\n"
    )
    done = profkit(tmp_path, "measure", "work:Deep.of", "--quick", "--json")
    (order,) = json.loads(done.stdout)["orders"]
    assert (order["label"], order["what"]) == ("work:Deep.of", "work:Deep.of()")
    refused = profkit(tmp_path, "measure", "work:needs", "--quick", code=2)
    assert '--setup "from work import needs"' in refused.stderr
    profkit(tmp_path, "measure", "work:nothing", code=2)


ORDERS = """
from profkit import Variants
ORDERS = {"join": {"ten": Variants(python="''.join(w)", setup="w = ['x'] * 10"), "bad": "1 / 0"}}
"""


@pytest.mark.slow
def test_a_file_of_orders_goes_on_where_one_fails_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "orders.py").write_text(ORDERS)
    done = profkit(tmp_path, "measure", "orders.py", "--quick", code=3)
    assert "join / ten" in done.stdout
    assert "ZeroDivisionError" in done.stdout
    for text, problem in (
        ("X = 1", "has no ORDERS"),
        ("1 / 0", "raised ZeroDivisionError"),
        ("ORDERS = [1]", "no ORDERS"),
    ):
        (tmp_path / "orders.py").write_text(text)
        assert problem in profkit(tmp_path, "measure", "orders.py", code=2).stderr


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["x", "--threads", "1,b"], "list of numbers"),
        (["x", "--env", "A"], "NAME=VALUE"),
        (["x", "--timeout", "soon"], "duration"),
        (["x", "--memory-limit", "much"], "size"),
    ],
)
def test_what_makes_no_sense_is_said_before_anything_starts(
    tmp_path: Path, arguments: list[str], problem: str
) -> None:
    done = profkit(tmp_path, "measure", *arguments, code=2)
    assert problem in done.stderr
    assert not (tmp_path / ".profkit").exists()


@pytest.mark.valgrind
@pytest.mark.parametrize("orders", [25, pytest.param(150, marks=pytest.mark.full)])
@pytest.mark.slow
def test_many_orders_in_a_row_leave_nothing_behind(tmp_path: Path, orders: int) -> None:
    task = Task(work_order("pass", mode="callgrind"))
    kind, counts, resident = callgrind_kind(task, 0), set(), []
    own_files: list[int] = []
    zygote_files: set[int] = set()
    for number in range(orders):
        found = measure("s.split(',')", setup="s = 'a,b'", mode="callgrind", number=5, keep=False)
        assert found.instructions is not None
        counts.add(found.instructions.raw)
        (pid,) = {zygote.pid for zygote in process_pool().zygotes() if zygote.kind == kind}
        if number >= 10:
            own_files.append(len(os.listdir("/proc/self/fd")))
            zygote_files.add(len(os.listdir(f"/proc/{pid}/fd")))
            resident.append(psutil.Process(pid).memory_info().rss)
    assert len(counts) == 1
    assert len(zygote_files) == 1
    # Idle zygotes of other tests end meanwhile.
    assert own_files == sorted(own_files, reverse=True)
    assert resident[-1] / resident[0] < 1.01
