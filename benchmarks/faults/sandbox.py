"""Sandbox of one injection: a folder and a mark, by which leftover files and processes are found."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.children import environment
from benchmarks.faults.injections import Outcome
from profkit.ingest.read import read_runs
from profkit.store.spool import session_folders

PROGRAMS = Path(__file__).with_name("programs")
LABELS = ("first", "second", "third")
"""Labels that `programs/phases.py` records, one session each."""
MARK = "FAULTS_MARK"
"""Environment variable that all processes of an injection inherit."""

_COMMAND = str(Path(sys.executable).with_name("profkit"))
_ENDS_WITHIN_S = 20.0
"""Maximum time for which samplers and supervisors may outlive their program: a supervisor's sweep."""
_COMMAND_TIMEOUT_S = 120.0
_KILLED_WITHIN_S = 2.0
_POLL_S = 0.02
_RECORDED_WITHIN_S = 60.0
_TRIES = 5
_NAMED = 4
"""Number of files that a problem names."""
_HOUSEKEEPING = frozenset({".lock", ".gitignore", ".checked", ".sizes"})
"""Files that profkit keeps in a spool on purpose."""

_OWN = re.compile(r"profkit|py-spy", re.IGNORECASE)
_FRAME = re.compile(r'^  File "')
_HANDLED = re.compile(r"^\w\S*: .*\n(?=\nDuring handling of the above exception, )", re.MULTILINE)
_TROUBLE = ("Exception in thread", "Exception ignored", "Fatal Python error: _", "ResourceWarning")


@dataclass(frozen=True, slots=True)
class MarkedProcess:
    """One process of an injection."""

    pid: int
    state: str
    """Letter in /proc/PID/stat; T and t are stopped, by a signal and by a tracer."""
    words: tuple[str, ...]

    def has_word(self, word: str) -> bool:
        """Return whether one of its arguments is `word`."""
        return word in self.words


class Sandbox:
    """Folders of one injection; programs run in `work`, and keep their own logs in `own`."""

    def __init__(self, root: Path) -> None:
        self.root, self.mark = root, uuid.uuid4().hex
        self.work, self.own, self.tmp = root / "work", root / "own", root / "tmp"
        for folder in (self.work, self.own, self.tmp):
            folder.mkdir()

    @property
    def log(self) -> Path:
        """Path of the target's own log."""
        return self.own / "log"

    @property
    def spool(self) -> Path:
        """Spool of the programs that run here."""
        return self.work / ".profkit" / "spool"

    def environ(self, changes: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return the environment of all programs here."""
        marks = {MARK: self.mark, f"OMP_{MARK}": self.mark}  # zygotes inherit OpenMP's variables
        return {**environment(), **marks, "TMPDIR": str(self.tmp), **(changes or {})}

    @contextmanager
    def started(
        self, argv: Sequence[str], changes: Mapping[str, str] | None = None
    ) -> Iterator[subprocess.Popen[str]]:
        """Start `python ARGV`, and kill it at the end if it still runs. Its output goes to `own`."""
        with (self.own / "stdout").open("w") as out, (self.own / "stderr").open("w") as err:
            child = subprocess.Popen(
                [sys.executable, *argv], cwd=self.work, env=self.environ(changes), text=True,
                stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True,
            )  # fmt: skip
        with child:
            try:
                yield child
            finally:
                self._end(child)

    def _end(self, child: subprocess.Popen[str]) -> None:
        child.kill()
        try:
            child.wait(_KILLED_WITHIN_S)
        except subprocess.TimeoutExpired:
            # While a tracer is stopped, a killed process cannot be reaped by its parent.
            self.end_all()

    def output(self, name: str = "stderr") -> str:
        """Return the stdout or stderr of the last started program."""
        return (self.own / name).read_text("utf-8", "replace")

    def command(self, *arguments: str, changes: Mapping[str, str] | None = None) -> CommandResult:
        """Run `profkit ARGUMENTS`."""
        try:
            done = subprocess.run(
                [_COMMAND, *arguments], cwd=self.work, env=self.environ(changes),
                stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=_COMMAND_TIMEOUT_S,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return CommandResult(arguments, None, "", f"did not end within {_COMMAND_TIMEOUT_S:g} s")
        out, err = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
        return CommandResult(arguments, done.returncode, out, err)

    def ended(self, outcome: Outcome, where: str, status: int | None, warnings: int = 0) -> Outcome:
        """Return the outcome with what is wrong with the last program, which should have printed `done`."""
        if status != 0 or self.output("stdout") != "done\n":
            outcome = outcome.with_problem(f"{where}: exit status {status}", changed=1)
        return self.said(outcome, where, warnings)

    def said(self, outcome: Outcome, where: str, warnings: int = 0) -> Outcome:
        """Return the outcome with the odd lines of the last program, beyond a number of warnings."""
        for line in odd_lines(self.output(), warnings):
            outcome = outcome.with_problem(f"{where}: stderr: {line}", changed=1)
        return outcome

    def listed(self, outcome: Outcome, codes: Sequence[int] = (0,)) -> tuple[Outcome, CommandResult]:
        """Return the outcome and the list of runs, after all processes have ended."""
        self.await_end()
        listed = self.command("list", "--json")
        problem = listed.problem(codes)
        return outcome if problem is None else outcome.with_problem(problem), listed

    def processes(self) -> list[MarkedProcess]:
        """Return all live processes with the mark, or with this sandbox in their arguments."""
        mark, root = f"{MARK}={self.mark}".encode(), str(self.root).encode()
        return [found for found in map(_process, _pids()) if found and _belongs(found.pid, mark, root)]

    def await_end(self, timeout_s: float = _ENDS_WITHIN_S) -> list[MarkedProcess]:
        """Wait until no marked process is left; return the remaining ones after the timeout."""
        deadline_s = time.monotonic() + timeout_s
        while (found := self.processes()) and time.monotonic() < deadline_s:
            time.sleep(_POLL_S)
        return found

    def end_all(self) -> None:
        """Kill all remaining processes."""
        for _ in range(3):
            for process in self.processes():
                with suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGKILL)
            time.sleep(_POLL_S)

    def counted(self, outcome: Outcome, *, damaged: bool = False) -> Outcome:
        """Return the outcome with the remaining processes, files and locks; kill the processes.

        With `damaged`, files that profkit moved aside because they could not be read are not counted.
        """
        processes, locks = self.await_end(), self.held_locks()
        files = [path for path in self.left_files() if not (damaged and self.is_set_aside(path))]
        for process in processes:
            words = " ".join(process.words)[:120]
            outcome = outcome.with_problem(f"left process {process.pid} ({process.state}): {words}")
        if files:
            outcome = outcome.with_problem(f"left {len(files)} files: {self._named(files)}")
        if locks:
            outcome = outcome.with_problem(f"left {len(locks)} locks: {self._named(locks)}")
        self.end_all()
        return replace(outcome, processes_left=len(processes), files_left=len(files), locks_left=len(locks))

    def _named(self, paths: Sequence[Path]) -> str:
        return ", ".join(str(path.relative_to(self.root)) for path in paths[:_NAMED])

    def left_files(self) -> list[Path]:
        """Return files and folders in the spool and in the folder for temporary files."""
        spool = [path for path in _below(self.spool) if path.name not in _HOUSEKEEPING]
        return [*spool, *_below(self.tmp)]

    def age(self) -> None:
        """Make the spool look old: recent unfinished files are ignored, as programs may be writing them."""
        for path in _below(self.spool):
            os.utime(path, (0, 0), follow_symlinks=False)

    def is_set_aside(self, path: Path) -> bool:
        """Return whether a path is in the spool's folder for unreadable files."""
        return path.is_relative_to(self.spool / "damaged")

    def held_locks(self) -> list[Path]:
        """Return files in this sandbox that another process has locked."""
        return [path for path in _below(self.root) if path.is_file() and _is_locked(path)]


@dataclass(frozen=True, slots=True)
class CommandResult:
    """Result of a `profkit` command; `code` is None if it had to be killed."""

    arguments: tuple[str, ...]
    code: int | None
    stdout: str
    stderr: str

    def problem(self, codes: Sequence[int] = (0,)) -> str | None:
        """Return what is wrong: a traceback, no end at all, or an exit code that is not in `codes`."""
        name = f"profkit {' '.join(self.arguments)}"
        if self.code is None:
            return f"{name} {self.stderr}"
        if "Traceback" in self.stderr or self.code not in codes:
            return f"{name} ended with {self.code}: {self.stderr[-400:].strip()}"
        return None

    def runs(self) -> list[dict[str, Any]]:
        """Return the runs of `profkit list --json`; none if it failed."""
        try:
            runs: list[dict[str, Any]] = json.loads(self.stdout)["runs"]
        except (ValueError, KeyError):
            return []
        return runs

    def sampled_labels(self) -> set[str]:
        """Return the labels of listed runs that have samples."""
        return {str(run["label"]) for run in self.runs() if run.get("samples")}


_OPEN: set[Sandbox] = set()


def end_sandboxes() -> None:
    """Kill the processes of all sandboxes, so that their injections end."""
    for box in tuple(_OPEN):
        box.end_all()
    time.sleep(_POLL_S)


@contextmanager
def sandbox() -> Iterator[Sandbox]:
    """Yield a sandbox; at the end, kill its processes and remove its folder."""
    root = Path(tempfile.mkdtemp(prefix="pf-", dir="/tmp"))  # paths of sockets must be short
    made = Sandbox(root)
    _OPEN.add(made)
    try:
        yield made
    finally:
        _OPEN.discard(made)
        made.end_all()
        shutil.rmtree(root, ignore_errors=True)


def odd_lines(stderr: str, warnings: int = 0) -> Iterator[str]:
    """Yield lines of stderr that an unprofiled program would not have, beyond a number of warnings.

    The program's own tracebacks may have frames of profkit, and an exception that was being handled there
    or in an import.
    """
    seen: set[str] = set()
    for line in _HANDLED.sub("", stderr).splitlines():
        if any(trouble in line for trouble in _TROUBLE):
            yield line
        elif _OWN.search(line) and not _FRAME.match(line) and not line.startswith("    "):
            if line in seen:
                yield f"twice: {line}"
            elif len(seen) >= warnings:
                yield line
            seen.add(line)


def record(box: Sandbox) -> None:
    """Run a program that leaves a finished session with samples for each of `LABELS`.

    On a busy machine a session may end before its sampler has seen it; the program is then run again.

    Raises RuntimeError if the program fails, or if sessions have no samples each time.
    """
    sampled: set[str] = set()
    for _ in range(_TRIES):
        before = set(session_folders(box.spool))
        _run_phases(box)
        made = [folder for folder in session_folders(box.spool) if folder not in before]
        sampled = {run.info.label for folder in made for run in read_runs(folder).runs if run.info.samples}
        if sampled >= set(LABELS):
            return
        for folder in made:
            shutil.rmtree(folder)
        box.log.unlink()
    raise RuntimeError(f"the recorded program has samples of {sorted(sampled)} only")


def _run_phases(box: Sandbox) -> None:
    with box.started([str(PROGRAMS / "phases.py"), str(box.log)]) as program:
        try:
            status = program.wait(_RECORDED_WITHIN_S)
        except subprocess.TimeoutExpired as error:
            raise RuntimeError("the recorded program did not end") from error
    if status or box.await_end():
        raise RuntimeError(f"the recorded program ended with {status}: {box.output()[-400:]}")


def await_status(child: subprocess.Popen[str], timeout_s: float) -> int | None:
    """Return the exit status of a program; None if it does not end in time."""
    try:
        return child.wait(timeout_s)
    except subprocess.TimeoutExpired:
        return None


def await_line(path: Path, word: str, timeout_s: float = 60.0) -> float:
    """Wait until a line of a log begins with `word`; return the monotonic time."""
    deadline_s = time.monotonic() + timeout_s
    while not any(line.startswith(word) for line in _lines(path)):
        if time.monotonic() > deadline_s:
            raise RuntimeError(f"{word!r} did not appear within {timeout_s:g} s in {_lines(path)[-3:]}")
        time.sleep(0.002)
    return time.monotonic()


def _lines(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines() if path.exists() else []


def _pids() -> Iterator[int]:
    own = os.getpid()
    return (int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != own)


def _process(pid: int) -> MarkedProcess | None:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace").split("\0")
    except OSError:
        return None
    state = stat.rpartition(")")[2].split()[0]
    return None if state in "ZX" else MarkedProcess(pid, state, tuple(words))


def _belongs(pid: int, mark: bytes, root: bytes) -> bool:
    try:
        folder = Path(f"/proc/{pid}")
        return mark in (folder / "environ").read_bytes() or root in (folder / "cmdline").read_bytes()
    except OSError:
        return False


def _below(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*")) if folder.is_dir() else []


def _is_locked(path: Path) -> bool:
    """Return whether a lock cannot be taken. /proc/locks has inodes only, which are not unique."""
    with path.open("r+b") as opened:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
            fcntl.lockf(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
