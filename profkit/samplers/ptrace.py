"""Diagnose why the system denies a sampler access to a process, and name the fix.

ptrace(2), "Ptrace access mode checking"; capabilities(7); Yama.
"""

from __future__ import annotations

from dataclasses import dataclass

from profkit.process import prctl, procfs

_CAP_SYS_PTRACE = 19


@dataclass(frozen=True, slots=True)
class AttachFacts:
    """Facts that decide whether another process of the same user may read a process."""

    tracer_pid: int
    """Pid of its current tracer, 0 if there is none."""
    yama_scope: int
    dumpable: bool
    may_trace: bool
    """True if it, and so its sampler, has CAP_SYS_PTRACE."""


def attach_facts(pid: int) -> AttachFacts:
    """Return the facts of a process; if it has ended, facts that forbid nothing."""
    status = procfs.status(pid)
    capabilities = int(status.get("CapEff", "0"), 16)
    return AttachFacts(
        tracer_pid=int(status.get("TracerPid", "0")),
        yama_scope=prctl.ptrace_scope(),
        dumpable=procfs.is_dumpable(pid),
        may_trace=bool(capabilities >> _CAP_SYS_PTRACE & 1),
    )


def cause_and_fix(facts: AttachFacts) -> str:
    """Return the cause that these facts indicate, and the fix."""
    if facts.tracer_pid:
        return f"process {facts.tracer_pid} is tracing it: end that debugger, strace or profiler"
    if facts.yama_scope == 3:
        return "kernel.yama.ptrace_scope is 3, which forbids it: configure another value and reboot"
    if facts.may_trace:
        return "a security module or seccomp filter forbids ptrace and process_vm_readv: allow them"
    grant = "give it CAP_SYS_PTRACE (in a container: --cap-add SYS_PTRACE)"
    if not facts.dumpable:
        return f"it is not dumpable (PR_SET_DUMPABLE, or a changed user): leave it dumpable, or {grant}"
    if facts.yama_scope == 2:
        return f"kernel.yama.ptrace_scope is 2: {grant}, or run `sysctl kernel.yama.ptrace_scope=1`"
    if facts.yama_scope == 1:
        return f"kernel.yama.ptrace_scope is 1: {grant}, or run `sysctl kernel.yama.ptrace_scope=0`"
    return f"run the program and py-spy as the same user, or {grant}"


def fix_for(pid: int) -> str:
    """Return the cause of a denial and the fix, from the process's current facts."""
    if not procfs.is_running(pid):
        return f"process {pid} has ended: let the program run longer"
    return cause_and_fix(attach_facts(pid))
