"""/proc (proc(5)): what it tells about processes, and how many samplers run on this host.

"No such process" is an answer, never an error.
"""

from __future__ import annotations

import posix
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from profkit.process.guard import let_through
from profkit.process.prctl import is_self_dumpable

PROC = "/proc"
ENDED = "ZX"
"""States of a process that has ended: a zombie, or one about to vanish."""


def start_ticks(pid: int) -> int | None:
    """When a process started, in clock ticks since the machine did; None where there is none.

    A pid and its start name one process for good: pids are given out again.
    """
    fields = _stat_fields(pid)
    # proc(5) counts from 1 and the list starts at field 3: field 22 is at 19.
    return int(fields[19]) if fields else None


def is_same_process(pid: int, ticks: int) -> bool:
    """Whether `pid` still runs the process that started at `ticks`; zombies count as gone."""
    return running_since_ticks(pid) == ticks


def is_running(pid: int) -> bool:
    """Whether there is such a process; zombies count as gone."""
    return running_since_ticks(pid) is not None


def running_since_ticks(pid: int) -> int | None:
    """As `start_ticks`, but None for a zombie."""
    seen = state_and_start(pid)
    return seen[1] if seen is not None and seen[0] not in ENDED else None


def state_and_start(pid: int) -> tuple[str, int] | None:
    """The letter of a process's state and its start in ticks, None if /proc shows no such process."""
    fields = _stat_fields(pid)
    return (fields[0], int(fields[19])) if fields else None


def parent(pid: int) -> int | None:
    """The parent's pid, None if the process is gone."""
    fields = _stat_fields(pid)
    return int(fields[1]) if fields else None


def program(pid: int, proc: str | None = None) -> str | None:
    """The file that a process executes; None if it is gone, a kernel thread, or not ours to look at."""
    try:
        return posix.readlink(f"{proc or PROC}/{pid}/exe")
    except OSError as error:
        let_through(error)
        return None


def command_line(pid: int, proc: str | None = None) -> tuple[bytes, ...]:
    """The arguments of a process, empty where it is gone, a zombie, or about to exec."""
    text = _read(f"{proc or PROC}/{pid}/cmdline")
    return tuple(text.removesuffix(b"\0").split(b"\0")) if text else ()


def status(pid: int) -> Mapping[str, str]:
    """The fields of /proc/PID/status, empty where the process is gone."""
    text = _read(f"{PROC}/{pid}/status").decode("utf-8", "replace")
    pairs = (line.partition(":") for line in text.splitlines())
    return {name: value.strip() for name, _, value in pairs}


def catches_signal(pid: int, signum: int) -> bool:
    """Whether a process has a handler for a signal."""
    _, _, caught = _read(f"{PROC}/{pid}/status").partition(b"SigCgt:")
    return bool(caught) and bool(int(caught.split(maxsplit=1)[0], 16) >> (signum - 1) & 1)


def resident_bytes(pid: int) -> int:
    """Memory that a process holds, 0 where it is gone."""
    fields = _read(f"{PROC}/{pid}/statm").split()
    return int(fields[1]) * posix.sysconf("SC_PAGE_SIZE") if fields else 0


def pid_namespace_inode(pid: int) -> int:
    """The inode that names the pid namespace of a process; raises OSError where it is gone."""
    return posix.stat(f"{PROC}/{pid}/ns/pid").st_ino


def is_dumpable(pid: int) -> bool:
    """Whether processes of the same user may read this one (PR_SET_DUMPABLE in prctl(2)).

    Of another process it shows by /proc/PID/maps belonging to root; of root's it cannot be told,
    and is True.
    """
    if pid == posix.getpid():
        return is_self_dumpable()
    user = status(pid).get("Uid", "").split()
    try:
        return not user or posix.stat(f"{PROC}/{pid}/maps").st_uid == int(user[1])
    except FileNotFoundError:
        return True


def crowding(loadavg: Path = Path("/proc/loadavg"), processors: int | None = None) -> float:
    """Runnable tasks per processor at this moment, at least 1; see proc_loadavg(5)."""
    running = re.search(rb" (\d+)/\d+ ", _read(str(loadavg)))
    return max(1.0, int(running.group(1)) / (processors or posix.cpu_count() or 1)) if running else 1.0


def cpu_frequency_hz(cpuinfo: Path = Path("/proc/cpuinfo")) -> float | None:
    """The processor's nominal frequency, None where the machine does not tell.

    psutil's largest frequency (of /sys), else its current one, else the highest "cpu MHz" that
    /proc/cpuinfo shows, as in virtual machines.
    """
    import psutil  # takes longer to import than all the rest of a first call, and is needed here alone

    try:
        frequency = psutil.cpu_freq()
    except (OSError, NotImplementedError):
        frequency = None
    if frequency is not None and (frequency.max or frequency.current):
        return float(frequency.max or frequency.current) * 1e6
    text = _read(str(cpuinfo)).decode("utf-8", "replace")
    return max((float(mhz) * 1e6 for mhz in re.findall(r"^cpu MHz\s*:\s*([\d.]+)", text, re.M)), default=None)


def _stat_fields(pid: int) -> list[str]:
    """Fields of /proc/PID/stat from the third on: the second may hold blanks and brackets."""
    text = _read(f"{PROC}/{pid}/stat").decode("utf-8", "replace")
    return text.rpartition(")")[2].split()


def _read(path: str) -> bytes:
    """The content of a file of /proc, empty where its process is gone or not ours to read."""
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read()
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return b""


_PROGRAM = "/py-spy"
_RATE = re.compile(rb"\0-r\0(\d+)\0")


@dataclass(frozen=True, slots=True)
class SamplerLoad:
    """The samplers that run now."""

    count: int = 0
    rate_hz: float = 0.0
    """Their rates together."""


def sampler_load(proc: str = PROC) -> SamplerLoad:
    """Return the load by py-spy on behalf of this user (for root: of every user).

    Takes about a millisecond with 300 processes: only those that run py-spy are looked at closely.
    """
    arguments = [
        b"\0".join(command_line(int(pid), proc)) + b"\0"
        for pid in posix.listdir(proc)
        if pid.isdecimal() and (program(int(pid), proc) or "").endswith(_PROGRAM)
    ]
    rates = [float(found.group(1)) for text in arguments if (found := _RATE.search(text))]
    return SamplerLoad(len(rates), sum(rates))
