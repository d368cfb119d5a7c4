"""Errors of the limits that the pool sets: to memory, to what comes back, to how old a Python may be."""

from __future__ import annotations

from textwrap import indent

from profkit.errors import MeasuringError, WorkerError, ZygoteFailed
from profkit.units import format_bytes


class PythonTooOld(ZygoteFailed):
    """The interpreter of another environment is older than what workers need."""

    def __init__(self, zygote: str, python: str, version: str, oldest: str) -> None:
        self.python, self.version, self.oldest = python, version, oldest
        self.zygote, self.output = zygote, ""
        self.detail = f"needs Python {oldest} or newer; {python} is {version}"
        self.remedy = "name another interpreter with python= (--python), or another source_cmd"
        MeasuringError.__init__(self, f"the zygote {zygote} {self.detail}; {self.remedy}")


class MemoryExceeded(WorkerError):
    """A worker and what it started used more memory than they may, and were ended."""

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
    """What a function returned cannot be sent back from its worker."""

    def __init__(self, label: str, kind: str, detail: str, output: str = "") -> None:
        self.label, self.kind, self.detail, self.output = label, kind, detail, output
        super().__init__(
            f"{label!r} returned an object of type {kind!r}, which cannot be sent back: {detail}; return "
            "plain data, or write it to a file and return the path"
        )


class ResultUnreadable(WorkerError):
    """What a worker sent back as the result of a function cannot be read here."""

    def __init__(self, label: str, detail: str, output: str = "") -> None:
        self.label, self.detail, self.output = label, detail, output
        super().__init__(
            f"the result of {label!r} cannot be read: {detail}; see that its objects survive pickling, and "
            "that the function leaves the worker's descriptors alone"
        )


def _quoted(text: str) -> str:
    """What another process wrote, indented below a message; nothing for nothing."""
    return "\n" + indent(text.strip("\n"), "    ") if text.strip("\n") else ""
