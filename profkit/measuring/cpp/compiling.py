"""Parallel compiler processes, and their output reduced to the user's own lines."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import select
import shutil
import signal
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from profkit.errors import MeasuringError, ToolMissing
from profkit.measuring.cpp.cache import Cache, unlock
from profkit.measuring.cpp.source import FRAME, GLOBAL_SETUP, SETUP, STATEMENT
from profkit.measuring.errors import NO_ROOM, FolderUnavailable, cache_unavailable
from profkit.model.workorder import WorkOrder
from profkit.process import ending_with_parent
from profkit.process.child import own_python

_MESSAGE = re.compile(
    r"^(?P<file>[^:\s][^:]*):(?P<line>\d+):(?:(?P<column>\d+):)?\s+"
    r"(?P<kind>(?:fatal |internal compiler )?error|note|required|in ‘constexpr’|in 'constexpr')"
)
_WITHOUT_LINE = re.compile(
    r"undefined reference to|cannot find |multiple definition of|^[\w.+-]+: (?:fatal )?error: "
)
"""Errors of the linker, or about the compiler itself."""
_PLACE = re.compile(r"\S*/(?=<(?:stmt|setup|global_setup)>:)|(?<=>:)(\d+:)\(\.[\w.]+\+0x[0-9a-f]+\):")
"""Folder before the name of a user's part, and offset after its line, as linkers print them."""
_UNBALANCED = "the statement or its setup has an unbalanced brace, parenthesis or quote"
_SILENT = "the compiler failed without a message"
_MAX_LINES = 60
_MAX_FOREIGN_NOTES = 3
"""Maximum after an error; a call that fits none of many overloads has dozens."""


def trimmed(output: str, order: WorkOrder) -> str:
    """Return the errors, with the user's lines that they name or come from, and their notes.

    Return everything if nothing looks like an error.
    """
    own = {
        GLOBAL_SETUP: order.global_setup.split("\n"),
        SETUP: order.setup.split("\n"),
        STATEMENT: (order.stmt or "").split("\n"),
    }
    lines = list(_relevant_lines(_PLACE.sub(r"\1", output), own))
    ours = [line for line in lines if not line.startswith(f"{FRAME}:")]
    lines = ours or ([_UNBALANCED, lines[0]] if lines else output.splitlines() or [_SILENT])
    more = [f"… and {len(lines) - _MAX_LINES} more lines"] if len(lines) > _MAX_LINES else []
    return "\n".join([*lines[:_MAX_LINES], *more])


def _relevant_lines(output: str, own: Mapping[str, list[str]]) -> Iterator[str]:
    foreign_notes = 0
    for text in output.splitlines():
        found = _MESSAGE.match(text)
        if found is None:
            if _WITHOUT_LINE.search(text):
                yield text
            continue
        if "error" in found["kind"]:
            foreign_notes = 0
        elif found["file"] not in own:
            foreign_notes += 1
            if found["kind"] != "note" or foreign_notes > _MAX_FOREIGN_NOTES:
                continue
        yield text
        yield from _quoted(own.get(found["file"], []), int(found["line"]), int(found["column"] or 0))


def _quoted(lines: list[str], number: int, column: int) -> Iterator[str]:
    """Yield a user's line with a mark below the column; `column` counts bytes from 1, 0 is unknown."""
    if not 0 < number <= len(lines):
        return
    line = lines[number - 1]
    yield f"    {line}"
    if column:
        before = line.encode(errors="surrogatepass")[: column - 1].decode(errors="replace")
        yield "    " + "".join("\t" if letter == "\t" else " " for letter in before) + "^"


_HEARTBEAT_S = 0.5
_MIN_BYTES = 1024**2
"""Minimum free space: with less, a compiler's failure may be due to the full disk."""
_LOCKED_S = 0.1
"""Interval for checking whether another process has finished a locked key, in seconds."""


CompilationResult = Path | MeasuringError
"""Result of a task: its path in the cache, or an error."""


class Compilation(ABC):
    """One compiler's task, whose result is cached."""

    suffix: ClassVar[str] = ".so"
    """Suffix of its file in the cache."""

    def __init__(self, key: str, label: str, env: Mapping[str, str]) -> None:
        """Set its key in the cache, its label in reports of progress, and its compiler's environment."""
        self.key, self.label, self.env = key, label, env

    def find(self, cache: Cache) -> Path | None:
        """Return the cached result; None if there is none."""
        return cache.find(self.key, self.suffix)

    @abstractmethod
    def command(self, working_folder: Path) -> Sequence[str]:
        """Prepare the empty working folder, and return the compiler's command."""

    @abstractmethod
    def keep(self, cache: Cache, working_folder: Path, output: str) -> CompilationResult:
        """Move the command's result into the cache, or return an error; `output` is what it printed.

        May raise OSError.
        """


class _Running:
    """Running compiler, its working folder, and the lock on its key."""

    def __init__(self, unit: Compilation, lock: int) -> None:
        self.unit = unit
        self.pidfd: int | None = None
        self._leave = contextlib.ExitStack()
        self._leave.callback(unlock, lock)

    def start(self, cache: Cache) -> None:
        self._folder = cache.working_folder()
        self._leave.callback(shutil.rmtree, self._folder, ignore_errors=True)
        self._output = self._leave.enter_context(os.fdopen(os.memfd_create("profkit-compiler"), "w+b"))
        self._process = subprocess.Popen(
            [*_tethered(self._folder), *self.unit.command(self._folder)],
            env={**self.unit.env, "LC_ALL": "C.UTF-8", "TMPDIR": str(self._folder)},
            stdin=subprocess.DEVNULL,
            stdout=self._output,  # in memory: a full disk could not hold a message about it
            stderr=subprocess.STDOUT,
            process_group=0,  # to end it with its children; Ctrl-C is handled by this process
        )
        self._leave.callback(_kill, self._process)
        with contextlib.suppress(ProcessLookupError):  # the program's own waitpid(-1) was faster
            self.pidfd = os.pidfd_open(self._process.pid)
            self._leave.callback(os.close, self.pidfd)

    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def result(self, cache: Cache) -> CompilationResult:
        """Return the compiler's result. On a full disk it prints the reason, unless it crashes."""
        self._output.seek(0)
        output = self._output.read().decode("utf-8", "replace")
        try:
            result = self.unit.keep(cache, self._folder, output)
        except OSError as error:
            result = no_room(cache, error)
        if isinstance(result, Path):
            return result
        reason = next((reason for reason in map(os.strerror, NO_ROOM) if reason in output), None)
        if reason is None and shutil.disk_usage(cache.folder).free < _MIN_BYTES:
            reason = os.strerror(errno.ENOSPC)
        return cache_unavailable(cache.folder, reason) if reason else result

    def end(self) -> None:
        """Kill the compiler if it runs, and clean up; may be called at any time, and repeatedly."""
        self._leave.close()


def _tethered(working_folder: Path) -> tuple[str, ...]:
    """Return words before a command that end it with this process, and then remove its folder."""
    return (own_python(), "-I", "-S", ending_with_parent.__file__, str(os.getpid()), str(working_folder))


def no_room(cache: Cache, error: OSError) -> FolderUnavailable:
    """Return the error of a full cache; raise all other errors of the system."""
    if error.errno not in NO_ROOM:
        raise error
    return cache_unavailable(cache.folder, os.strerror(error.errno))


def _kill(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def run_compilations(
    units: Sequence[Compilation], cache: Cache, workers: int, report: Callable[[str], None]
) -> Generator[tuple[Compilation, CompilationResult], None, None]:
    """Yield each task with its result, as tasks end. Closing the iterator kills the running compilers.

    `report` is called with the label of the longest-running task, at changes and every half second.
    """
    waiting, running = list(units), list[_Running]()
    try:
        while waiting or running:
            yield from _start(waiting, running, cache, workers)
            report(next((unit.label for unit in (*(one.unit for one in running), *waiting)), ""))
            _await_change(running, _LOCKED_S if waiting and len(running) < workers else _HEARTBEAT_S)
            for ended in [one for one in running if one.has_ended()]:
                result = ended.result(cache)
                ended.end()
                running.remove(ended)
                yield ended.unit, result
    finally:
        for one in running:
            one.end()


def _start(
    waiting: list[Compilation], running: list[_Running], cache: Cache, workers: int
) -> Generator[tuple[Compilation, CompilationResult], None, None]:
    """Start tasks up to the limit; yield those that another process has made meanwhile, with their result."""
    for unit in tuple(waiting):
        if len(running) >= workers:
            return
        try:
            lock = cache.lock(unit.key)
        except OSError as error:
            waiting.remove(unit)
            yield unit, no_room(cache, error)
            continue
        if lock is None:
            continue
        waiting.remove(unit)
        found = unit.find(cache)
        if found is not None:
            unlock(lock)
            yield unit, found
            continue
        running.append(_Running(unit, lock))
        try:
            running[-1].start(cache)
        except (OSError, ToolMissing) as error:
            running.pop().end()
            yield unit, no_room(cache, error) if isinstance(error, OSError) else error


def _await_change(running: Sequence[_Running], timeout_s: float) -> None:
    poller = select.poll()
    for one in running:
        if one.pidfd is None:
            return
        poller.register(one.pidfd, select.POLLIN)
    poller.poll(timeout_s * 1000)
