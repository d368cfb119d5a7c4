"""Jobs and replies; the default memory limit, Callgrind dumps, and the ends of worker processes."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any, cast

from profkit.errors import DamagedFile
from profkit.formats.callgrind import parse_callgrind
from profkit.measuring.worker.processes import bytes_in
from profkit.measuring.worker.protocol import CANNOT_REPLY
from profkit.model.measurement import CallgrindDump
from profkit.process.procfs import control_groups

_HINTS = {
    int(signal.SIGKILL): ", as the system does when memory runs out",
    int(signal.SIGILL): ", as Valgrind does at instructions that it does not support "
    "(ATEN_CPU_CAPABILITY=default keeps torch from using them)",
}


def how_ended(status: int) -> str:
    """Describe a wait status, as the end of a sentence that begins with "its process"."""
    code = os.waitstatus_to_exitcode(status)
    if code == CANNOT_REPLY:
        return "closed the descriptor of its reply"
    if code >= 0:
        return f"exited with status {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:  # a real-time signal between the first and the last
        name = f"signal {-code}"
    return f"was ended by {name}{_HINTS.get(-code, '')}"


def is_own_end(status: int) -> bool:
    """Return whether a child ended as it does after its reply."""
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL


class Dump:
    """Text of a dump, parsed once, at its first use: that takes some milliseconds."""

    def __init__(self, path: str, text: str) -> None:
        self.path, self.text = path, text

    @cached_property
    def parsed(self) -> CallgrindDump:
        """Parsed content; raises DamagedFile."""
        return parse_callgrind(self.text, Path(self.path))


def read_dumps(folder: Path | None, reply: Mapping[str, Any]) -> Mapping[str, Dump]:
    """Read the dumps in the folder that a reply names; raises FileNotFoundError."""
    if folder is None:
        return {}
    paths = [path for path in _dump_paths(reply) if Path(path).parent == folder]  # a job may name any file
    return {path: Dump(path, Path(path).read_text("utf-8", "surrogateescape")) for path in paths}


def parse_ahead(dumps: Mapping[str, Dump]) -> None:
    """Parse dumps while there is nothing else to do; damaged ones raise at their first use.

    Equal repeats are parsed once: their files are the same from the line of events on.
    """
    known: dict[str, CallgrindDump] = {}
    for dump in dumps.values():
        _, _, body = dump.text.partition("\nevents:")
        with contextlib.suppress(DamagedFile):
            if body not in known:
                known[body] = dump.parsed
            dump.parsed = known[body]


def remove_dumps(folder: Path | None) -> None:
    """Remove every dump of a zygote, if it makes any: Callgrind writes one at each crash, too."""
    if folder is None:
        return
    # No `glob`: Python 3.15 imports that module at the first call, and the program may have one of this name.
    for path in folder.iterdir() if folder.is_dir() else ():
        if path.name.startswith("cg."):
            path.unlink(missing_ok=True)


def _dump_paths(reply: Mapping[str, Any]) -> Iterator[str]:
    """Yield the paths that a reply names as dumps; they are checked when they are read."""
    cases = reply.get("cases")
    for case in cases if isinstance(cases, list) else ():
        for name in ("dumps", "baseline_dumps"):
            paths = case.get(name) if isinstance(case, dict) else ()
            yield from (path for path in paths or () if isinstance(path, str))


SHARE = 0.5
"""Default memory limit as a part of the machine's memory, or of its control group's limit if that is less."""


@cache
def default_limit_bytes() -> int:
    """Return half of the memory that this process can have at all."""
    return int(usable_bytes() * SHARE)


def usable_bytes(root: Path = Path("/")) -> int:
    """Return the machine's memory, or the lowest limit of the control groups that this process is in."""
    physical_bytes = bytes_in(str(root / "proc/meminfo"), (b"MemTotal:",))
    return min(limit for limit in (physical_bytes, *_group_limits(root)) if limit)


def _group_limits(root: Path) -> Iterator[int]:
    """Yield the limits of this process's control groups, and of all groups above."""
    for group in control_groups("memory", root):
        for name in ("memory.max", "memory.limit_in_bytes"):
            with contextlib.suppress(OSError):  # no such limit there
                text = (group / name).read_text("ascii").strip()
                if text.isdecimal():  # else "max"
                    yield int(text)


@dataclass(frozen=True, slots=True)
class Job:
    """Job of one worker."""

    label: str
    """Name in errors."""
    message: Mapping[str, object]
    """For `worker/child.py`; `dump_prefix` is filled in, and `env` reduced to changes of the zygote's.

    `memory_limit_bytes` is for the supervisor; by default None: half of the machine's memory.
    """
    timeout_s: float
    """Time-out, from the fork on."""
    payload: int | None = None
    """Descriptor of its payload; owned by the caller, who keeps it open until the job is done."""
    result: int | None = None
    """Descriptor of the file for a call's result, owned by the caller; such a job also has a payload."""
    repeatable: bool = True
    """True to repeat it if its zygote ends while it runs; else it fails."""

    @property
    def limit_bytes(self) -> int:
        """Memory limit of the job's processes."""
        given = cast("int | None", self.message.get("memory_limit_bytes"))
        return given or default_limit_bytes()


@dataclass(frozen=True, slots=True)
class ZygoteFacts:
    """Facts that a zygote reports about itself."""

    serial: int
    """Number among all zygotes that this process has started."""
    python: str
    packages: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Reply:
    """Reply of a job."""

    message: Mapping[str, object]
    output: str
    """End of its output."""
    zygote: ZygoteFacts
    dumps: Mapping[str, Dump] = field(default_factory=dict)
    """Dumps that the message names, by path; the files themselves are gone."""
