"""Errors of preparing measurements, and of exceeded limits of the pool."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from textwrap import indent

from profkit.errors import MeasuringError, UsageError, WorkerError, ZygoteFailed
from profkit.units import format_bytes, format_duration

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)
"""Errors of a file system that cannot be written to or is full."""
_VALGRINDS = Path("/tmp")
"""Folder of Valgrind's own files if its environment has no TMPDIR, as in zygotes."""
_MIN_BYTES = 512 * 1024
"""Minimum free space: Callgrind's files of a large program have some hundred kilobytes."""


class ScriptFailed(MeasuringError):
    """Python text cannot be compiled to TorchScript; `output` is the compiling process's traceback."""

    def __init__(self, label: str, output: str) -> None:
        self.label, self.output = label, output
        *_, last = output.strip().splitlines() or ["its process printed nothing"]
        problem = f"{label!r} cannot be compiled to TorchScript: {last}; fix its Python code"
        super().__init__(f"{problem}{_quoted(output.strip())}")


class FolderUnavailable(MeasuringError):
    """Files for measuring cannot be written to their folder, for example on a full disk."""

    def __init__(self, what: str, folder: Path, detail: str, variable: str) -> None:
        self.what, self.folder, self.detail, self.variable = what, folder, detail, variable
        super().__init__(
            f"{what} cannot be written to {folder}: {detail}; free some space there, or set {variable} to "
            "another folder"
        )


def cache_unavailable(folder: Path, detail: str) -> FolderUnavailable:
    """Return the error for an unwritable cache of compiled statements."""
    return FolderUnavailable("compiled statements", folder, detail, "XDG_CACHE_HOME")


def no_temporary_folder(what: str, error: OSError) -> FolderUnavailable:
    """Return the error for a machine without a writable folder for temporary files."""
    return FolderUnavailable(what, Path("/tmp"), error.strerror or str(error), "TMPDIR")


@contextmanager
def reporting_full_disk() -> Iterator[None]:
    """Raise FolderUnavailable if counting fails and the folder of Callgrind's files is full.

    Valgrind reports no error: its files are truncated or missing, and reading them fails.
    """
    try:
        yield
    except MeasuringError as error:
        full = None if isinstance(error, FolderUnavailable) else _full_folder()
        if full is None:
            raise
        raise FolderUnavailable("Callgrind's files", full, os.strerror(errno.ENOSPC), "TMPDIR") from error


def _full_folder() -> Path | None:
    """Return the folder for dumps, or that of Valgrind's own files, if it is full."""
    for folder in (Path(tempfile.gettempdir()), _VALGRINDS):
        with suppress(OSError):
            if shutil.disk_usage(folder).free < _MIN_BYTES:
                return folder
    return None


class PythonTooOld(ZygoteFailed):
    """The interpreter of another environment is older than workers need."""

    def __init__(self, zygote: str, python: str, version: str, oldest: str) -> None:
        self.python, self.version, self.oldest = python, version, oldest
        self.zygote, self.output = zygote, ""
        self.detail = f"needs Python {oldest} or newer; {python} is {version}"
        self.fix = "set python= (--python) to another interpreter, or change source_cmd"
        MeasuringError.__init__(self, f"the zygote {zygote} {self.detail}; {self.fix}")


class ProgramFailed(MeasuringError):
    """A measured program exited with a code other than 0; `output` ends its stderr, if that was not shown."""

    def __init__(self, label: str, exit_code: int, execution: int, output: str = "") -> None:
        self.label, self.program_exit_code, self.execution = label, exit_code, execution
        self.output = output
        how = f"was ended by {_signal(-exit_code)}" if exit_code < 0 else f"exited with code {exit_code}"
        super().__init__(
            f"{label!r} {how} in execution {execution}; fix it, give it the input that it reads (--input), "
            "or measure it nevertheless (--ignore-failure)"
        )


class ProgramTimeout(MeasuringError):
    """A measured program did not end in time, and was ended; `output` as in `ProgramFailed`."""

    def __init__(self, label: str, timeout_s: float, execution: int, output: str = "") -> None:
        self.label, self.timeout_s, self.execution, self.output = label, timeout_s, execution, output
        super().__init__(
            f"{label!r} did not end within {format_duration(timeout_s)} in execution {execution}, and was "
            f"ended; make it shorter, or raise the timeout (--timeout)"
        )


class NotCounted(MeasuringError):
    """Callgrind has written no counts of a program."""

    def __init__(self, label: str, detail: str) -> None:
        self.label, self.detail = label, detail
        super().__init__(
            f"the instructions of {label!r} were not counted: {detail}; name the program itself instead of "
            "one that starts it, or also count child processes (--subprocesses)"
        )


class MemoryExceeded(WorkerError):
    """A worker and its children used more memory than allowed, and were ended."""

    def __init__(
        self, label: str, used_bytes: int, limit_bytes: int, *, default: bool, output: str = ""
    ) -> None:
        self.label, self.used_bytes, self.limit_bytes, self.output = label, used_bytes, limit_bytes, output
        limit = f"the {'default ' if default else ''}limit of {format_bytes(limit_bytes)}"
        super().__init__(
            f"{label!r} was ended: it used {format_bytes(used_bytes)} of memory, more than {limit}; use "
            f"less, or raise memory_limit_bytes{_quoted(output)}"
        )


class CannotReturn(WorkerError):
    """A function's result cannot be sent back from its worker."""

    def __init__(self, label: str, kind: str, detail: str, output: str = "") -> None:
        self.label, self.kind, self.detail, self.output = label, kind, detail, output
        super().__init__(
            f"{label!r} returned an object of type {kind!r}, which cannot be sent back: {detail}; return "
            "plain data, or write it to a file and return the path"
        )


class ResultUnreadable(WorkerError):
    """The file with a function's result cannot be read here."""

    def __init__(self, label: str, detail: str, output: str = "") -> None:
        self.label, self.detail, self.output = label, detail, output
        super().__init__(
            f"the result of {label!r} cannot be read: {detail}; make sure that its objects can be unpickled, "
            "and that the function leaves the worker's descriptors alone"
        )


class WorkersDiffer(UsageError):
    """Workers of an executor lack profkit, or have other versions than the process that sends them orders."""

    def __init__(self, detail: str) -> None:
        self.detail = detail
        super().__init__(
            f"the executor's workers cannot measure for this process: {detail}",
            "install the same versions of profkit, Python and torch on both sides",
        )


class OrdersLost(MeasuringError):
    """The worker that measured these orders was lost, and so was the next one."""

    def __init__(self, labels: Sequence[str], detail: str) -> None:
        self.labels, self.detail = tuple(labels), detail
        named = ", ".join(map(repr, labels))
        super().__init__(
            f"the executor lost the workers that measured {named}, twice ({detail}); see the log of its "
            "workers, or measure these orders on this machine to find out whether one of them ends its worker"
        )


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _quoted(text: str) -> str:
    """Return another process's output, indented for use below a message; empty text for empty output."""
    return "\n" + indent(text.strip("\n"), "    ") if text.strip("\n") else ""
