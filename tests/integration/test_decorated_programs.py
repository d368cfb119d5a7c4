"""Programs with functions under a measuring mode: what is kept of them, however they go on and end."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from profkit.model.measurement import MeasuredRun, WarningCode
from profkit.model.notes import NoteCode
from profkit.store.measured import measured_files
from tests.integration.harness import environment, profkit, run_program
from tests.support.spool_folders import read_measured

HEAD = """
import asyncio, os, sys, threading, time
from profkit import profile
quick = profile(mode="timer", quick=True, min_run_time_s=0.02)
"""


def script(folder: Path, body: str, head: str = HEAD) -> Path:
    file = folder / "script.py"
    file.write_text(head + body)
    return file


def run(
    folder: Path, body: str, head: str = HEAD, *, code: int = 0, **variables: str
) -> subprocess.CompletedProcess[str]:
    file = script(folder, body, head)
    return run_program(folder, [str(file)], environ=environment(**variables), code=code)


def kept(folder: Path) -> dict[str, MeasuredRun]:
    runs = map(read_measured, measured_files(folder / ".profkit" / "spool"))
    return {run.info.label: run for run in runs}


ALL_KINDS = """
FACTOR = 3

@quick
def times(x):
    return FACTOR * x if x < 10 else times(x - 10)

@quick
async def wait(x):
    await asyncio.sleep(0)
    return x

class Owner:
    def __init__(self):
        self.size = 4
    @quick
    def method(self, x):
        return self.size * x

@quick
def locked(lock):
    time.sleep(0.01)

@quick
def fails():
    raise ValueError("mine")

print(times(2), times(12), asyncio.run(wait(5)), Owner().method(2))
locked(threading.Lock())
try:
    fails()
except ValueError as error:
    print(error)
"""


def test_a_script_measures_at_its_end(tmp_path: Path) -> None:
    done = run(tmp_path, ALL_KINDS)
    assert done.stdout.split() == ["6", "6", "5", "8", "mine"]
    runs = kept(tmp_path)
    assert set(runs) == {"times(2)", "times(12)", "wait(5)", "Owner.method(2)", "locked(lock)"}
    assert [run.info.error for run in runs.values()] == [None] * 5
    progress = [line for line in done.stderr.splitlines() if line.startswith("profkit: measuring")]
    assert progress[0] == "profkit: measuring 1 of 5: times(2) …"
    inside = runs["locked(lock)"]
    assert inside.measurement is not None
    assert inside.measurement.timing is not None
    assert inside.measurement.timing.measured_in.isolated is False
    assert inside.info.min_s is not None
    assert inside.info.min_s >= 0.01
    assert WarningCode.NOT_ISOLATED in {warning.code for warning in inside.info.warnings}
    assert runs["times(2)"].info.order.what == "__main__:times(2)"
    assert runs["times(2)"].info.order.file.endswith("script.py")
    report = profkit(tmp_path, "report", "times(2)")
    assert "times(2)" in report.stdout


def test_it_is_measured_while_the_program_goes_on(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        """
@quick
def f(x):
    return x
f(1)
os.makedirs(".profkit/spool", exist_ok=True)
from tests.support.waiting import until
until(lambda: any(name.endswith(".measured.json") for name in os.listdir(".profkit/spool")))
assert f.last_run is not None  # it waits until the run is no longer pending
print("kept")
""",
    )
    assert done.stdout == "kept\n"
    assert "measuring" not in done.stderr
    assert set(kept(tmp_path)) == {"f(1)"}


def test_asking_measures_now(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        """
@quick
def f(x):
    return sorted(x)
f([3, 1, 2])
print(f.last_run.info.label, f.last_run.info.median_s > 0, len(f.runs))
""",
    )
    assert done.stdout == "f(list[3]) True 1\n"


def test_children_measure_nothing(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        """
import multiprocessing, subprocess
@quick
def f(x):
    return x

@quick
def forks():
    pid = os.fork()
    if pid == 0:
        return 0
    os.waitpid(pid, 0)
    raise ValueError

def child():
    f(2)
    print(getattr(f, "runs", ()))

if __name__ == "__main__":
    f(1)
    pid = os.fork()
    if pid == 0:
        f(3)
        print(f.runs, flush=True)
        sys.exit(0)
    os.waitpid(pid, 0)
    try:
        if forks() == 0:
            sys.exit(0)
    except ValueError:
        pass
    for how in ("fork", "spawn"):
        process = multiprocessing.get_context(how).Process(target=child)
        process.start()
        process.join()
        assert process.exitcode == 0
""",
    )
    assert done.stdout == "()\n()\n()\n", done.stderr
    assert set(kept(tmp_path)) == {"f(1)"}


def test_a_call_made_while_the_end_measures_is_measured_too(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        """
measuring = threading.Event()

class Progress:
    def write(self, text):
        if "measuring 1 of" in text:
            measuring.set()
        return sys.__stderr__.write(text)
    def flush(self):
        sys.__stderr__.flush()

@profile(mode="timer", quick=True, min_run_time_s=1)
def f(x):
    return x

def late():
    measuring.wait()
    f(2)

sys.stderr = Progress()
f(1)
threading.Thread(target=late).start()
""",
    )
    assert done.returncode == 0
    assert set(kept(tmp_path)) == {"f(1)", "f(2)"}, done.stderr
    assert "profkit: measuring 2 of 2: f(2) …\n" in done.stderr


def test_a_call_made_after_the_end_has_measured_is_named(tmp_path: Path) -> None:
    """What is registered with `threading` last is called first: profkit has measured when `ended` is set."""
    done = run(
        tmp_path,
        """
@quick
def f(x):
    return x

def late():
    ended.wait()
    f(2)

f(1)
threading.Thread(target=late).start()
""",
        f"import threading\nended = threading.Event()\nthreading._register_atexit(ended.set)\n{HEAD}",
    )
    assert set(kept(tmp_path)) == {"f(1)"}
    assert done.stderr.endswith("profkit: not measured because the program has ended: f(2)\n")


def test_the_exit_code_stays(tmp_path: Path) -> None:
    run(tmp_path, "@quick\ndef f(): return 1\nf()\nsys.exit(7)\n", code=7)
    assert set(kept(tmp_path)) == {"f()"}


def test_a_closed_stderr(tmp_path: Path) -> None:
    run(tmp_path, "@quick\ndef f(): return 1\nf()\nsys.stderr.close()\n")
    assert set(kept(tmp_path)) == {"f()"}


def test_what_raises_there_is_kept_as_failed(tmp_path: Path) -> None:
    run(
        tmp_path,
        """
@quick
def f(where):
    if os.environ.get("PROFKIT_DISABLE"):
        raise RuntimeError("not here")
f(1)
""",
    )
    error = kept(tmp_path)["f(1)"].info.error
    assert error is not None
    assert "RuntimeError: not here" in error


def test_an_interrupt_at_the_end_drops_what_is_left(tmp_path: Path) -> None:
    file = script(
        tmp_path,
        """
slow = profile(mode="timer", quick=True, min_run_time_s=600)
@slow
def f(x): return x
f(1)
f(2)
""",
    )
    program = subprocess.Popen(
        [sys.executable, str(file)], cwd=tmp_path, env=environment(), text=True, stderr=subprocess.PIPE
    )
    assert program.stderr is not None
    assert program.stderr.readline().startswith("f will be run ")
    assert program.stderr.readline() == "profkit: measuring 1 of 2: f(1) …\n"
    program.send_signal(signal.SIGINT)
    said = program.communicate(timeout=60)[1]
    assert said == "profkit: not measured because the program was interrupted: f(1), f(2)\n"
    assert program.returncode == 0
    assert kept(tmp_path) == {}


def test_an_interrupted_program_is_interrupted(tmp_path: Path) -> None:
    done = run(tmp_path, "@quick\ndef f(): return 1\nf()\nraise KeyboardInterrupt\n", code=-signal.SIGINT)
    assert done.stderr.endswith("profkit: not measured because the program was interrupted: f()\n")
    assert done.stderr.count("not measured") == 1
    assert kept(tmp_path) == {}


HELD = """
import ctypes, mmap, socket, sqlite3, subprocess, tempfile

class Reader:
    def __init__(self, held):
        self.held = held

def numbers():
    yield 1

@quick
def take(thing):
    return thing

child = subprocess.Popen([sys.executable, "-c", ""])
child.wait()
with open("text", "w") as text, open("text", "rb") as data, tempfile.NamedTemporaryFile("w+") as temporary:
    for thing in (text, data, temporary, socket.socket(), sqlite3.connect("a.db"), threading.Lock(),
                  numbers(), asyncio.new_event_loop(), child, mmap.mmap(-1, 9), ctypes.CDLL(None).getpid):
        assert take(thing) is thing
    for thing in (open("text"), sqlite3.connect("a.db")):
        class Other(Reader):
            pass
        Other.__name__ = f"ReaderOf{type(thing).__name__}"
        take(Other([{"deep": thing}]))
print(len(take.runs))
"""


def test_what_cannot_be_copied_is_timed_in_the_program(tmp_path: Path) -> None:
    done = run(tmp_path, HELD)
    runs = kept(tmp_path).values()
    assert int(done.stdout) == len(runs) == 13
    for run_ in runs:
        assert run_.info.error is None
        assert run_.info.min_s is not None
        assert run_.info.min_s > 0
        assert WarningCode.NOT_ISOLATED in {warning.code for warning in run_.info.warnings}
        (note,) = run_.info.notes
        assert note.code is NoteCode.IN_PROCESS
        assert "cannot be sent to another process" in str(dict(note.figures)["detail"])


def test_the_exit_waits_no_longer_than_is_requested(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        """
@profile(mode="timer", min_run_time_s=600, max_signatures=100)
def work(n): return n
for n in range(100):
    work(n)
""",
        PROFKIT_EXIT_TIMEOUT="0.1",
    )
    (said,) = [line for line in done.stderr.splitlines() if "not measured" in line]
    assert said.startswith(
        "profkit: not measured within 0.1 s; read `runs` of the function earlier, or raise "
    )
    assert said.endswith(": work(0), work(1), work(2), work(3), work(4) and 95 more")
    assert kept(tmp_path) == {}


@pytest.mark.parametrize(
    "mode",
    [
        "timer",
        pytest.param("callgrind", marks=[pytest.mark.valgrind, pytest.mark.full]),
        pytest.param("timer+callgrind", marks=pytest.mark.valgrind),
    ],
)
@pytest.mark.slow
def test_runs_limits_what_a_file_sees(tmp_path: Path, mode: str) -> None:
    done = run(
        tmp_path,
        f"""
@profile(mode={mode!r}, runs=6)
def hit(path):
    with open(path, "a") as file:
        file.write("x")
hit({str(tmp_path / "hits")!r})
""",
    )
    assert "will be run" not in done.stderr
    ((_, run_),) = kept(tmp_path).items()
    assert run_.info.error is None
    assert 2 <= len((tmp_path / "hits").read_text()) <= 1 + 6


def test_a_limit_that_is_no_number(tmp_path: Path) -> None:
    done = run(tmp_path, "@quick\ndef f(): return 1\nf()\n", PROFKIT_EXIT_TIMEOUT="soon")
    assert (
        "profkit: PROFKIT_EXIT_TIMEOUT='soon' is not a number of seconds; waiting for 10 s\n" in done.stderr
    )


@pytest.mark.torch
@pytest.mark.slow
def test_tensors(tmp_path: Path) -> None:
    run(
        tmp_path,
        """
import torch
@quick
def f(model, x, *, out):
    return model(x[:4]).sum().backward()
big = torch.ones(10_000_000)
f(torch.nn.Linear(3, 2), torch.ones(8, 3), out=big[:3])
""",
    )
    ((label, run_),) = kept(tmp_path).items()
    assert label == "f(Linear, torch.float32[8,3]@cpu, out=torch.float32[3]@cpu)"
    assert run_.info.error is None
    assert run_.info.min_s is not None


def test_nobody_is_left(tmp_path: Path) -> None:
    file = script(tmp_path, "@quick\ndef f(): return 1\nf()\n")
    run_program(tmp_path, [str(file)], environ=environment(HOME=str(tmp_path)))
    assert set(kept(tmp_path)) == {"f()"}
    mine = f"HOME={tmp_path}".encode()
    for entry in Path("/proc").glob("[0-9]*/environ"):
        try:
            environ = entry.read_bytes().split(b"\0")
        except OSError:  # gone meanwhile, or not ours
            continue
        assert mine not in environ, entry
