"""Facts that decide whether a sampler may read a process: from /proc, and from trying the system calls.

See ptrace(2), "Ptrace access mode checking"; capabilities(7), "Transformation of capabilities during
execve()"; the kernel's documentation of Yama. A sampler is a descendant of this process and inherits its
user, its PID namespace for children, and its seccomp filters.
"""

from __future__ import annotations

import posix
import re
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from errno import EFAULT, ENOSYS, EPERM, ESRCH, errorcode
from pathlib import Path

from profkit.process import prctl, procfs
from profkit.process.child import plain_python, run_child
from profkit.process.guard import suppressed
from profkit.samplers import ptrace_probe

PTRACE, READ = "ptrace", "process_vm_readv"
"""System calls that samplers use."""

_CAP_SYS_PTRACE = 19
_WITH_FILTERS = "2"
_PROBE_TIMEOUT_S = 0.6
_RESULTS = re.compile(
    re.escape(ptrace_probe.PREFIX) + " ".join(f"{name}=(-?[0-9]+)" for name in ptrace_probe.NAMES)
)


@dataclass(frozen=True, slots=True)
class AttachFacts:
    """Facts about a process, and about the sampler that this process starts."""

    tracer_pid: int = 0
    """Pid of the process's current tracer, 0 if there is none."""
    dumpable: bool | None = True
    """None if unknown, as for another process of root's."""
    users: tuple[int, ...] = ()
    """Real, effective and saved user of the process; empty if unknown."""
    groups: tuple[int, ...] = ()
    sampler_user: int | None = None
    sampler_group: int | None = None
    missing_capabilities: int = 0
    """Capabilities that the process has and the sampler lacks, as a bit mask."""
    may_trace: bool = False
    """True if the sampler has CAP_SYS_PTRACE."""
    filters: int = 0
    """Number of seccomp filters of the sampler."""
    has_foreign_proc: bool = False
    """True if /proc shows another PID namespace than this process's."""
    has_foreign_children: bool = False
    """True if children of this process start in another PID namespace."""
    yama_scope: int = 0


@dataclass(frozen=True, slots=True)
class CallResults:
    """Results of calls in child processes: an error number, 0, or minus the signal that killed the caller."""

    ptrace: int
    """ESRCH if the call is allowed: it was made for a process that does not exist."""
    read_self: int
    """Result of process_vm_readv on the calling process, which needs no permission."""
    read_target: int
    """Result of process_vm_readv at an invalid address; EFAULT if the process may be read."""
    mem_file: int
    """Result of opening /proc/PID/mem."""

    def refusals(self) -> Mapping[str, str]:
        """Return the calls that fail for every process, each with its error or signal, such as "EPERM"."""
        failed = {PTRACE: self.ptrace if self.ptrace != ESRCH else 0, READ: self.read_self}
        return {call: _name(code) for call, code in failed.items() if code}

    def may_read_memory(self) -> bool:
        """Return whether process_vm_readv can read the process."""
        return self.read_target in (0, EFAULT)

    def may_read_mem_file(self) -> bool:
        """Return whether py-spy can read /proc/PID/mem: it tries after EPERM and ENOSYS only."""
        return self.mem_file == 0 and self.read_self in (0, EPERM, ENOSYS)

    def has_access(self) -> bool:
        """Return whether the process may be read, apart from calls that fail for every process."""
        return self.may_read_memory() or self.mem_file == 0


def has_ended(pid: int, proc: str = procfs.PROC) -> bool:
    """Return whether a process has ended, or is not in /proc; False for this process."""
    state = procfs.status(_key(pid), proc).get("State", "X")
    return pid != posix.getpid() and state[0] in procfs.ENDED


def attach_facts(pid: int, proc: str = procfs.PROC) -> AttachFacts:
    """Return the facts of a process; if it has ended, facts that forbid nothing."""
    target, own = procfs.status(_key(pid), proc), procfs.status("self", proc)
    users = _numbers(target, "Uid")
    own_users, own_groups = _numbers(own, "Uid"), _numbers(own, "Gid")
    permitted, effective = _capabilities_after_exec(own)
    return AttachFacts(
        tracer_pid=int(target.get("TracerPid", "0")),
        dumpable=_is_dumpable(pid, users, proc),
        users=users,
        groups=_numbers(target, "Gid"),
        sampler_user=own_users[0] if own_users else None,
        sampler_group=own_groups[0] if own_groups else None,
        missing_capabilities=_mask(target, "CapPrm") & ~permitted,
        may_trace=bool(effective >> _CAP_SYS_PTRACE & 1),
        filters=int(own.get("Seccomp_filters", "1")) if own.get("Seccomp") == _WITH_FILTERS else 0,
        has_foreign_proc=len(own.get("NSpid", "").split()) > 1,
        has_foreign_children=procfs.has_foreign_children(proc),
        yama_scope=prctl.ptrace_scope(Path(proc, prctl.SCOPE_FILE.relative_to("/proc"))),
    )


def try_calls(pid: int, log: Path) -> CallResults | None:
    """Try a sampler's system calls in child processes; return None if that is not possible.

    Appends the results to `log`. Takes 25 ms on an idle machine.
    """
    python = plain_python()
    if python is None:
        return None
    if pid == posix.getpid():
        prctl.allow_tracer(pid)  # with Yama, as for the sampler
    with suppressed(OSError):  # also TimeoutError
        run_child((python, "-I", "-S", ptrace_probe.__file__, str(pid)), log, _PROBE_TIMEOUT_S)
        found = _RESULTS.findall(log.read_text("utf-8", "replace"))
        return CallResults(*map(int, found[-1])) if found else None
    return None


def _key(pid: int) -> int | str:
    """Return the name of a process in /proc, which may show another PID namespace."""
    return "self" if pid == posix.getpid() else pid


def _is_dumpable(pid: int, users: tuple[int, ...], proc: str) -> bool | None:
    try:
        dumpable = procfs.is_dumpable(pid, proc)
    except ImportError:  # ctypes can no longer be found, as after chroot
        return None
    return None if dumpable and 0 in users and pid != posix.getpid() else dumpable


def _capabilities_after_exec(status: Mapping[str, str]) -> tuple[int, int]:
    """Return the permitted and effective capabilities of a program that a process starts."""
    users = _numbers(status, "Uid")
    permitted = effective = _mask(status, "CapAmb")
    if 0 in users[:2]:
        permitted = _mask(status, "CapBnd") | _mask(status, "CapInh")
        if status.get("NoNewPrivs") == "1":
            permitted &= _mask(status, "CapPrm")
        effective = permitted if users[1] == 0 else 0
    return permitted, effective


def _mask(status: Mapping[str, str], name: str) -> int:
    return int(status.get(name, "0"), 16)


def _numbers(status: Mapping[str, str], name: str) -> tuple[int, ...]:
    return tuple(int(number) for number in status.get(name, "").split()[:3])


def _name(code: int) -> str:
    return signal.Signals(-code).name if code < 0 else errorcode.get(code, str(code))
