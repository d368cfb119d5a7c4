"""Programs that are no children of ours, and processes that are watched: each test starts real ones."""

from __future__ import annotations

import contextlib
import itertools
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from profkit.clock import SYSTEM_CLOCK
from profkit.process import detached, procfs
from profkit.process.detached import Detached, Watched, start_detached, watch
from tests.support.waiting import until

PYTHON = sys.executable
SLEEPER = "import sys, time; print('started', flush=True); time.sleep(600)"
SLEEPING = (PYTHON, "-I", "-S", "-c", SLEEPER)


def begin(folder: Path, *argv: str, log: Path | None = None) -> Detached:
    """Start a program with a mark in a folder, and by default with its log there."""
    mark = str(folder / "mark")
    begun = start_detached((*argv, mark), mark, log or folder / "log", SYSTEM_CLOCK, 30)
    assert begun is not None
    return begun


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[str], Watched]]:
    """Starts Python texts, each under a mark of its own, and ends them afterwards."""
    numbers = itertools.count()
    started: list[Watched] = []

    def start_text(text: str) -> Watched:
        number = next(numbers)
        mark = str(tmp_path / f"mark{number}")
        argv = (PYTHON, "-I", "-S", "-c", text, mark)
        # A report may come late, after /proc was searched: it must not be in the log of another start.
        log = tmp_path / (f"log{number}" if started else "log")
        begun = start_detached(argv, mark, log, SYSTEM_CLOCK, 30)
        assert begun is not None
        assert procfs.command_line(begun.pid) == tuple(os.fsencode(word) for word in argv)
        process = watch(begun.pid)
        assert process is not None
        started.append(process)
        return process

    yield start_text
    for process in started:
        process.signal(signal.SIGKILL)
        process.wait(30)
        process.close()


def test_it_is_no_child_and_leads_its_session(start: Callable[[str], Watched], tmp_path: Path):
    process = start(SLEEPER)
    with pytest.raises(ChildProcessError):
        os.waitpid(process.pid, os.WNOHANG)
    assert os.getsid(process.pid) == process.pid
    assert procfs.status(process.pid)["PPid"] != str(os.getpid())
    until(lambda: "started" in (tmp_path / "log").read_text())


def test_the_program_has_no_child_at_all(tmp_path: Path):
    program = f"""
import os, signal, sys
from pathlib import Path
from profkit.clock import SYSTEM_CLOCK
from profkit.process.detached import start_detached
mark = {str(tmp_path / "mark")!r}
begun = start_detached((sys.executable, "-c", {SLEEPER!r}, mark), mark, Path(mark + ".log"), SYSTEM_CLOCK, 30)
try:
    os.wait()
except ChildProcessError:
    print("no child")
os.kill(begun.pid, signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout == "no child\n", done.stderr


def test_many_at_once_are_distinguished(start: Callable[[str], Watched]):
    assert len({start(SLEEPER).pid for _ in range(8)}) == 8


@pytest.mark.parametrize("kind", ["embedded", "missing", "failing"])
def test_without_an_interpreter_that_works(
    kind: str, start: Callable[[str], Watched], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    if kind == "embedded":
        monkeypatch.setattr(sys, "frozen", True, raising=False)
    else:
        monkeypatch.setattr(sys, "executable", str(tmp_path / "python3"))
    if kind == "failing":
        (tmp_path / "python3").symlink_to("/bin/false")
    process = start(SLEEPER)
    assert os.getsid(process.pid) == process.pid
    assert b"setsid" not in b"".join(procfs.command_line(procfs.parent(process.pid) or 0))
    until(lambda: (tmp_path / "log").read_text().endswith("started\n"))
    assert kind != "embedded" or (tmp_path / "log").read_text() == "started\n"


def test_its_files_are_for_its_user_alone(start: Callable[[str], Watched], tmp_path: Path):
    before = os.umask(0)
    try:
        start(f"open({str(tmp_path / 'made')!r}, 'w'); {SLEEPER}")
    finally:
        assert os.umask(before) == 0
    until((tmp_path / "made").exists)
    assert (tmp_path / "made").stat().st_mode & 0o777 == 0o600


def test_without_a_setsid_the_watchdog_does_its_work(
    start: Callable[[str], Watched], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "setsid").write_text("#!/bin/sh\necho 'unrecognized option: fork'; exit 1\n")
    (tmp_path / "setsid").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    process = start(SLEEPER)
    assert procfs.status(process.pid)["PPid"] != str(os.getpid())
    assert "profkit-watchdog: started" in (tmp_path / "log").read_text()


def test_where_the_log_takes_no_report(tmp_path: Path):
    begun = begin(tmp_path, *SLEEPING, log=Path("/dev/null"))
    argv = (*SLEEPING, str(tmp_path / "mark"))
    assert procfs.command_line(begun.pid) == tuple(map(os.fsencode, argv))
    assert begun.watchdog_pid == procfs.parent(begun.pid)
    os.kill(begun.pid, signal.SIGKILL)


def test_a_program_that_names_itself_as_interpreter_is_not_started_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sys, "executable", "/usr/bin/server")
    assert [launcher[1:] for launcher in detached._launchers()] == [("--fork",)]


SLOW_TO_BECOME = """#!{python}
import os, sys
reading, writing = os.pipe()
if os.fork():
    os.close(writing)
    os.read(reading, 1)
    os._exit(0)
os.setsid()
os.environ["ARGV"] = chr(31).join(sys.argv[2:])
text = "import os, time; time.sleep(0.1); argv = os.environ['ARGV'].split(chr(31)); os.execv(argv[0], argv)"
os.execv(sys.executable, [sys.executable, "-c", text])
"""
"""A setsid whose child shows no arguments of the program for a while, as one in the middle of exec."""


def test_a_program_in_the_middle_of_exec_is_waited_for(
    start: Callable[[str], Watched], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "setsid").write_text(SLOW_TO_BECOME.format(python=sys.executable))
    (tmp_path / "setsid").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    start(SLEEPER)


def test_a_thread_is_not_taken_for_its_program(start: Callable[[str], Watched], tmp_path: Path):
    process = start(
        f"import threading, time; threading.Thread(target=time.sleep, args=(600,)).start(); {SLEEPER}"
    )
    until(lambda: len(os.listdir(f"/proc/{process.pid}/task")) > 1)
    mark = os.fsencode(tmp_path / "mark0")
    threads = sorted(int(name) for name in os.listdir(f"/proc/{process.pid}/task"))
    assert detached._program_among(threads[1:], mark) is None
    assert detached._program_among(threads, mark) == process.pid


def test_the_watchdog_is_named_and_ends_with_its_program(tmp_path: Path):
    begun = begin(tmp_path, *SLEEPING)
    assert begun.watchdog_pid is not None
    assert procfs.parent(begun.pid) == begun.watchdog_pid
    assert os.listdir(f"/proc/{begun.watchdog_pid}/fd") == ["0", "1", "2"]
    os.kill(begun.pid, signal.SIGKILL)
    until(lambda: not procfs.is_running(begun.watchdog_pid))
    assert "profkit-watchdog: ended by signal 9\n" in (tmp_path / "log").read_text()


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGHUP, signal.SIGTERM, signal.SIGQUIT])
def test_the_watchdog_ignores_signals_before_its_program_runs(tmp_path: Path, signum: signal.Signals):
    begin(tmp_path, "/bin/sh", "-c", f"kill -{int(signum)} $PPID; exec sleep 0.2")
    until(lambda: "ended with exit status 0" in (tmp_path / "log").read_text())


def test_no_launcher_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", "")
    with pytest.raises(FileNotFoundError, match="setsid --fork"):
        start_detached(("/bin/sleep", "600"), "600", tmp_path / "log", SYSTEM_CLOCK, 30)


def test_a_mark_that_is_no_argument_is_refused(tmp_path: Path):
    mark = str(tmp_path / "mark")
    with pytest.raises(ValueError, match="not an argument"):
        start_detached(("/bin/sleep", f"--output={mark}"), mark, tmp_path / "log", SYSTEM_CLOCK, 30)
    assert not (tmp_path / "log").exists()


def test_a_script_runs_under_its_interpreter(tmp_path: Path):
    script = tmp_path / "script"
    script.write_text(f"#!{sys.executable}\n{SLEEPER}\n")
    script.chmod(0o755)
    begun = begin(tmp_path, str(script))
    assert procfs.command_line(begun.pid)[-2:] == (os.fsencode(script), os.fsencode(tmp_path / "mark"))
    os.kill(begun.pid, signal.SIGKILL)


def test_a_program_that_cannot_run_is_the_systems_error(tmp_path: Path):
    with pytest.raises(FileNotFoundError, match=r"No such file.*/no'"):
        begin(tmp_path, str(tmp_path / "no"))
    (tmp_path / "text").write_text("no program")
    (tmp_path / "text").chmod(0o755)
    with pytest.raises(OSError, match="Exec format error"):
        begin(tmp_path, str(tmp_path / "text"))


def test_without_a_watchdog_it_leaves_its_reason_in_the_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    missing, mark = str(tmp_path / "no"), str(tmp_path / "mark")
    assert start_detached((missing, mark), mark, tmp_path / "log", SYSTEM_CLOCK, 30) is None
    assert f"failed to execute {missing}" in (tmp_path / "log").read_text()


def test_an_interrupt_leaves_nothing_running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(detached, "_reported", interrupted)
    with pytest.raises(KeyboardInterrupt):
        begin(tmp_path, *SLEEPING)
    until(lambda: not list(detached._marked(os.fsencode(tmp_path / "mark"))))


def test_pids_wrap_around():
    largest = int(Path("/proc/sys/kernel/pid_max").read_text())
    after = list(itertools.islice(detached._pids_after(largest - 3), 5))
    assert after == [largest - 2, largest - 1, 300, 301, 302]


def test_a_process_far_from_its_launcher_is_found(
    start: Callable[[str], Watched], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    process = start(SLEEPER)
    far = (process.pid + 10_000) % 30_000 + 300
    found = detached._search(far, os.fsencode(tmp_path / "mark0"), SYSTEM_CLOCK, lambda: True)
    assert found == detached.Detached(process.pid, None)


def test_it_ignores_and_catches_no_signal(tmp_path: Path):
    mark = "600.25"
    begun = start_detached(("/bin/sleep", mark), mark, tmp_path / "log", SYSTEM_CLOCK, 30)
    assert begun is not None
    status = procfs.status(begun.pid)
    os.kill(begun.pid, signal.SIGKILL)
    of_the_c_library = 0b11 << 31
    for field in ("SigIgn", "SigCgt", "SigBlk"):
        assert int(status[field], 16) & ~of_the_c_library == 0, field


NOBODY = 2**22 + 1


def test_a_living_process_and_its_end():
    with subprocess.Popen(["/bin/sleep", "600"]) as child:
        process = watch(child.pid)
        assert process is not None
        assert process.alive()
        assert not process.wait(0.0)
        assert process.signal(signal.SIGKILL)
        assert process.wait(30)
        assert not process.alive()
    assert not process.signal(signal.SIGKILL)
    process.close()
    assert not process.alive()
    assert process.wait(0.0)
    assert not process.signal(signal.SIGKILL)


LAST_THREAD = """
import ctypes, sys, threading
threading.Thread(target=sys.stdin.read).start()
ctypes.CDLL(None).pthread_exit(None)
"""


def test_it_runs_until_its_last_thread_has_ended():
    """A thread of py-spy may trace the program when the first one has ended: no other sampler could then."""
    with subprocess.Popen([PYTHON, "-c", LAST_THREAD], stdin=subprocess.PIPE) as child:
        process = watch(child.pid)
        assert process is not None
        assert child.stdin is not None
        until(lambda: not procfs.is_running(child.pid), "its first thread goes on")
        assert process.alive()
        child.stdin.close()
        until(lambda: not process.alive(), "it does not end")


def test_nobody_to_watch():
    assert watch(NOBODY) is None


def test_it_holds_no_descriptor():
    before = os.listdir("/proc/self/fd")
    process = watch(os.getpid())
    assert process is not None
    assert process.alive()
    assert os.listdir("/proc/self/fd") == before
    process.close()
    process.close()
    assert not process.alive()


def test_a_later_process_with_its_pid_is_another():
    with subprocess.Popen(["/bin/sleep", "600"]) as child:
        ticks = procfs.start_ticks(child.pid)
        assert ticks is not None
        earlier = Watched(child.pid, ticks - 1)
        assert not earlier.alive()
        assert not earlier.signal(signal.SIGKILL)
        earlier.close()
        assert child.poll() is None
        child.kill()


def test_where_proc_shows_nothing_the_kernel_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with subprocess.Popen(["/bin/sleep", "600"]) as child:
        process = watch(child.pid)
        assert process is not None
        monkeypatch.setattr(procfs, "PROC", str(tmp_path))  # as after chroot
        assert process.alive()
        assert process.signal(signal.SIGKILL)
        child.wait()
        assert process.wait(30)


def test_without_a_free_descriptor_it_can_be_ended():
    with subprocess.Popen(["/bin/sleep", "600"]) as child:
        process = watch(child.pid)
        assert process is not None
        with no_free_descriptor():
            assert process.alive()
            assert process.signal(signal.SIGKILL)
        child.wait()
        assert process.wait(30)


@contextlib.contextmanager
def no_free_descriptor() -> Iterator[None]:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def test_orphans_of_a_subreaper_are_reaped(tmp_path: Path):
    program = f"""
import ctypes, os, signal, sys
from pathlib import Path
from profkit.clock import SYSTEM_CLOCK
from profkit.process.detached import start_detached
from profkit.process.detached import watch
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
mark = {str(tmp_path / "mark")!r}
argv = (sys.executable, "-c", "import time; time.sleep(600)", mark)
begun = start_detached(argv, mark, Path(mark + ".log"), SYSTEM_CLOCK, 30)
process, watchdog = watch(begun.pid), watch(begun.watchdog_pid)
assert os.waitpid(watchdog.pid, os.WNOHANG) == (0, 0), "it is our child here"
process.signal(signal.SIGKILL)
for watched in (process, watchdog):
    watched.wait(30)
    watched.close()
try:
    os.wait()
except ChildProcessError:
    print("reaped")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout == "reaped\n", done.stderr
