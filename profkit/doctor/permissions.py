"""Checks of what a sampler may do: capabilities, seccomp, no_new_privs, Yama, dumpable."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from profkit.doctor.container import ContainerFacts, grant_ptrace
from profkit.model.checkup import Check, Group, Status
from profkit.process import procfs
from profkit.samplers.attach_facts import PTRACE, READ, AttachFacts, attach_facts, try_calls
from profkit.samplers.ptrace import DenialCause

_GROUP = Group.PERMISSIONS
_COSTS = {
    PTRACE: "py-spy cannot stop the program, so callers of short functions may be wrong",
    READ: "CPython's own reader cannot be used; py-spy reads /proc/PID/mem instead if it may",
}
_YAMA_SCOPES = {
    0: "0: processes of the same user",
    1: "1: descendants, and whom the program permits; profkit permits its sampler",
    2: "2: only with CAP_SYS_PTRACE",
    3: "3: nobody",
}
_YAMA_FILE = "/etc/sysctl.d/99-ptrace.conf"


@dataclass(frozen=True, slots=True)
class PermissionFacts:
    """Facts about this process as the one to be sampled, and about a sampler that it starts."""

    attach: AttachFacts
    no_new_privs: bool = False
    refusals: Mapping[str, str] | None = None
    """System calls that fail for every process, each with its error or signal; None if not tried."""
    has_yama: bool = False


def permission_facts(root: Path, log: Path | None) -> PermissionFacts:
    """Return the facts; with a `log` to which a child process can write, try the system calls of samplers."""
    proc = root / "proc"
    results = None if log is None else try_calls(os.getpid(), log)
    return PermissionFacts(
        attach=attach_facts(os.getpid(), str(proc)),
        no_new_privs=procfs.status("self", str(proc)).get("NoNewPrivs") == "1",
        refusals=None if results is None else results.refusals(),
        has_yama=(proc / "sys/kernel/yama").exists(),
    )


def permission_checks(facts: PermissionFacts, container: ContainerFacts) -> tuple[Check, ...]:
    """Return the checks; a refusal is a shortfall here, since trials show whether a sampler works anyway."""
    return (
        _capabilities_check(facts.attach),
        _seccomp_check(facts, container),
        _privileges_check(facts),
        _yama_check(facts),
        _dumpable_check(facts.attach),
    )


def fix_of_denial(cause: DenialCause, facts: PermissionFacts, container: ContainerFacts, advice: str) -> str:
    """Return the command that lets a sampler attach, else the advice of the error."""
    match cause:
        case DenialCause.SECCOMP:
            return _permit_calls(facts.refusals or {}, container)
        case DenialCause.YAMA:
            return _lower_scope(facts.attach.yama_scope)
        case DenialCause.CAPABILITIES | DenialCause.OTHER_USER if container.kind:
            return grant_ptrace(container)
        case DenialCause.PID_NAMESPACE:
            return "sudo mount -t proc proc /proc"
        case DenialCause.NOT_IMPLEMENTED:
            return "docker run --runtime=runc …"
        case DenialCause.SECURITY_MODULE if container.kind:
            return "docker run --security-opt apparmor=unconfined …"
        case _:
            return advice


def _capabilities_check(facts: AttachFacts) -> Check:
    user = "" if facts.sampler_user is None else f", user {facts.sampler_user}"
    if facts.may_trace:
        return Check(_GROUP, "capabilities", Status.OK, f"CAP_SYS_PTRACE{user}")
    found = f"no CAP_SYS_PTRACE{user}; programs of the same user need none"
    return Check(_GROUP, "capabilities", Status.OK, found)


def _seccomp_check(facts: PermissionFacts, container: ContainerFacts) -> Check:
    number = facts.attach.filters
    filters = "no filter" if not number else f"{number} filter{'' if number == 1 else 's'}"
    if facts.refusals is None:
        return Check(_GROUP, "seccomp", Status.OK, f"{filters}; system calls were not tried")
    if not facts.refusals:
        return Check(_GROUP, "seccomp", Status.OK, f"{filters}; {PTRACE} and {READ} are allowed")
    refused = " and ".join(f"{call} ({failure})" for call, failure in facts.refusals.items())
    cost = "; ".join(_COSTS[call] for call in facts.refusals)
    fix = _permit_calls(facts.refusals, container)
    return Check(_GROUP, "seccomp", Status.SHORTFALL, f"{filters}; {refused} refused", cost, fix)


def _permit_calls(refusals: Mapping[str, str], container: ContainerFacts) -> str:
    """Return how to permit system calls: with Docker, with Kubernetes, or in a service of systemd's."""
    if container.kind:
        return grant_ptrace(container)
    calls = " ".join(refusals) or f"{PTRACE} {READ}"
    return f"docker run --cap-add SYS_PTRACE …, or SystemCallFilter={calls} in the systemd unit"


def _privileges_check(facts: PermissionFacts) -> Check:
    if facts.no_new_privs:
        found = "set: sudo does not work in this process; run fixes elsewhere"
        return Check(_GROUP, "no_new_privs", Status.OK, found)
    return Check(_GROUP, "no_new_privs", Status.OK, "not set")


def _yama_check(facts: PermissionFacts) -> Check:
    scope = facts.attach.yama_scope
    if not facts.has_yama:
        return Check(_GROUP, "Yama", Status.OK, "not in this kernel")
    found = f"ptrace_scope {_YAMA_SCOPES.get(scope, scope)}"
    if scope < 2 or (scope == 2 and facts.attach.may_trace):
        return Check(_GROUP, "Yama", Status.OK, found)
    cost = "samplers outside the program cannot read it"
    return Check(_GROUP, "Yama", Status.SHORTFALL, found, cost, _lower_scope(scope))


def _lower_scope(scope: int) -> str:
    if scope == 3:  # it cannot be lowered while the system runs
        return f"echo kernel.yama.ptrace_scope=1 | sudo tee {_YAMA_FILE} && sudo reboot"
    return "sudo sysctl kernel.yama.ptrace_scope=1"


def _dumpable_check(facts: AttachFacts) -> Check:
    if facts.dumpable is not False:
        return Check(_GROUP, "dumpable", Status.OK, "yes" if facts.dumpable else "unknown")
    if facts.may_trace:
        return Check(_GROUP, "dumpable", Status.OK, "no; CAP_SYS_PTRACE permits samplers anyway")
    cost = "samplers outside the program cannot read it"
    fix = "call prctl(PR_SET_DUMPABLE, 1) in the program, or make Python's file readable for its user"
    return Check(_GROUP, "dumpable", Status.SHORTFALL, "no", cost, fix)
