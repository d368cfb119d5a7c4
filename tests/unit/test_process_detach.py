"""Programs that are no children of ours: each test starts real ones."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from profkit.clock import SYSTEM_CLOCK
from profkit.process import detach, procfs
from profkit.process.detach import start_detached
from profkit.process.watch import Watched, watch

SLEEPER = "import sys, time; print('started', flush=True); time.sleep(600)"


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[str], Watched]]:
    """Starts Python texts, each under a mark of its own, and ends them afterwards."""
    numbers = itertools.count()
    started: list[Watched] = []

    def start_text(text: str) -> Watched:
        mark = str(tmp_path / f"mark{next(numbers)}")
        argv = (sys.executable, "-I", "-S", "-c", text, mark)
        pid = start_detached(argv, mark, tmp_path / "log", SYSTEM_CLOCK, 30)
        assert pid is not None
        assert procfs.command_line(pid) == tuple(os.fsencode(word) for word in argv)
        process = watch(pid)
        assert process is not None
        started.append(process)
        return process

    yield start_text
    for process in started:
        process.signal(signal.SIGKILL)
        process.wait(30)
        process.close()


def wait_for(condition: Callable[[], bool]) -> None:
    deadline_s = SYSTEM_CLOCK.monotonic_s() + 30
    while not condition():
        assert SYSTEM_CLOCK.monotonic_s() < deadline_s
        SYSTEM_CLOCK.sleep(0.005)


def test_it_is_no_child_and_leads_its_session(start: Callable[[str], Watched], tmp_path: Path):
    process = start(SLEEPER)
    with pytest.raises(ChildProcessError):
        os.waitpid(process.pid, os.WNOHANG)
    assert os.getsid(process.pid) == process.pid
    assert procfs.status(process.pid)["PPid"] != str(os.getpid())
    wait_for(lambda: "started" in (tmp_path / "log").read_text())


def test_the_program_has_no_child_at_all(tmp_path: Path):
    program = f"""
import os, signal, sys
from pathlib import Path
from profkit.clock import SYSTEM_CLOCK
from profkit.process.detach import start_detached
mark = {str(tmp_path / "mark")!r}
pid = start_detached((sys.executable, "-c", {SLEEPER!r}, mark), mark, Path(mark + ".log"), SYSTEM_CLOCK, 30)
try:
    os.wait()
except ChildProcessError:
    print("no child")
os.kill(pid, signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout == "no child\n", done.stderr


def test_many_at_once_are_told_apart(start: Callable[[str], Watched]):
    assert len({start(SLEEPER).pid for _ in range(8)}) == 8


@pytest.mark.parametrize("setsid", [None, "#!/bin/sh\necho 'unrecognized option: fork'; exit 1\n"])
def test_without_a_setsid_that_forks(
    start: Callable[[str], Watched], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setsid: str | None
):
    folder = tmp_path / "bin"
    folder.mkdir()
    if setsid is not None:
        (folder / "setsid").write_text(setsid)
        (folder / "setsid").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    process = start(SLEEPER)
    assert os.getsid(process.pid) == process.pid
    wait_for(lambda: "started" in (tmp_path / "log").read_text())


def test_no_launcher_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", "")
    with pytest.raises(FileNotFoundError, match="setsid --fork"):
        start_detached(("/bin/sleep", "600"), "600", tmp_path / "log", SYSTEM_CLOCK, 30)


def test_a_script_runs_under_its_interpreter(tmp_path: Path):
    script = tmp_path / "script"
    script.write_text(f"#!{sys.executable}\n{SLEEPER}\n")
    script.chmod(0o755)
    mark = str(tmp_path / "mark")
    pid = start_detached((str(script), mark), mark, tmp_path / "log", SYSTEM_CLOCK, 30)
    assert pid is not None
    assert procfs.command_line(pid)[-2:] == (os.fsencode(script), os.fsencode(mark))
    os.kill(pid, signal.SIGKILL)


def test_a_program_that_cannot_run_leaves_its_reason(tmp_path: Path):
    mark = str(tmp_path / "mark")
    assert start_detached((str(tmp_path / "no"), mark), mark, tmp_path / "log", SYSTEM_CLOCK, 30) is None
    assert "No such file" in (tmp_path / "log").read_text()


def test_an_interrupt_leaves_nothing_running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(detach, "_find", interrupted)
    mark = str(tmp_path / "mark")
    argv = (sys.executable, "-I", "-S", "-c", SLEEPER, mark)
    with pytest.raises(KeyboardInterrupt):
        start_detached(argv, mark, tmp_path / "log", SYSTEM_CLOCK, 30)
    wait_for(lambda: not list(detach._marked(os.fsencode(mark))))


def test_pids_wrap_around():
    largest = int(Path("/proc/sys/kernel/pid_max").read_text())
    after = list(itertools.islice(detach._pids_after(largest - 3), 5))
    assert after == [largest - 2, largest - 1, 300, 301, 302]


def test_a_process_far_from_its_launcher_is_found(start: Callable[[str], Watched], tmp_path: Path):
    process = start(SLEEPER)
    far = (process.pid + 10_000) % 30_000 + 300
    assert detach._find(far, os.fsencode(tmp_path / "mark0"), SYSTEM_CLOCK) == process.pid
