"""Checks of a sampler's permissions: capabilities, seccomp, no_new_privs, Yama, dumpable, containers."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from profkit.doctor.system import DOCKER, ContainerFacts, SystemFacts, text_of
from profkit.model.checkup import Check, Group, Status
from profkit.process import procfs
from profkit.samplers.attach_facts import PTRACE, READ, AttachFacts, CallResults
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


def permission_checks(
    attach: AttachFacts, results: CallResults | None, system: SystemFacts, root: Path = Path("/")
) -> tuple[Check, ...]:
    """Return the checks of this process as the one to be sampled, and of a sampler that it starts.

    `results` are those of the system calls of samplers, None if they were not tried. A refusal is a shortfall
    here, since trials show whether a sampler works anyway.
    """
    refusals = None if results is None else results.refusals()
    return (
        capabilities_check(attach),
        seccomp_check(attach.filters, refusals, system.container),
        privileges_check(root / "proc"),
        yama_check(attach, system, root / "proc/sys/kernel"),
        dumpable_check(attach),
        Check(_GROUP, "container", Status.OK, system.container.name),
        namespace_check(attach, system),
    )


def fix_of_denial(cause: DenialCause, facts: AttachFacts, system: SystemFacts, advice: str) -> str:
    """Return the command that lets a sampler attach, else the advice of the error."""
    container = system.container
    match cause:
        case DenialCause.SECCOMP:
            return container.grant_ptrace() or advice
        case DenialCause.YAMA:
            return _lower_scope(facts.yama_scope, system)
        case DenialCause.CAPABILITIES | DenialCause.OTHER_USER:
            to_root = facts.sampler_user not in (0, None)
            return container.grant_ptrace(to_root=to_root) or advice
        case DenialCause.PID_NAMESPACE:
            return _fix_of_namespace(facts, system)
        case DenialCause.NOT_IMPLEMENTED if container.kind == DOCKER:
            return container.run_with("--runtime=runc") or advice
        case DenialCause.SECURITY_MODULE:
            return container.run_with("--security-opt apparmor=unconfined") or advice
        case _:
            return advice


def capabilities_check(facts: AttachFacts) -> Check:
    """Return the check of the capabilities of samplers."""
    user = "" if facts.sampler_user is None else f", user {facts.sampler_user}"
    if facts.may_trace:
        return Check(_GROUP, "capabilities", Status.OK, f"CAP_SYS_PTRACE{user}")
    found = f"no CAP_SYS_PTRACE{user}; programs of the same user need none"
    return Check(_GROUP, "capabilities", Status.OK, found)


def seccomp_check(number: int, refusals: Mapping[str, str] | None, container: ContainerFacts) -> Check:
    """Return the check of seccomp filters, by their number and the system calls that they refuse."""
    filters = "no filter" if not number else f"{number} filter{'' if number == 1 else 's'}"
    if refusals is None:
        return Check(_GROUP, "seccomp", Status.OK, f"{filters}; system calls were not tried")
    if not refusals:
        return Check(_GROUP, "seccomp", Status.OK, f"{filters}; {PTRACE} and {READ} are allowed")
    refused = " and ".join(f"{call} ({failure})" for call, failure in refusals.items())
    costs = {PTRACE: _CANNOT_STOP, READ: _COSTS_OF_READ.get(refusals.get(READ, ""), _CANNOT_READ)}
    cost = "; ".join(costs[call] for call in refusals)
    fix = container.grant_ptrace() or (
        f"allow {' and '.join(refusals)} in the filter (systemd: SystemCallFilter={' '.join(refusals)})"
    )
    return Check(_GROUP, "seccomp", Status.SHORTFALL, f"{filters}; {refused} refused", cost, fix)


def privileges_check(proc: Path) -> Check:
    """Return the check whether this process can gain privileges."""
    is_set = procfs.status("self", str(proc)).get("NoNewPrivs") == "1"
    found = "set: sudo does not work in this process; run fixes elsewhere" if is_set else "not set"
    return Check(_GROUP, "no_new_privs", Status.OK, found)


def yama_check(facts: AttachFacts, system: SystemFacts, folder: Path) -> Check:
    """Return the check of Yama; `folder` has the kernel's settings."""
    try:
        has_yama = "yama" in os.listdir(folder)
    except OSError:
        has_yama = None
    if has_yama is False:
        return Check(_GROUP, "Yama", Status.OK, "not in this kernel")
    if not has_yama or not text_of(folder / "yama/ptrace_scope").strip().isdecimal():
        return Check(_GROUP, "Yama", Status.OK, "unknown: /proc/sys/kernel cannot be read")
    scope = facts.yama_scope
    found = f"ptrace_scope {_YAMA_SCOPES.get(scope, scope)}"
    if scope < 2 or (scope == 2 and facts.may_trace):
        return Check(_GROUP, "Yama", Status.OK, found)
    return Check(_GROUP, "Yama", Status.SHORTFALL, found, _CANNOT_READ, _lower_scope(scope, system))


def _lower_scope(scope: int, system: SystemFacts) -> str:
    if scope == 3:  # it cannot be lowered while the system runs
        return system.for_kernel(f"echo kernel.yama.ptrace_scope=1 | sudo tee {_YAMA_FILE} && sudo reboot")
    return system.for_kernel("sudo sysctl kernel.yama.ptrace_scope=1")


def dumpable_check(facts: AttachFacts) -> Check:
    """Return the check whether processes of the same user may read this one."""
    if facts.dumpable is not False:
        return Check(_GROUP, "dumpable", Status.OK, "yes" if facts.dumpable else "unknown")
    if facts.may_trace:
        return Check(_GROUP, "dumpable", Status.OK, "no; CAP_SYS_PTRACE permits samplers anyway")
    fix = "pass allow_dumpable=True to @profkit.profile() or profkit.profiled()"
    return Check(_GROUP, "dumpable", Status.SHORTFALL, "no", _CANNOT_READ, fix)


def namespace_check(facts: AttachFacts, system: SystemFacts) -> Check:
    """Return the check of the PID namespaces of this process, of /proc and of children."""
    if facts.has_foreign_proc or facts.has_foreign_children:
        found = "/proc shows another PID namespace"
        cost = "samplers cannot find the processes that they sample"
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
