"""`profkit run`: whole programs, profiled from outside and otherwise as they are."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from profkit.program.environment import HOOK
from tests.integration.harness import ROOT, await_samplers_end, environment, listed, profkit

pytestmark = pytest.mark.sampler

WORK = """
import time
def burn(seconds):
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        sum(number * number for number in range(500))
"""
SIGHT = """
import json, os, pickle, sys, threading
class Point:
    pass
def seen():
    names = ("__name__", "__file__", "__package__", "__builtins__", "__doc__")
    hidden = {"profkit", "psutil", "wrapt"}
    return {
        "argv": sys.argv, "orig_argv": sys.orig_argv[1:], "path": sys.path, "flags": str(sys.flags),
        "main": {name: str(globals().get(name, "none")) for name in names},
        "spec": str(__spec__ and __spec__.name), "module": Point.__module__,
        "pickled": type(pickle.loads(pickle.dumps(Point()))) is Point,
        "environment": {name: value for name, value in os.environ.items() if name != "_"},
        "threads": len(threading.enumerate()), "files": sorted(os.listdir("/proc/self/fd"), key=int)[:-1],
        "cwd": os.getcwd(), "stdin": sys.stdin.read(),
        "customized": sys.customized, "customizing": sys.modules["sitecustomize"].__file__,
        "hooks": [str(sys.excepthook), str(threading.excepthook), str(sys.gettrace()), str(sys.getprofile())],
        "session": os.getsid(0), "group": os.getpgrp() == os.getsid(0) or "another",
        "mask": sorted(map(int, __import__("signal").pthread_sigmask(0, []))),
        "actions": {n: str(__import__("signal").getsignal(n)) for n in range(1, 32)},
    }
if __name__ == "__main__":
    print(json.dumps(seen()))
"""


def in_full(*values: object) -> list[ParameterSet]:
    """Parameters that are part of the full tests only."""
    return [pytest.param(value, marks=pytest.mark.full) for value in values]


def run(
    folder: Path, *arguments: str, options: Sequence[str] = (), stdin: str = "", **variables: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "profkit", "run", *options, *arguments],
        cwd=folder, env=environment(**variables), input=stdin,
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


@pytest.fixture
def app(tmp_path: Path) -> Path:
    (tmp_path / "work.py").write_text(WORK)
    (tmp_path / "app.py").write_text("import sys\nfrom work import burn\nburn(0.6)\nsys.exit(3)\n")
    return tmp_path


@pytest.mark.parametrize("kind", ["script", "stdin", *in_full("module", "code", "command")])
def test_a_program_sees_what_it_sees_without(tmp_path: Path, kind: str) -> None:
    (tmp_path / "sight.py").write_text(SIGHT)
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.customized = True\n")
    target, stdin = {
        "script": (["./sight.py", "-a", "b c"], "text"),
        "module": (["-m", "sight", "-m", "x"], "text"),
        "code": (["-c", SIGHT, "--", "-q"], "text"),
        "stdin": (["-", "one"], SIGHT),
        "command": (["sight.py", "--help"], "text"),
    }[kind]
    both = []
    for profiled in (False, True):
        before = [sys.executable]
        if profiled:
            before = [sys.executable, "-m", "profkit", "run", "--quiet"]
            before += ["--", sys.executable] if kind == "command" else []
        done = subprocess.run(
            [*before, *target],
            cwd=tmp_path, env=environment(PYTHONPATH=f"{ROOT}:{tmp_path}"), input=stdin,
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        both.append((json.loads(done.stdout), done.stderr))
    assert both[0] == both[1]


def test_the_report_names_what_takes_the_time_and_the_run_is_kept(app: Path) -> None:
    done = run(app, "app.py")
    assert done.returncode == 3, done.stderr
    assert done.stdout == ""
    assert "burn" in "\n".join(done.stderr.splitlines()[:10])
    assert "program  app.py" in done.stderr
    (kept,) = listed(app)
    assert (kept["label"], kept["calls"]) == ("app.py", 1)
    assert "burn" in profkit(app, "report", "app.py").stdout
    await_samplers_end(app)


@pytest.mark.parametrize(
    "name", ["out.html", "out.pb.gz", *in_full("out.json", "out.md", "out.txt", "out.profkit.json")]
)
def test_the_report_is_written_to_a_file_in_any_format(app: Path, name: str) -> None:
    done = run(app, "app.py", options=["-o", name])
    assert (done.returncode, done.stdout) == (3, "")
    headline, last = done.stderr.splitlines()
    assert "burn" in headline
    assert last == f"wrote {name}"
    assert (app / name).stat().st_size > 200


@pytest.mark.parametrize("options", [[], ["-o", "out.html"]], ids=str)
def test_a_script_that_does_not_exist_is_an_error_of_python(tmp_path: Path, options: list[str]) -> None:
    plain = subprocess.run(
        [sys.executable, "nosuch.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    done = run(tmp_path, "nosuch.py", options=options)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", plain.stderr)
    assert not list(tmp_path.iterdir()), "no run is kept"


def test_a_program_that_ends_by_itself_ended_early(app: Path) -> None:
    code = "import os\nfrom work import burn\nburn(1.5)\nos._exit(5)\n"
    done = run(app, "-c", code)
    assert done.returncode == 5
    assert "ended early" in done.stderr
    (kept,) = listed(app)
    assert (kept["state"], kept["calls"]) == ("ENDED_EARLY", 0)
    assert "ended early" in profkit(app, "list").stdout


@pytest.mark.parametrize("code", ["7", "'words'", *in_full("0", "None")])
def test_exit_codes(tmp_path: Path, code: str) -> None:
    target = ["-c", f"raise SystemExit({code})"]
    plain = subprocess.run([sys.executable, *target], capture_output=True, text=True, check=False)
    done = run(tmp_path, *target, options=["-q"])
    assert (done.returncode, done.stderr) == (plain.returncode, plain.stderr)


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, signal.SIGKILL, *in_full(signal.SIGSEGV, signal.SIGINT, 40)]
)
def test_a_program_that_dies_of_a_signal(app: Path, number: int) -> None:
    code = f"import os\nfrom work import burn\nburn(1.5)\nos.kill(os.getpid(), {int(number)})\n"
    done = run(app, "-c", code)
    assert done.returncode == -number
    assert "burn" in done.stderr


POOLS = """
import multiprocessing, pickle, sys
from concurrent.futures import ProcessPoolExecutor
class Point:
    def __init__(self, x):
        self.x = x
def double(point):
    return Point(point.x * 2)
if __name__ == "__main__":
    for method in ("spawn", "fork", "forkserver"):
        with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method)) as pool:
            print(method, [point.x for point in pool.map(double, map(Point, range(3)))])
"""


def test_objects_of_main_go_to_worker_processes(tmp_path: Path) -> None:
    (tmp_path / "pools.py").write_text(POOLS)
    done = run(tmp_path, "pools.py", options=["-q"])
    assert done.returncode == 0, done.stderr
    assert done.stdout == "".join(f"{how} [0, 2, 4]\n" for how in ("spawn", "fork", "forkserver"))
    assert len(listed(tmp_path)) == 1


def test_child_processes_are_sampled_on_request(app: Path) -> None:
    code = (
        "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'from work import burn; burn(1.5)'])\n"
    )
    done = run(app, "-c", code, options=["--subprocesses"])
    assert done.returncode == 0
    assert "burn" in done.stderr


def test_a_command_that_starts_several_pythons(app: Path) -> None:
    command = f"{sys.executable} -c 'from work import burn; burn(0.3)'; {sys.executable} app.py"
    done = run(app, "--", "sh", "-c", command)
    assert done.returncode == 3, done.stderr
    assert "program  app.py" in done.stderr
    assert "also profiled: -c (run " in done.stderr


@pytest.mark.parametrize("command", [["true"], [sys.executable, "-I", "-c", "pass"]])
def test_a_command_that_cannot_be_profiled(tmp_path: Path, command: list[str]) -> None:
    done = run(tmp_path, "--", *command)
    assert done.returncode == 0
    assert "the program was not profiled" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--", "no-such-command"], 127, "'no-such-command' cannot be started: No such file or directory"),
        (["--", "/etc/passwd"], 127, "Permission denied"),
        ([], 2, "there is no program to run"),
        (["-m"], 2, "-m needs an argument"),
        (["--rate", "-1", "app.py"], 2, "rate"),
        (["--sampler", "nope", "app.py"], 2, "nope"),
        (["-o", "missing/out.html", "app.py"], 2, "there is no folder missing"),
        (["-o", "out.xyz", "app.py"], 2, "--format"),
        (["--format", "html", "app.py"], 2, "needs a file"),
        (["--wrong", "app.py"], 2, "--wrong"),
    ],
)
def test_what_is_wrong_is_said_before_anything_runs(
    app: Path, arguments: list[str], code: int, said: str
) -> None:
    done = run(app, *arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_regions_inside_share_the_session_silently(app: Path) -> None:
    code = (
        "from profkit import profile, profiled\nfrom work import burn\n"
        "@profile(label='inner')\ndef inner():\n    burn(0.4)\ninner()\n"
        "with profiled('block'):\n    burn(0.4)\n"
    )
    (app / "regions.py").write_text(code)
    done = run(app, "regions.py", options=["-q"])
    assert (done.returncode, done.stderr) == (0, "")
    runs = {one["label"]: one for one in listed(app)}
    assert set(runs) == {"regions.py", "inner", "block"}
    assert len({json.dumps(one["session"]) for one in runs.values()}) == 1


def test_threads_are_sampled(app: Path) -> None:
    code = (
        "import threading\nfrom work import burn\n"
        "thread = threading.Thread(target=burn, args=(0.8,))\nthread.start()\nthread.join()\n"
    )
    done = run(app, "-c", code)
    assert "burn" in "\n".join(done.stderr.splitlines()[:10])


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"PROFKIT_RUN": "{nonsense"}, "PROFKIT_RUN has no valid options"),
        ({"PROFKIT_RUN": '{"rate": -1}'}, "rate=-1"),
        ({"PROFKIT_RUN": "1", "PROFKIT_SPOOL": "/proc/nowhere"}, "/proc/nowhere"),
        ({"PROFKIT_RUN": "0"}, ""),
    ],
)
def test_a_program_runs_even_if_it_cannot_be_profiled(
    tmp_path: Path, variables: dict[str, str], said: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import sys; print(sys.path[1:], 'sitecustomize' in sys.modules)"],
        cwd=tmp_path, env=environment(PYTHONPATH=f"{HOOK}:{ROOT}", **variables),
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    plain = subprocess.run(
        [sys.executable, "-c", "import sys; print(sys.path[1:], 'sitecustomize' in sys.modules)"],
        cwd=tmp_path, env=environment(), capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, plain.stdout)
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == bool(said)


def test_a_parent_that_ignores_its_children(app: Path) -> None:
    code = (
        "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); "
        "os.execv(sys.argv[1], sys.argv[1:])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, sys.executable, "-m", "profkit", "run", "-q", "app.py"],
        cwd=app, env=environment(), capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (3, "")


def test_a_switch_in_the_environment(app: Path) -> None:
    exports = profkit(app, "run", "--print-environment", "--label", "by switch").stdout
    done = subprocess.run(
        ["sh", "-c", f"{exports}\nexec {sys.executable} app.py"],
        cwd=app, env=environment(), capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (3, "")
    assert "burn" in profkit(app, "report", "by switch").stdout
