"""Processes from /proc (proc(5)), usable processors (also by quota), and the samplers on this host.

A missing process is a result, never an error.
"""

from __future__ import annotations

import math
import os
import posix
import re
import time
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from profkit.process.guard import reraise_signal_error, suppressed
from profkit.process.prctl import is_self_dumpable

PROC = "/proc"
ENDED = "ZX"
"""States of a process that has ended: zombie or dead."""


def start_ticks(pid: int) -> int | None:
    """Return the start of a process in clock ticks since boot; None if there is no such process.

    A pid together with its start identifies a process uniquely: the kernel reuses pids.
    """
    fields = stat_fields(pid)
    # proc(5) counts from 1 and the list begins with field 3: field 22 is at 19.
    return int(fields[19]) if fields else None


def is_same_process(pid: int, ticks: int) -> bool:
    """Return whether `pid` is still the process that started at `ticks`; zombies count as ended."""
    return running_since_ticks(pid) == ticks


def is_running(pid: int) -> bool:
    """Return whether the process runs; zombies count as ended."""
    return running_since_ticks(pid) is not None


def running_since_ticks(pid: int) -> int | None:
    """Return the start of a process as `start_ticks` does, but None for a zombie."""
    seen = state_and_start(pid)
    return seen[1] if seen is not None and seen[0] not in ENDED else None


def state_and_start(pid: int) -> tuple[str, int] | None:
    """Return a process's state letter and its start in ticks, None if /proc shows no such process."""
    fields = stat_fields(pid)
    return (fields[0], int(fields[19])) if fields else None


def has_other_threads(pid: int) -> bool:
    """Return whether a process has several threads; a zombie's others still run, and may trace a process."""
    fields = stat_fields(pid)
    return bool(fields) and int(fields[17]) > 1


def unix_ns_of(ticks: int) -> int:
    """Return the Unix time of a process's start, from `start_ticks`: the end of that tick.

    psutil's is up to a second earlier, since the time of the boot in /proc/stat is in whole seconds.
    """
    booted_ns = time.time_ns() - time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    return booted_ns + (ticks + 1) * 10**9 // posix.sysconf("SC_CLK_TCK")


def parent(pid: int) -> int | None:
    """Return the parent's pid, None if the process has ended."""
    fields = stat_fields(pid)
    return int(fields[1]) if fields else None


def program(pid: int, proc: str | None = None) -> str | None:
    """Return a process's executable; None if it has ended, is a kernel thread, or access is denied."""
    try:
        return posix.readlink(f"{proc or PROC}/{pid}/exe")
    except OSError as error:
        reraise_signal_error(error)
        return None


def command_line(pid: int, proc: str | None = None) -> tuple[bytes, ...]:
    """Return the arguments of a process; empty if it has ended, is a zombie, or is in exec."""
    text = read(f"{proc or PROC}/{pid}/cmdline")
    return tuple(text.removesuffix(b"\0").split(b"\0")) if text else ()


def status(pid: int | str, proc: str | None = None) -> Mapping[str, str]:
    """Return the fields of /proc/PID/status; empty if the process has ended. "self" is this process."""
    text = read(f"{proc or PROC}/{pid}/status").decode("utf-8", "replace")
    pairs = (line.partition(":") for line in text.splitlines())
    return {name: value.strip() for name, _, value in pairs}


def catches_signal(pid: int, signum: int) -> bool:
    """Return whether a process has a handler for a signal."""
    _, _, caught = read(f"{PROC}/{pid}/status").partition(b"SigCgt:")
    return bool(caught) and bool(int(caught.split(maxsplit=1)[0], 16) >> (signum - 1) & 1)


def resident_bytes(pid: int) -> int:
    """Return the resident memory of a process in bytes, 0 if it has ended."""
    fields = read(f"{PROC}/{pid}/statm").split()
    return int(fields[1]) * posix.sysconf("SC_PAGE_SIZE") if fields else 0


def pid_namespace_inode(pid: int) -> int:
    """Return the inode of a process's pid namespace; raises OSError if the process has ended."""
    return posix.stat(f"{PROC}/{pid}/ns/pid").st_ino


def is_of_other_namespace(proc: str = PROC) -> bool:
    """Return whether /proc shows another PID namespace than this process's; False if there is no /proc."""
    with suppressed(OSError):
        return posix.readlink(f"{proc}/self") != str(posix.getpid())
    return False


def has_foreign_children(proc: str = PROC) -> bool:
    """Return whether children of this process start in another PID namespace."""
    own, of_children = f"{proc}/self/ns/pid", f"{proc}/self/ns/pid_for_children"
    if not os.path.lexists(of_children):  # Linux before 4.12
        return False
    try:
        return posix.readlink(own) != posix.readlink(of_children)
    except FileNotFoundError:  # it has no process yet
        return True


def is_dumpable(pid: int, proc: str | None = None) -> bool:
    """Return whether processes of the same user may read a process (PR_SET_DUMPABLE in prctl(2)).

    If a process is not dumpable, /proc/PID/maps belongs to root. For another process of root's, this is
    unknown, and True.
    """
    is_own = pid == posix.getpid()
    name = "self" if is_own else pid
    user = status(name, proc).get("Uid", "").split()
    if not user or (is_own and user[1] == "0"):
        return not is_own or is_self_dumpable()
    try:
        return posix.stat(f"{proc or PROC}/{name}/maps").st_uid == int(user[1])
    except FileNotFoundError:
        return True


def processor_wait_s(pid: int, proc: str | None = None) -> float:
    """Return how long the main thread of a process has waited for a processor each time, on average.

    0 if it has ended, or if the kernel does not count this.
    """
    figures = read(f"{proc or PROC}/{pid}/schedstat").split()
    return int(figures[1]) / 1e9 / max(1, int(figures[2])) if len(figures) > 2 else 0.0


def cpu_frequency_hz(cpuinfo: Path = Path("/proc/cpuinfo")) -> float | None:
    """Return the processor's nominal frequency, None if the machine does not report it.

    Uses psutil's maximum frequency (from /sys), else its current one, else the highest "cpu MHz" in
    /proc/cpuinfo, as in virtual machines.
    """
    import psutil  # takes longer to import than the rest of a first call, and is needed only here

    try:
        frequency = psutil.cpu_freq()
    except (OSError, NotImplementedError):
        frequency = None
    if frequency is not None and (frequency.max or frequency.current):
        return float(frequency.max or frequency.current) * 1e6
    text = read(str(cpuinfo)).decode("utf-8", "replace")
    return max((float(mhz) * 1e6 for mhz in re.findall(r"^cpu MHz\s*:\s*([\d.]+)", text, re.M)), default=None)


@cache
def machine_kind(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """Return the model and number of processors, such as "AMD EPYC 7B13 × 8"; else the architecture."""
    text = read(str(cpuinfo)).decode("utf-8", "replace")
    model = re.search(r"^model name\s*:\s*(.+)$", text, re.M)
    return f"{model[1].strip() if model else os.uname().machine} × {os.cpu_count() or 1}"


def stat_fields(pid: int) -> list[str]:
    """Return the fields of /proc/PID/stat from the third on: the second may contain blanks and brackets.

    Empty if there is no such process.
    """
    text = read(f"{PROC}/{pid}/stat").decode("utf-8", "replace")
    return text.rpartition(")")[2].split()


def read(path: str) -> bytes:
    """Return the content of a /proc file; empty if its process has ended or access is denied."""
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read()
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return b""


def control_groups(controller: str, root: Path = Path("/")) -> Iterator[Path]:
    """Yield the folders of this process's control groups and of those above them; see cgroups(7).

    Those of version 2 come first, then those of version 1 that have a controller such as `cpu`. In a
    container, often only the topmost one exists.
    """
    base, groups = root / "sys/fs/cgroup", dict[str, str]()
    for line in read(f"{root}/proc/self/cgroup").decode("utf-8", "surrogateescape").splitlines():
        _, names, groups[names] = line.split(":", 2)
    try:
        mounts = [base / name for name in os.listdir(base) if controller in name.split(",")]
    except OSError as error:  # a kernel without control groups
        reraise_signal_error(error)
        return
    own = next((path for names, path in groups.items() if controller in names.split(",")), "")
    for mount, group in ((base, groups.get("", "")), *((mount, own) for mount in mounts)):
        parts = [part for part in group.split("/") if part not in ("", "..")]
        yield from (mount.joinpath(*parts[:length]) for length in range(len(parts), -1, -1))


def quota_of_process(root: Path = Path("/")) -> float | None:
    """Return the CPU quota of this process in cores: the smallest of its control group and all above it."""
    quotas = (_quota_of(folder) for folder in control_groups("cpu", root))
    return min((quota for quota in quotas if quota is not None), default=None)


def usable_processors(root: Path = Path("/")) -> float:
    """Return how many processors this machine has, or the quota of this process if it is less."""
    quota = quota_of_process(root)
    return min(posix.cpu_count() or 1, math.inf if quota is None else quota)


def _quota_of(folder: Path) -> float | None:
    """Return the quota of one group in cores: of version 2, else of version 1; None without a quota."""
    try:
        quota, _, period = read(f"{folder}/cpu.max").strip().partition(b" ")
        if not period:
            quota, period = (read(f"{folder}/cpu.cfs_{name}_us").strip() for name in ("quota", "period"))
    except OSError as error:  # the group was removed in the meantime
        reraise_signal_error(error)
        return None
    if not quota.isdigit() or not period.isdigit() or not int(period):
        return None
    return int(quota) / int(period)


_PYSPY, _PYTHON = "py-spy", "python"
_PYSPY_RATE = re.compile(rb"\0-r\0\d+\0")
_HELPER = re.compile(
    rb"[^\0]*\0-I\0-S\0[^\0]*/samplers/helper/__main__\.py\0(?:[^\0]*\0)*?--rate=[\d.e+-]+\0"
)
"""Command line of a process of the `cpython` sampler; a watchdog has it behind its own."""


def count_samplers(proc: str = PROC) -> int:
    """Return the number of this user's samplers that run now (for root: those of all users).

    Takes about a millisecond with 300 processes: only py-spy's and Python's processes are examined further.
    """
    return sum(_is_sampler(int(pid), proc) for pid in posix.listdir(proc) if pid.isdecimal())


def _is_sampler(pid: int, proc: str) -> bool:
    name = (program(pid, proc) or "").rpartition("/")[2]
    if name != _PYSPY and not name.startswith(_PYTHON):
        return False
    text = b"\0".join(command_line(pid, proc)) + b"\0"
    return bool(_PYSPY_RATE.search(text) if name == _PYSPY else _HELPER.match(text))
