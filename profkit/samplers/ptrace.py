"""Diagnosis of a denied attach: the cause, the fix, and which samplers can still work.

py-spy needs ptrace(2) only when blocking. It reads memory by process_vm_readv(2), or from /proc/PID/mem if
that call fails with EPERM or ENOSYS. CPython's remote reader turns to that file after ENOSYS only.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from profkit.process import procfs
from profkit.samplers import base
from profkit.samplers.attach_facts import (
    PTRACE,
    READ,
    AttachFacts,
    CallResults,
    attach_facts,
    has_ended,
    try_calls,
)


class DenialCause(enum.Enum):
    """Cause of a denied attach."""

    ENDED = "ended"
    PID_NAMESPACE = "pid namespace"
    YAMA = "yama"
    OTHER_USER = "other user"
    NOT_DUMPABLE = "not dumpable"
    """If it is the calling process, `prctl.set_dumpable` fixes it."""
    CAPABILITIES = "capabilities"
    SECCOMP = "seccomp"
    NOT_IMPLEMENTED = "not implemented"
    TRACED = "traced"
    SECURITY_MODULE = "security module"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Denial:
    """Diagnosis of a denied attach."""

    cause: DenialCause
    cause_and_fix: str
    """What is wrong, and how to fix it."""
    refusals: Mapping[str, str]
    """System calls that fail for every process, each with its error or signal, such as "EPERM"."""
    denied: frozenset[str]
    """What the system denies, `base.PTRACE` or `base.READ`; py-spy reads /proc/PID/mem if it must."""


def diagnose(pid: int, log: Path | None = None, proc: str = procfs.PROC) -> Denial:
    """Return why a sampler that this process starts may not read process `pid`.

    With a `log`, to which a child process can write, tries the sampler's system calls. Otherwise uses /proc
    only, and does not know which calls a seccomp filter refuses.
    """
    if has_ended(pid, proc):
        text = (
            f"process {pid} has ended: let the program run longer (if it runs in another container, share "
            "its PID namespace: --pid container:NAME)"
        )
        return Denial(DenialCause.ENDED, text, {}, frozenset({base.PTRACE, base.READ}))
    facts = attach_facts(pid, proc)
    results = None if log is None or _is_in_other_namespace(facts) else try_calls(pid, log)
    return explain(facts, results)


def explain(facts: AttachFacts, results: CallResults | None) -> Denial:
    """Return the diagnosis that facts indicate; without results, a seccomp filter may refuse any call."""
    cause = _cause(facts, results)
    refusals = results.refusals() if results else {}
    if results is None:
        may_read = cause in (DenialCause.TRACED, DenialCause.SECCOMP, DenialCause.UNKNOWN)
        may_stop = may_read and not facts.filters
    else:
        may_read = results.may_read_memory() or results.may_read_mem_file()
        may_stop = results.has_access() and PTRACE not in refusals
    allowed = {base.PTRACE: may_stop and not facts.tracer_pid, base.READ: may_read}
    denied = frozenset(ability for ability, is_allowed in allowed.items() if not is_allowed)
    return Denial(cause, _text(cause, facts, refusals), refusals, denied)


def _cause(facts: AttachFacts, results: CallResults | None) -> DenialCause:
    """Return the first cause that applies: those that deny any access come first."""
    if _is_in_other_namespace(facts):
        return DenialCause.PID_NAMESPACE
    has_access = results is not None and results.has_access()
    missing = None if has_access else _missing_permission(facts)
    if missing is not None:
        return missing
    refusals = results.refusals() if results else {}
    if facts.tracer_pid and PTRACE not in refusals:
        return DenialCause.TRACED
    if refusals:
        return _cause_of_refusals(facts, refusals)
    if has_access:
        return DenialCause.UNKNOWN
    if results is None and facts.filters:
        return DenialCause.SECCOMP
    if facts.yama_scope == 1 and not facts.may_trace:
        return DenialCause.YAMA
    if facts.dumpable is None and not facts.may_trace:
        return DenialCause.NOT_DUMPABLE
    return DenialCause.SECURITY_MODULE


def _missing_permission(facts: AttachFacts) -> DenialCause | None:
    """Return which check of ptrace(2) fails for any access, in the kernel's order; None if none does."""
    if facts.yama_scope == 3:
        return DenialCause.YAMA
    if facts.may_trace:
        return None
    if _has_other_ids(facts):
        return DenialCause.OTHER_USER
    if facts.dumpable is False:
        return DenialCause.NOT_DUMPABLE
    if facts.missing_capabilities:
        return DenialCause.CAPABILITIES
    return DenialCause.YAMA if facts.yama_scope == 2 else None


def _cause_of_refusals(facts: AttachFacts, refusals: Mapping[str, str]) -> DenialCause:
    if facts.filters:
        return DenialCause.SECCOMP
    if set(refusals.values()) == {"ENOSYS"}:
        return DenialCause.NOT_IMPLEMENTED
    return DenialCause.SECURITY_MODULE


def _has_other_ids(facts: AttachFacts) -> bool:
    other_users = set(facts.users) - {facts.sampler_user}
    other_groups = set(facts.groups) - {facts.sampler_group}
    return bool(other_users or other_groups)


def _is_in_other_namespace(facts: AttachFacts) -> bool:
    return facts.has_foreign_proc or facts.has_foreign_children


def _text(cause: DenialCause, facts: AttachFacts, refusals: Mapping[str, str]) -> str:
    match cause:
        case DenialCause.PID_NAMESPACE:
            return _text_of_namespace(facts)
        case DenialCause.YAMA:
            return _text_of_yama(facts)
        case DenialCause.OTHER_USER:
            return _text_of_other_user(facts)
        case DenialCause.NOT_DUMPABLE:
            return (
                "it is not dumpable (PR_SET_DUMPABLE, a changed user, or a program file that it may not "
                f"read): pass allow_dumpable=True, or {_grant(facts)}"
            )
        case DenialCause.CAPABILITIES:
            return (
                f"it has capabilities that the sampler lacks (`capsh --decode="
                f"{facts.missing_capabilities:x}`): start the program without them, or {_grant(facts)}"
            )
        case DenialCause.SECCOMP:
            return _text_of_seccomp(refusals)
        case DenialCause.NOT_IMPLEMENTED:
            return (
                f"this kernel or sandbox does not implement {_listed(refusals)}: run the program on a Linux "
                "kernel of its own (in Docker instead of gVisor: --runtime=runc)"
            )
        case DenialCause.TRACED:
            return f"process {facts.tracer_pid} is tracing it: end that debugger, strace or profiler"
        case DenialCause.SECURITY_MODULE:
            return (
                "a security module forbids it: allow ptrace there (AppArmor in Docker: --security-opt "
                "apparmor=unconfined; SELinux: `setsebool deny_ptrace off`)"
            )
        case _:
            return "nothing denies it any more, such as a debugger that has ended: try again"


def _text_of_namespace(facts: AttachFacts) -> str:
    if facts.has_foreign_proc:
        return (
            "/proc shows another PID namespace: mount its own with `mount -t proc proc /proc` (when "
            "starting it: `unshare --pid --fork --mount-proc`)"
        )
    return (
        "its child processes start in another PID namespace, where it does not exist: begin profiling "
        "before it calls unshare(CLONE_NEWPID)"
    )


def _text_of_yama(facts: AttachFacts) -> str:
    if facts.yama_scope == 3:
        return "kernel.yama.ptrace_scope is 3, which forbids it: configure another value and reboot"
    return (
        f"kernel.yama.ptrace_scope is {facts.yama_scope}: {_grant(facts)}, or run "
        f"`sysctl kernel.yama.ptrace_scope={facts.yama_scope - 1}`"
    )


def _text_of_other_user(facts: AttachFacts) -> str:
    if len(set(facts.users)) > 1 or len(set(facts.groups)) > 1:
        return (
            "its real, effective and saved users or groups differ: change all three before the first "
            f"profiled call (os.setresuid, os.setresgid), or {_grant(facts)}"
        )
    return (
        f"it has user {facts.users[0]} and group {facts.groups[0]}, and the sampler has user "
        f"{facts.sampler_user} and group {facts.sampler_group}: use the same for both, or {_grant(facts)}"
    )


def _text_of_seccomp(refusals: Mapping[str, str]) -> str:
    refused = _listed(refusals) or f"{PTRACE} or {READ}"
    calls = tuple(refusals) or (PTRACE, READ)
    return (
        f"a seccomp filter refuses {refused}: allow {' and '.join(calls)} (Docker: --cap-add SYS_PTRACE, or "
        "--security-opt seccomp=PROFILE.json with a profile that does; systemd: "
        f"SystemCallFilter={' '.join(calls)})"
    )


def _listed(refusals: Mapping[str, str]) -> str:
    return " and ".join(f"{call} ({failure})" for call, failure in refusals.items())


def _grant(facts: AttachFacts) -> str:
    as_root = "" if facts.sampler_user in (0, None) else " and user root"
    return f"give the sampler CAP_SYS_PTRACE (in a container: --cap-add SYS_PTRACE{as_root})"
