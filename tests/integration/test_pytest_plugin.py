"""The pytest plugin in real runs of pytest: what it samples, what it says, and what it leaves alone."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import distributions
from pathlib import Path

import pytest

from tests.integration.harness import environment, listed, reported, run_program
from tests.support.seccomp_filters import PTRACE, READ, launcher

pytestmark = pytest.mark.sampler

PLUGIN = "profkit.integrations.pytest.plugin"
INSTALLED = any(entry.value == PLUGIN for found in distributions() for entry in found.entry_points)
"""Whether pytest finds the plugin itself: a checkout may have been installed before it had one."""
OTHERS = ("-p", "no:asyncio", "-p", "no:cacheprovider", "-p", "no:cov", "-p", "no:hypothesispytest")
RATE = "--profkit-rate=200"
WORK = """
import time

def work(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(100))
"""


def run_pytest(
    folder: Path, *arguments: str, before: Sequence[str] = (), code: int = 0, others: Sequence[str] = OTHERS,
    **variables: str,
) -> str:  # fmt: skip
    """Run pytest in a folder with tests; return what it says, in lines of any width."""
    plugin = () if INSTALLED else ("-p", PLUGIN)
    argv = ["-m", "pytest", "-q", *plugin, *others, *arguments]
    environ = environment(**{"COLUMNS": "200"} | variables)
    done = run_program(folder, argv, launcher=before, environ=environ)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.slow
def test_sampled_tests_of_all_kinds(tmp_path: Path) -> None:
    (tmp_path / "work.py").write_text(WORK)
    (tmp_path / "test_it.py").write_text(
        """
import unittest, pytest
from work import work

@pytest.fixture(scope="module")
def prepared(): work(0.2)

def test_slow(prepared): work(0.3)
def test_short(): pass
@pytest.mark.parametrize("x", ["a b", "ü;`|\\n", 1.5])
def test_odd(x): work(0.05)
class TestCases(unittest.TestCase):
    def test_case(self): work(0.1)
def test_fails():
    work(0.05)
    assert 0
def test_skipped(): pytest.skip("no")
@pytest.mark.xfail
def test_xfails():
    work(0.05)
    assert 0
def documented():
    \"\"\"
    >>> work(0.05)
    \"\"\"
"""
    )
    said = run_pytest(tmp_path, "--profkit", RATE, "--doctest-modules", code=1)
    assert "1 failed, 7 passed, 1 skipped, 1 xfailed" in said
    assert "9 sampled tests" in said
    assert re.search(r"test_it.py::test_short  too short for a sample at 200 Hz", said)
    block = said.partition("test_it.py::test_slow\n")[2]
    first, second = block.splitlines()[:2]
    assert re.search(r"100 %( [±−]\d+)? +100 %    work  work.py:\d", first)
    assert re.search(r" 100 %    test_slow  test_it.py:\d+", second)
    assert "test_skipped" not in said.partition("sampled tests")[2].partition("short test summary")[0]
    report = reported(tmp_path, "test_it.py::test_slow")
    assert "profkit report pytest" in said
    tree = json.dumps(report)
    assert "_pytest" not in tree, "stacks begin at the test's function"
    for label in ("test_odd[a b]", "TestCases::test_case", "test_it.documented", "test_xfails"):
        assert f"test_it.py::{label}\n" in said


@pytest.mark.full
def test_one_session_samples_all(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        WORK + "import profkit\n@profkit.profile()\ndef f(): work(0.05)\n"
        "import pytest\n@pytest.fixture\ndef prepared(): work(0.2)\n"
        "def test_a(prepared): f()\ndef test_b(): f()\ndef test_c(): assert f.last_run is not None\n"
    )
    run_pytest(tmp_path, "--profkit", RATE)
    sessions = {json.dumps(run["session"]) for run in listed(tmp_path)}
    assert len(sessions) == 1
    assert {run["label"] for run in listed(tmp_path)} >= {"f", "pytest", "test_it.py::test_a"}
    assert '"prepared"' in json.dumps(reported(tmp_path, "pytest"))


@pytest.mark.slow
def test_workers_of_xdist_have_one_summary(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        WORK + "import pytest\n@pytest.mark.parametrize('n', range(4))\ndef test_n(n): work(0.1)\n"
    )
    said = run_pytest(tmp_path, "--profkit", RATE, "-n", "2", "--dist", "each", "-p", "no:randomly")
    assert said.count("= profkit =") == 1
    assert "8 sampled tests" in said
    assert "all of a worker's time" in said


@pytest.mark.full
def test_timings_of_workers_take_turns(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        """
import fcntl, os, pytest
from pathlib import Path

@pytest.mark.parametrize("number", range(4))
def test_it(measure, number):
    measure(sum, [number])

@pytest.mark.profkit(mode="timer", isolated=False, min_run_time_s=0.05)
@pytest.mark.parametrize("number", range(4))
def test_alone(measure, number):
    def call():
        with open("alone", "w") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # raises if another worker times, too
    if measure.run is None:
        measure.pedantic(call, rounds=1)
"""
    )
    said = run_pytest(tmp_path, "-n", "2")
    assert "8 measured tests" in said
    assert len(re.findall(r"^test_it.py::test_it\[\d\]: min ", said, re.MULTILINE)) == 4


def test_off_loads_nothing(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "import sys\n"
        "def test_it():\n"
        "    print(sorted(name for name in sys.modules if name.partition('.')[0] == 'profkit'))\n"
    )
    said = run_pytest(tmp_path, "-s")
    assert (
        str(["profkit", "profkit.integrations", "profkit.integrations.pytest", PLUGIN, "profkit.version"])
        in said
    )
    assert "= profkit" not in said
    assert not (tmp_path / ".profkit").exists()


@pytest.mark.full
def test_marks_without_the_option(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        WORK + "import pytest, threading\n"
        "@pytest.mark.profkit\ndef test_sampled(): work(0.2)\n"
        "def test_other(): work(0.1)\n"
        "@pytest.mark.profkit(mode='timer', quick=True)\ndef test_timed(tmp_path): work(0.0001)\n"
        "@pytest.fixture\ndef lock(): return threading.Lock()\n"
        "@pytest.mark.profkit(mode='timer')\ndef test_local(lock): work(0.01)\n"
        "@pytest.mark.profkit(mode='timer', isolated=False)\ndef test_here(): work(0.0001)\n"
        "@pytest.mark.profkit(mode='samples')\ndef test_as_profile(): pass\n"
        "@pytest.mark.profkit(mode='timer')\ndef test_fails(): assert 0\n"
    )
    said = run_pytest(tmp_path, "--strict-markers", code=1)
    assert "2 sampled tests" in said
    assert "3 measured tests" in said
    assert "test_other" not in said
    assert re.search(r"^test_it.py::test_timed: min .* of 3 processes", said, re.MULTILINE)
    assert "only its one call, since argument 'lock'" in said
    assert "timed in this process: isolated=False asks for it" in said
    assert "= profkit" not in run_pytest(tmp_path, "--no-profkit", code=1)
    assert "= profkit" not in run_pytest(tmp_path, code=1, PROFKIT_DISABLE="1")


@pytest.mark.parametrize(
    ("mark", "says"),
    [
        ("mode='guess'", "mode='guess' is not valid; give one of 'sample', 'timer'"),
        ("rat=3", "did you mean 'rate'?"),
        ("mode='timer', rate=3", "there is no option 'rate'"),
        ("limit='much'", "limit='much' is not valid"),
        ("'timer'", "name its options"),
        ("mode='callgrind', isolated=False", "Callgrind counts in a process of its own"),
        ("mode='timer', processes=0", "processes=0 is not valid"),
    ],
)
@pytest.mark.full
def test_an_invalid_mark_is_an_error_of_its_test(tmp_path: Path, mark: str, says: str) -> None:
    (tmp_path / "test_it.py").write_text(
        f"import pytest\n@pytest.mark.profkit({mark})\ndef test_it(): pass\ndef test_other(): pass\n"
    )
    said = run_pytest(tmp_path, code=1)
    assert says in said
    assert "1 passed, 1 error" in said


@pytest.mark.parametrize(
    "options", [["--profkit-rate=-1"], ["--profkit-max-slowdown=x"], ["--profkit-output=no/x.md"]]
)
@pytest.mark.full
def test_invalid_options(tmp_path: Path, options: list[str]) -> None:
    (tmp_path / "test_it.py").write_text("def test_it(): pass\n")
    assert "ERROR: profkit: " in run_pytest(tmp_path, "--profkit", *options, code=4)


@pytest.mark.full
def test_calls_of_the_fixture(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        """
import asyncio, threading, pytest

def total(values):
    values.append(1)
    return sum(values)

def test_sent(measure):
    values, calls = [1, 2], []
    assert measure(total, values) == 4
    assert values == [1, 2, 1], "called once here"
    assert measure.run.measurement.timing.measured_in.isolated

def test_local(measure):
    lock, calls = threading.Lock(), []
    def locked():
        with lock: return 5
    assert measure(locked) == 5
    assert not measure.run.measurement.timing.measured_in.isolated

def test_rounds(measure):
    made = []
    def setup():
        made.append([1])
        return (made[-1],), {}
    assert measure.pedantic(total, setup=setup, rounds=5, warmup_rounds=2) == 2
    assert len(made) == 7 and len(measure.run.measurement.timing.processes[0].times_s) == 5

async def later(value):
    await asyncio.sleep(0)
    return value

@pytest.mark.asyncio
async def test_coroutine(measure):
    assert await measure(later, 3) == 3
    assert measure.run.measurement.timing.measured_in.isolated

@pytest.mark.asyncio
async def test_local_coroutine(measure):
    lock = threading.Lock()
    async def locked():
        with lock: return await later(4)
    assert await measure(locked) == 4
    assert await later(1) == 1

@pytest.mark.asyncio
async def test_rounds_of_coroutines(measure):
    assert await measure.pedantic(later, (2,), rounds=3, iterations=2) == 2

def test_raises(measure):
    with pytest.raises(ZeroDivisionError):
        measure(lambda: 1 / 0)

def test_twice(measure):
    measure.pedantic(total, ([],))
    with pytest.raises(Exception, match="measures a second call"):
        measure(total, [])
"""
    )
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\nasyncio_default_fixture_loop_scope = function\nmarkers =\n    asyncio\n"
    )
    said = run_pytest(tmp_path, "--strict-markers", others=("-p", "no:cacheprovider"))
    assert "8 passed" in said
    assert "7 measured tests" in said
    assert re.search(r"timed in this process: .*'lock' cannot be sent to another process", said)


@pytest.mark.full
@pytest.mark.valgrind
def test_counts_and_their_limits(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "import os, pytest\n"
        "def total(n): return sum(range(n))\n"
        "@pytest.mark.profkit(mode='callgrind', limit='2%')\n"
        "def test_it(measure):\n"
        "    assert measure(total, int(os.environ['N'])) >= 0\n"
    )
    said = run_pytest(tmp_path, N="1000")
    assert re.search(r"^test_it.py::test_it: [\d,]+ instructions", said, re.MULTILINE)
    markdown = ["--profkit-output", "summary.md"]
    said = run_pytest(tmp_path, "--profkit-baseline", "test_it", *markdown, N="3000", code=1)
    assert "Compared with test_it" in said
    assert "1 of 1 test is slower than its limit." in said
    assert re.search(r"test_it.py::test_it +instructions +\S.* regression", said)
    assert "more instructions; the limit is 2 %" in said
    written = (tmp_path / "summary.md").read_text("utf-8")
    assert "❌ regression" in written
    assert "test_it.py::test_it" in written
    said = run_pytest(tmp_path, "--profkit-compare", "test_it", N="3000")
    assert "No regression in 1 test." in said


SLEEPING = "import os, time\ndef test_slept(): time.sleep(float(os.environ['S']))\n"
TIMES_ONLY = ("--profkit", "--profkit-sampler=none")


@pytest.mark.slow
def test_a_slower_test_fails_the_run(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(SLEEPING)
    run_pytest(tmp_path, *TIMES_ONLY, S="0.1")
    said = run_pytest(tmp_path, *TIMES_ONLY, "--profkit-compare", "test_it", S="1.5", code=1)
    assert "1 passed" in said
    assert "1 of 1 test is slower than its limit." in said
    assert re.search(r"test_it.py::test_slept +time of one call +\S.* regression", said)


@pytest.mark.full
def test_bases_that_are_files_or_nothing(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(f"{SLEEPING}def test_other(): pass\n")
    run_pytest(tmp_path, *TIMES_ONLY, S="0.1")
    exporting = ["-m", "profkit", "export", "test_it.py::test_slept", "-o", "base.profkit.json"]
    exported = run_program(tmp_path, exporting)
    assert exported.returncode == 0, exported.stderr
    said = run_pytest(tmp_path, *TIMES_ONLY, "--profkit-baseline", "base.profkit.json", S="1.5", code=1)
    assert "1 test without a baseline." in said
    said = run_pytest(tmp_path, *TIMES_ONLY, "--profkit-compare", "nowhere", S="0.01")
    assert "No test has a baseline 'nowhere'" in said
    compared = ["--profkit-compare", "test_it", "--profkit-limit=9000%"]
    assert "No regression in 2 tests." in run_pytest(tmp_path, *TIMES_ONLY, *compared, S="0.01")


@pytest.mark.full
def test_a_commit_as_base(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "import os, time\ndef test_it(): time.sleep(float(os.environ['S']))\n"
    )
    (tmp_path / ".gitignore").write_text(".profkit\n__pycache__\n")
    for command in (
        ["init", "-q"],
        ["add", "."],
        ["-c", "user.name=x", "-c", "user.email=x@y", "commit", "-qm", "x"],
    ):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    run_pytest(tmp_path, *TIMES_ONLY, S="0.1")
    said = run_pytest(tmp_path, *TIMES_ONLY, "--profkit-compare", "HEAD", S="1.5", code=1)
    assert "1 of 1 test is slower than its limit." in said


def test_a_denied_sampler_changes_no_outcome(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(WORK + "def test_it(): work(0.1)\ndef test_bad(): assert 0\n")
    denied = launcher(PTRACE, READ)
    said = run_pytest(tmp_path, "--profkit", "--profkit-sampler=pyspy", before=denied, code=1)
    assert "1 failed, 1 passed" in said
    # On a busy machine py-spy does not stop the program, and may then read it through a file.
    if "Sampled by pyspy" not in said:
        assert "No samples, only times." in said
        assert len(re.findall("py-spy may not read process", said)) == 1


@pytest.mark.full
def test_a_spool_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text("def test_it(): pass\ndef test_bad(): assert 0\n")
    said = run_pytest(tmp_path, "--profkit", code=1, PROFKIT_SPOOL="/dev/null/spool")
    assert "1 failed, 1 passed" in said
    assert "runs unprofiled: the spool /dev/null/spool cannot be used" in said


@pytest.mark.parametrize(
    ("last", "code", "says"),
    [
        ("os.kill(os.getpid(), 2); work(9)", 2, "KeyboardInterrupt"),
        ("pytest.exit('enough', returncode=9)", 9, "enough"),
        ("raise SystemExit(3)", 1, "SystemExit: 3"),
        ("os.fork() or os._exit(0); os.wait()", 0, "3 passed"),
    ],
    ids=["interrupt", "exit", "SystemExit", "fork"],
)
@pytest.mark.full
def test_ends_of_a_run(tmp_path: Path, last: str, code: int, says: str) -> None:
    (tmp_path / "test_it.py").write_text(
        WORK + f"import os, pytest\ndef test_a(): work(0.2)\ndef test_b():\n    {last}\ndef test_c(): pass\n"
    )
    said = run_pytest(tmp_path, "--profkit", RATE, code=code)
    assert says in said
    (run,) = listed(tmp_path, "--label", "test_it.py::test_a")
    assert run["samples"]
    assert code == 9 or "test_it.py::test_a" in said


@pytest.mark.full
def test_first_failures_and_last_ones(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text("def test_a(): pass\ndef test_b(): assert 0\ndef test_c(): pass\n")
    cached = ("-p", "no:asyncio")
    said = run_pytest(tmp_path, "--profkit", "-x", code=1, others=cached)
    assert "2 sampled tests" in said
    assert "1 sampled test" in run_pytest(tmp_path, "--profkit", "--lf", code=1, others=cached)


@pytest.mark.neighbours
@pytest.mark.full
def test_beside_timeout_and_coverage(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        WORK + "import pytest\ndef test_a(): work(0.2)\n@pytest.mark.timeout(0.3)\ndef test_b(): work(20)\n"
    )
    said = run_pytest(tmp_path, "--profkit", RATE, "--cov=.", code=1, others=("-p", "no:asyncio"))
    assert "Failed: Timeout" in said
    assert "2 sampled tests" in said
    assert re.search(r"test_it.py +\d+ +\d+ +\d+%", said)


@pytest.mark.full
def test_in_a_program_that_is_profiled(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(WORK + "def test_a(): work(0.3)\n")
    plugin = () if INSTALLED else ("-p", PLUGIN)
    argv = ["-m", "profkit", "run", "-q", "-r", "200", "-m", "pytest", *plugin, *OTHERS, "--profkit", RATE]
    done = run_program(tmp_path, argv, code=0)
    assert re.search(r"\d 00? %( ±\d+)? +100 %    work", done.stdout) or "work  test_it.py" in done.stdout
    assert "PytestAssertRewriteWarning" not in done.stdout


@pytest.mark.full
def test_an_interrupt_of_the_terminal_ends_workers(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        WORK + "from pathlib import Path\nimport pytest\n"
        "@pytest.mark.parametrize('n', range(2))\n"
        "def test_it(n):\n    Path(f'started-{n}').touch()\n    work(60)\n"
    )
    plugin = () if INSTALLED else ("-p", PLUGIN)
    command = [sys.executable, "-m", "pytest", *plugin, *OTHERS, "--profkit", "-n", "2"]
    with subprocess.Popen(command, cwd=tmp_path, env=environment(), start_new_session=True) as process:
        while len(list(tmp_path.glob("started-*"))) < 2:
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 2


@pytest.mark.full
def test_blocks_of_the_page(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "pytest.md").read_text("utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    for number, block in enumerate(blocks):
        (tmp_path / f"test_block_{number}.py").write_text(block, "utf-8")
    said = run_pytest(tmp_path, "--strict-markers")
    assert f"{sum(block.count('def test_') for block in blocks)} passed" in said
    assert "not measured" not in said
