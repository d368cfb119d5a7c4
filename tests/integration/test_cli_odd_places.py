"""Commands as processes in odd places: strange folders, modules that shadow, no memory, closed streams."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from profkit.cli.main import COMMANDS
from profkit.config import read_config
from tests.integration.harness import environment
from tests.support.cli_runs import keep
from tests.support.example_runs import labelled, made_run
from tests.support.waiting import until

PYTHON = [sys.executable, "-m", "profkit"]
SCRIPT = [str(Path(sys.executable).with_name("profkit"))]
PROGRAM = """
import profkit, time
@profkit.profile()
def work():
    end = time.thread_time() + 0.4
    while time.thread_time() < end: sum(range(1000))
work()
"""
EACH = (
    ["list"], ["list", "--json"], ["report"], ["report", "--json"], ["report", "--html"],
    ["history", "train_step"],
    ["export", "--format", "profkit", "-o", "x.profkit.json"], ["import", "x.profkit.json"],
    ["export", "--format", "speedscope", "--scrub"], ["compare", "train_step", "x.profkit.json"],
    ["gate", "train_step", "--baseline", "x.profkit.json"], ["gc", "--dry-run"],
    ["measure", "1 + 1", "--quick", "--runs", "10"], ["measure", "os:getcwd", "--quick", "--runs", "10"],
    ["run", "-q", "-c", "pass"], ["rm", "train_step"], ["config"], ["doctor"],
    ["push"], ["store", "init"],
)  # fmt: skip
"""A call of every command."""


def run(
    folder: str | Path, arguments: list[str], start: list[str] | None = None, **more: object
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # type: ignore[call-overload, no-any-return]
        [*(start or PYTHON), *arguments], cwd=folder, env=more.pop("env", environment()), capture_output=True,
        text=True, errors="surrogateescape", timeout=120, check=False, **more,
    )  # fmt: skip


def test_each_command_is_called() -> None:
    # Those that sample another process need one.
    assert {arguments[0] for arguments in EACH} == set(COMMANDS) - {"attach", "dump", "top"}


NOT_UTF_8, WITH_CONTROLS = b"b\xff\xfed", "é\n\x1b[31m?b=c&d%20e".encode()


@pytest.mark.parametrize(
    "name",
    [
        NOT_UTF_8 + WITH_CONTROLS,
        *(pytest.param(name, marks=pytest.mark.full) for name in (NOT_UTF_8, WITH_CONTROLS)),
    ],
)
@pytest.mark.slow
def test_a_folder_with_any_name(tmp_path: Path, name: bytes) -> None:
    folder = os.fsdecode(os.path.join(os.fsencode(tmp_path), name))
    os.mkdir(folder)
    keep(read_config({}, Path(folder)), made_run())
    for arguments in EACH:
        done = run(folder, arguments)
        # py-spy cannot write to a folder whose name is not UTF-8.
        codes = (0, 3) if arguments == ["doctor"] else (0, 2, 4, 5)
        assert done.returncode in codes, (arguments, done.stderr)
        assert "Traceback" not in done.stderr, (arguments, done.stderr)
        assert "is a defect of profkit" not in done.stderr, (arguments, done.stderr)
    assert run(folder, ["list"]).returncode == 0
    assert sorted(os.listdir(os.path.join(folder, ".profkit"))) == [".gitignore", "runs.db", "spool"]


@pytest.mark.full
def test_a_folder_that_is_gone(tmp_path: Path) -> None:
    keep(read_config({}, tmp_path), made_run())
    env = environment(PROFKIT_STORE=f"sqlite:///{tmp_path}/.profkit/runs.db")
    for arguments in EACH:
        gone = tmp_path / "gone"
        gone.mkdir()
        words = " ".join(f"'{word}'" for word in [*PYTHON, *arguments])
        done = subprocess.run(
            ["/bin/sh", "-c", f"rmdir '{gone}'; exec {words}"],
            cwd=gone, env=env, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode in (0, 2, 4, 6, 7), (arguments, done.stderr)
        assert "Traceback" not in done.stderr, (arguments, done.stderr)
        assert "is a defect of profkit" not in done.stderr, (arguments, done.stderr)


SHADOWS = ("rich", "click", "psycopg", "statistics", "wrapt", "psutil", "cloudpickle", "json", "hmac")


@pytest.mark.full
@pytest.mark.parametrize("start", [pytest.param(PYTHON, id="module"), pytest.param(SCRIPT, id="script")])
def test_modules_of_the_user_run_in_workers_alone(tmp_path: Path, start: list[str]) -> None:
    keep(read_config({}, tmp_path), made_run())
    for name in (*SHADOWS, *(["profkit"] if start is SCRIPT else [])):
        (tmp_path / f"{name}.py").write_text(
            f"import os; open('{name}.ran', 'a').write(f'{{os.getpid()}}\\n')\ndef work(): return 1\n"
        )
    for arguments in (*EACH[:12], ["measure", "1 + 1", "--quick"], ["compare", "--ab", "1", "2", "--quick"]):
        done = run(tmp_path, arguments, start)
        assert "Traceback" not in done.stderr, (arguments, done.stderr)
        assert sorted(path.name for path in tmp_path.glob("*.ran")) == [], arguments
    done = run(tmp_path, ["measure", "statistics:work", "--quick", "--json"], start)
    assert done.returncode == 0, done.stderr
    (order,) = json.loads(done.stdout)["orders"]
    assert (order["label"], order["what"]) == ("statistics:work", "statistics:work()")
    ran_in = {path.name: path.read_text().split() for path in tmp_path.glob("*.ran")}
    assert "statistics.ran" in ran_in
    assert not any(str(order["process"]["pid"]) in pids for pids in ran_in.values())


def test_a_file_of_orders_runs_in_a_process_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("def work(n=1): return n\n")
    (tmp_path / "orders.py").write_text(
        "import os, threading, helper, profkit\n"
        "print('said by', os.getpid())\n"
        "def own(): return helper.work()\n"
        "ORDERS = [profkit.work_order('helper.work()', setup='import helper', quick=True),\n"
        "          profkit.work_order(own, quick=True),\n"
        "          profkit.work_order(helper.work, args=(2,), quick=True),\n"
        "          profkit.work_order(len, args=(threading.Lock(),), label='stuck', quick=True)]\n"
    )
    done = run(tmp_path, ["measure", "orders.py", "--json"])
    assert done.returncode == 3, done.stderr
    orders = json.loads(done.stdout)["orders"]
    assert [order["what"] for order in orders[:3]] == [
        "helper.work()", "<run_path>:own()", "helper:work(2)"
    ]  # fmt: skip
    assert [order["min_s"] is None for order in orders] == [False, False, False, True]
    assert "cannot be sent to another process" in orders[3]["error"]
    (pid,) = [line.split()[-1] for line in done.stderr.splitlines() if line.startswith("said by")]
    assert pid != str(orders[0]["process"]["pid"])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("raise SystemExit(3)", "ended with status 3"),
        ("import os; os._exit(0)", "ended before it defined orders"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "ended with status -9"),
        ("def f(:", "raised SyntaxError"),
        ("import no_such_module", "raised ModuleNotFoundError"),
    ],
)
def test_a_file_of_orders_that_ends_its_process(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "orders.py").write_text(text)
    done = run(tmp_path, ["measure", "orders.py"])
    assert done.returncode == 2
    assert words in done.stderr.splitlines()[-1]


@pytest.mark.parametrize("step", [50, pytest.param(10, marks=pytest.mark.full)])
@pytest.mark.slow
def test_no_memory_is_one_line(tmp_path: Path, step: int) -> None:
    keep(read_config({}, tmp_path), *(labelled(f"{n:010x}", "x" * 50_000, n) for n in range(400)))
    codes = set()
    for megabytes in (*range(80, 200, step), 400):

        def limit(size: int = megabytes << 20) -> None:
            resource.setrlimit(resource.RLIMIT_AS, (size, size))

        done = run(tmp_path, ["list", "--json"], preexec_fn=limit)
        if "profkit.cli" not in done.stderr and "ImportError" in done.stderr + done.stdout:
            continue
        codes.add(done.returncode)
        if done.returncode == 70:
            assert "Traceback" not in done.stderr, (megabytes, done.stderr)
            assert len(done.stderr.splitlines()) == 1, (megabytes, done.stderr)
    assert 0 in codes


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", ">&- 2>&- <&-"])
def test_closed_streams(tmp_path: Path, closed: str) -> None:
    keep(read_config({}, tmp_path), made_run())
    for arguments in ("list", "report --json", "report -o x.html", "list --label none"):
        words = f"{' '.join(PYTHON)} {arguments} {closed}"
        done = run(tmp_path, ["-c", words], ["/bin/sh"])
        assert done.returncode in (0, 2, 6), (arguments, done.stderr)
        assert "Traceback" not in done.stderr, (arguments, done.stderr)


def test_an_interrupt_ends_a_command_with_130(tmp_path: Path) -> None:
    (tmp_path / "orders.py").write_text("import time\nopen('reading', 'w').close()\ntime.sleep(600)\n")
    process = subprocess.Popen(
        [*PYTHON, "measure", "orders.py"], cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, text=True
    )
    until((tmp_path / "reading").exists)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert "Traceback" not in said


def modes(folder: Path) -> dict[str, int]:
    return {
        str(path.relative_to(folder)): path.stat().st_mode & 0o777
        for path in folder.rglob("*")
        if path.name != "program.py"
    }


@pytest.mark.sampler
@pytest.mark.slow
def test_what_is_written_is_for_its_owner_alone(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    env = environment(PROFKIT_FILES="")
    before = os.umask(0o022)
    try:
        assert run(tmp_path, ["program.py"], [sys.executable], env=env).returncode == 0
        for arguments in (
            ["list"], ["report", "--html"], ["report", "-o", "r.txt"], ["export", "-o", "x.profkit.json"],
            ["export", "-o", "x.speedscope.json"],
        ):  # fmt: skip
            assert run(tmp_path, arguments, env=env).returncode == 0
    finally:
        os.umask(before)
    found = modes(tmp_path)
    assert {name: oct(mode) for name, mode in found.items() if mode & 0o077} == {}
    assert {"r.txt", "x.profkit.json", ".profkit/runs.db", ".profkit/spool"} <= set(found)


@pytest.mark.sampler
@pytest.mark.slow
def test_source_is_shown_of_own_runs_and_of_no_foreign_spool(tmp_path: Path) -> None:
    """The same spool read by a user with another key, as one that came in an archive, shows no line."""
    (tmp_path / "program.py").write_text(PROGRAM)
    os.utime(tmp_path / "program.py", (1, 1))
    mine, other = (
        environment(XDG_STATE_HOME=str(tmp_path / "a")),
        environment(XDG_STATE_HOME=str(tmp_path / "b")),
    )
    assert run(tmp_path, ["program.py"], [sys.executable], env=mine).returncode == 0
    assert "sum(range(1000))" in run(tmp_path, ["report", "--html", "-o", "-"], env=mine).stdout
    for form in (["--html", "-o", "-"], ["--json"], []):
        assert "sum(range(1000))" not in run(tmp_path, ["report", *form], env=other).stdout
        rooted = run(tmp_path, ["report", *form, "--source-root", "."], env=other).stdout
        assert "sum(range(1000))" in rooted
    run(tmp_path, ["export", "-o", "x.profkit.json"], env=mine)
    moved = environment(XDG_STATE_HOME=str(tmp_path / "a"), PROFKIT_STORE=f"sqlite:///{tmp_path}/second.db")
    assert run(tmp_path, ["import", "x.profkit.json"], env=moved).returncode == 0
    assert "sum(range(1000))" not in run(tmp_path, ["report", "--html", "-o", "-"], env=moved).stdout


@pytest.mark.sampler
def test_secrets_of_the_command_line_and_of_variables_are_nowhere(tmp_path: Path) -> None:
    program = PROGRAM.replace("profile()", "profile(recorded_env_variables=['MY_TOKEN', 'MY_N'])")
    (tmp_path / "program.py").write_text(program)
    env = environment(MY_TOKEN="hunter2", MY_N="17")
    arguments = ["program.py", "--password=hunter2", "--api-key", "hunter2", "postgres://u:hunter2@h/d"]
    assert run(tmp_path, arguments, [sys.executable], env=env).returncode == 0
    for path in tmp_path.rglob("*"):
        if path.is_file() and path.name != "program.py":
            assert b"hunter2" not in path.read_bytes(), path
    document = json.loads(run(tmp_path, ["report", "--json"], env=env).stdout)
    assert document["run"]["env"] == {"MY_TOKEN": "***", "MY_N": "17"}
    assert document["run"]["process"]["argv"][-4:] == [
        "--password=***", "--api-key", "***", "postgres://u:***@h/d",
    ]  # fmt: skip
    assert b"hunter2" not in (tmp_path / ".profkit" / "runs.db").read_bytes()


def test_a_store_that_others_can_read_is_named(tmp_path: Path) -> None:
    keep(read_config({}, tmp_path), made_run())
    database = tmp_path / ".profkit" / "runs.db"
    assert run(tmp_path, ["list"]).stderr == ""
    database.chmod(0o644)
    assert run(tmp_path, ["list"]).stderr == ""  # nobody else gets into its folder
    database.parent.chmod(0o755)
    done = run(tmp_path, ["list"])
    assert (done.returncode, len(done.stderr.splitlines())) == (0, 1)
    assert f"other users can read the store {database}; `chmod 600` it" in done.stderr
    assert run(tmp_path, ["list"], env=environment(PROFKIT_FILES="umask")).stderr == ""
