"""Checks of a sampler's permissions: capabilities, seccomp, no_new_privs, Yama, dumpable, containers."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from profkit.doctor.container import DOCKER, ContainerFacts
from profkit.doctor.places import text_of
from profkit.doctor.system import SystemFacts
from profkit.model.checkup import Check, Group, Status
from profkit.process import procfs
from profkit.samplers.attach_facts import PTRACE, READ, AttachFacts, attach_facts, try_calls
from profkit.samplers.ptrace import DenialCause

_GROUP = Group.PERMISSIONS
_CANNOT_READ = "samplers outside the program cannot read it"
_CANNOT_STOP = "py-spy cannot stop the program (blocking=True, native=True)"
_COSTS_OF_READ = {
    "ENOSYS": "samplers read /proc/PID/mem instead, if they may",
    "EPERM": "CPython's own reader (3.14 and later) cannot be used; py-spy reads /proc/PID/mem if it may",
}
"""Costs of a refusal of READ by its error; see `samplers.ptrace`."""
_YAMA_SCOPES = {
    0: "0: processes of the same user",
    1: "1: descendants, and whom the program permits; profkit permits its sampler",
    2: "2: only with CAP_SYS_PTRACE",
    3: "3: nobody",
}
_YAMA_FILE = "/etc/sysctl.d/99-ptrace.conf"
_UNSHARED = "begin profiling before unshare(CLONE_NEWPID), or run `unshare --pid --fork --mount-proc COMMAND`"


@dataclass(frozen=True, slots=True)
class PermissionFacts:
    """Facts about this process as the one to be sampled, and about a sampler that it starts."""

    attach: AttachFacts
    no_new_privs: bool = False
    refusals: Mapping[str, str] | None = None
    """System calls that fail for every process, each with its error or signal; None if not tried."""
    has_yama: bool | None = False
    """None if it is unknown, as without /proc/sys."""


def permission_facts(root: Path, log: Path | None) -> PermissionFacts:
    """Return the facts; with a `log` to which a child process can write, try the system calls of samplers."""
    proc = root / "proc"
    results = None if log is None else try_calls(os.getpid(), log)
    return PermissionFacts(
        attach=attach_facts(os.getpid(), str(proc)),
        no_new_privs=procfs.status("self", str(proc)).get("NoNewPrivs") == "1",
        refusals=None if results is None else results.refusals(),
        has_yama=_has_yama(proc / "sys/kernel"),
    )


def permission_checks(facts: PermissionFacts, system: SystemFacts) -> tuple[Check, ...]:
    """Return the checks; a refusal is a shortfall here, since trials show whether a sampler works anyway."""
    return (
        _capabilities_check(facts.attach),
        _seccomp_check(facts, system.container),
        _privileges_check(facts),
        _yama_check(facts, system),
        _dumpable_check(facts.attach),
        Check(_GROUP, "container", Status.OK, system.container.name),
        _namespace_check(facts.attach, system),
    )


def fix_of_denial(cause: DenialCause, facts: PermissionFacts, system: SystemFacts, advice: str) -> str:
    """Return the command that lets a sampler attach, else the advice of the error."""
    container = system.container
    match cause:
        case DenialCause.SECCOMP:
            return container.grant_ptrace() or advice
        case DenialCause.YAMA:
            return _lower_scope(facts.attach.yama_scope, system)
        case DenialCause.CAPABILITIES | DenialCause.OTHER_USER:
            to_root = facts.attach.sampler_user not in (0, None)
            return container.grant_ptrace(to_root=to_root) or advice
        case DenialCause.PID_NAMESPACE:
            return _fix_of_namespace(facts.attach, system)
        case DenialCause.NOT_IMPLEMENTED if container.kind == DOCKER:
            return container.run_with("--runtime=runc") or advice
        case DenialCause.SECURITY_MODULE:
            return container.run_with("--security-opt apparmor=unconfined") or advice
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
    costs = {PTRACE: _CANNOT_STOP, READ: _COSTS_OF_READ.get(facts.refusals.get(READ, ""), _CANNOT_READ)}
    cost = "; ".join(costs[call] for call in facts.refusals)
    fix = _permit_calls(facts.refusals, container)
    return Check(_GROUP, "seccomp", Status.SHORTFALL, f"{filters}; {refused} refused", cost, fix)


def _permit_calls(refusals: Mapping[str, str], container: ContainerFacts) -> str:
    """Return how to permit system calls: with Docker, with Kubernetes, or in a filter of another origin."""
    calls = tuple(refusals)
    in_filter = f"allow {' and '.join(calls)} in the filter (systemd: SystemCallFilter={' '.join(calls)})"
    return container.grant_ptrace() or in_filter


def _privileges_check(facts: PermissionFacts) -> Check:
    if facts.no_new_privs:
        found = "set: sudo does not work in this process; run fixes elsewhere"
        return Check(_GROUP, "no_new_privs", Status.OK, found)
    return Check(_GROUP, "no_new_privs", Status.OK, "not set")


def _has_yama(folder: Path) -> bool | None:
    """Return whether a folder of the kernel's settings has Yama's scope; None if that cannot be read."""
    try:
        names = os.listdir(folder)
    except OSError:
        return None
    if "yama" not in names:
        return False
    return True if text_of(folder / "yama/ptrace_scope").strip().isdecimal() else None


def _yama_check(facts: PermissionFacts, system: SystemFacts) -> Check:
    scope = facts.attach.yama_scope
    if facts.has_yama is None:
        return Check(_GROUP, "Yama", Status.OK, "unknown: /proc/sys/kernel cannot be read")
    if not facts.has_yama:
        return Check(_GROUP, "Yama", Status.OK, "not in this kernel")
    found = f"ptrace_scope {_YAMA_SCOPES.get(scope, scope)}"
    if scope < 2 or (scope == 2 and facts.attach.may_trace):
        return Check(_GROUP, "Yama", Status.OK, found)
    return Check(_GROUP, "Yama", Status.SHORTFALL, found, _CANNOT_READ, _lower_scope(scope, system))


def _lower_scope(scope: int, system: SystemFacts) -> str:
    if scope == 3:  # it cannot be lowered while the system runs
        return system.for_kernel(f"echo kernel.yama.ptrace_scope=1 | sudo tee {_YAMA_FILE} && sudo reboot")
    return system.for_kernel("sudo sysctl kernel.yama.ptrace_scope=1")


def _dumpable_check(facts: AttachFacts) -> Check:
    if facts.dumpable is not False:
        return Check(_GROUP, "dumpable", Status.OK, "yes" if facts.dumpable else "unknown")
    if facts.may_trace:
        return Check(_GROUP, "dumpable", Status.OK, "no; CAP_SYS_PTRACE permits samplers anyway")
    fix = "pass allow_dumpable=True to @profkit.profile() or profkit.profiled()"
    return Check(_GROUP, "dumpable", Status.SHORTFALL, "no", _CANNOT_READ, fix)


def _namespace_check(facts: AttachFacts, system: SystemFacts) -> Check:
    if facts.has_foreign_proc or facts.has_foreign_children:
        found, cost = (
            "/proc shows another PID namespace",
            "samplers cannot find the processes that they sample",
        )
        if not facts.has_foreign_proc:
            found = "child processes start in another PID namespace"
            cost = "samplers cannot find the program that starts them, and workers may not start"
        fix = _fix_of_namespace(facts, system)
        return Check(_GROUP, "PID namespace", Status.SHORTFALL, found, cost, fix)
    words = {None: "unknown", True: "its own, with its /proc", False: "the first one"}
    return Check(_GROUP, "PID namespace", Status.OK, words[system.container.own_pids])


def _fix_of_namespace(facts: AttachFacts, system: SystemFacts) -> str:
    if facts.has_foreign_children and not facts.has_foreign_proc:
        return _UNSHARED
    return system.as_root("sudo mount -t proc proc /proc")
