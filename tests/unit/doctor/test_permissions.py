"""Checks of permissions, from a folder that stands for /proc and from given refusals."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from profkit.doctor.permissions import (
    dumpable_check,
    fix_of_denial,
    namespace_check,
    permission_checks,
    seccomp_check,
)
from profkit.doctor.system import ContainerFacts, SystemFacts
from profkit.model.checkup import Check, Status
from profkit.samplers.attach_facts import PTRACE, READ, AttachFacts, attach_facts, try_calls
from profkit.samplers.ptrace import DenialCause
from tests.unit.samplers.proc_folders import write_proc

NOT_CONTAINED, DOCKER = SystemFacts(), SystemFacts(ContainerFacts("docker", "/.dockerenv"))
KUBERNETES, LXC, WSL = (SystemFacts(ContainerFacts(kind)) for kind in ("kubernetes", "lxc", "wsl"))
OK, SHORTFALL = Status.OK, Status.SHORTFALL
UNSHARED = "begin profiling before unshare(CLONE_NEWPID), or run `unshare --pid --fork --mount-proc COMMAND`"
ROOT = {"Uid": "0 0 0 0", "CapBnd": f"{1 << 19:x}"}
GRANT = "docker run --cap-add SYS_PTRACE …"


def checked(root: Path, system: SystemFacts = NOT_CONTAINED) -> dict[str, Check]:
    facts = attach_facts(os.getpid(), str(root / "proc"))
    return {check.name: check for check in permission_checks(facts, None, system, root)}


def checked_with(
    folder: Path, own: Mapping[str, str] | None = None, yama_scope: int | None = None,
    system: SystemFacts = NOT_CONTAINED,
) -> dict[str, Check]:  # fmt: skip
    write_proc(folder / "proc", {}, own or {}, yama_scope)
    return checked(folder, system)


def test_a_user_without_any_restriction(tmp_path: Path) -> None:
    (tmp_path / "proc" / "sys" / "kernel").mkdir(parents=True)
    checks = checked_with(tmp_path)
    assert {check.status for check in checks.values()} == {OK}
    assert checks["capabilities"].found == "no CAP_SYS_PTRACE, user 1000; programs of the same user need none"
    assert checks["no_new_privs"].found == "not set"
    assert checks["Yama"].found == "not in this kernel"
    assert checks["container"].found == "none found"
    assert checks["PID namespace"].found == "the first one"


def test_root_with_capabilities(tmp_path: Path) -> None:
    checks = checked_with(tmp_path, ROOT)
    assert checks["capabilities"].found == "CAP_SYS_PTRACE, user 0"


def test_no_new_privileges(tmp_path: Path) -> None:
    check = checked_with(tmp_path, {"NoNewPrivs": "1"})["no_new_privs"]
    assert check.status is OK
    assert "sudo does not work" in check.found


def test_a_yama_that_cannot_be_seen(tmp_path: Path) -> None:
    without = checked_with(tmp_path)["Yama"]
    assert (without.status, without.found) == (OK, "unknown: /proc/sys/kernel cannot be read")
    (tmp_path / "proc" / "sys" / "kernel" / "yama" / "ptrace_scope").mkdir(parents=True)
    assert checked(tmp_path)["Yama"].found.startswith("unknown")


@pytest.mark.parametrize(
    ("scope", "own", "system", "status", "fix"),
    [
        (0, {}, NOT_CONTAINED, OK, ""),
        (1, {}, NOT_CONTAINED, OK, ""),
        (2, {}, NOT_CONTAINED, SHORTFALL, "sudo sysctl kernel.yama.ptrace_scope=1"),
        (3, {}, NOT_CONTAINED, SHORTFALL, "echo … && sudo reboot"),
        (2, ROOT, NOT_CONTAINED, OK, ""),
        (3, ROOT, NOT_CONTAINED, SHORTFALL, "echo … && sudo reboot"),
        # In a container, it is that of the host.
        (2, {}, DOCKER, SHORTFALL, "on the host: sudo sysctl kernel.yama.ptrace_scope=1"),
        (3, {}, DOCKER, SHORTFALL, "on the host: echo … && sudo reboot"),
    ],
)
def test_yama_scopes(
    scope: int, own: Mapping[str, str], system: SystemFacts, status: Status, fix: str, tmp_path: Path
) -> None:
    check = checked_with(tmp_path, own, scope, system)["Yama"]
    begin, _, end = fix.partition("…")
    assert check.status is status
    assert check.found.startswith(f"ptrace_scope {scope}: ")
    assert check.fix.startswith(begin)
    assert check.fix.endswith(end)
    assert "…" in fix or check.fix == fix


def test_a_process_that_is_not_dumpable(tmp_path: Path) -> None:
    user = os.geteuid() or 1000
    write_proc(tmp_path / "proc", {}, {"Uid": f"{user} {user} {user} {user}"})
    maps = tmp_path / "proc" / "self" / "maps"
    maps.touch()
    os.chown(maps, 0, -1)
    check = checked(tmp_path)["dumpable"]
    assert (check.status, check.found) == (SHORTFALL, "no")
    assert check.fix.startswith("pass allow_dumpable=True to ")
    assert dumpable_check(AttachFacts(dumpable=False, may_trace=True)).status is OK
    assert dumpable_check(AttachFacts(dumpable=None)).found == "unknown"


@pytest.mark.parametrize(
    ("refusals", "found", "cost"),
    [
        ({PTRACE: "EPERM"}, "ptrace (EPERM)", "py-spy cannot stop the program"),
        ({READ: "ENOSYS"}, "process_vm_readv (ENOSYS)", "samplers read /proc/PID/mem instead, if they may"),
        (
            {READ: "EPERM"}, "process_vm_readv (EPERM)",
            "CPython's own reader (3.14 and later) cannot be used; py-spy reads /proc/PID/mem if it may",
        ),
        (
            {PTRACE: "SIGSYS", READ: "SIGSYS"}, "ptrace (SIGSYS) and process_vm_readv (SIGSYS)",
            "(blocking=True, native=True); samplers outside the program cannot read it",
        ),
    ],
)  # fmt: skip
def test_calls_that_filters_refuse(refusals: Mapping[str, str], found: str, cost: str) -> None:
    check = seccomp_check(1, refusals, DOCKER.container)
    assert (check.status, check.found, check.fix) == (SHORTFALL, f"1 filter; {found} refused", GRANT)
    assert cost in check.cost
    for system in (NOT_CONTAINED, LXC, WSL):
        fix = seccomp_check(1, refusals, system.container).fix
        assert fix.startswith(f"allow {' and '.join(refusals)} in the filter")
        assert f"SystemCallFilter={' '.join(refusals)})" in fix


def test_filters_that_refuse_nothing() -> None:
    untried = seccomp_check(2, None, ContainerFacts())
    assert (untried.status, untried.found) == (OK, "2 filters; system calls were not tried")
    tried = seccomp_check(0, {}, ContainerFacts())
    assert (tried.status, tried.found) == (OK, "no filter; ptrace and process_vm_readv are allowed")


def test_the_facts_of_this_process(tmp_path: Path) -> None:
    results = try_calls(os.getpid(), tmp_path / "log")
    assert results is not None
    checks = permission_checks(attach_facts(os.getpid()), results, NOT_CONTAINED)
    assert checks[1].status is OK


@pytest.mark.parametrize(
    ("own", "of_children", "status", "found", "fix"),
    [
        ("500 1", "pid:[1]", SHORTFALL, "/proc shows another PID namespace", "sudo mount -t proc proc /proc"),
        ("500", "pid:[2]", SHORTFALL, "child processes start in another PID namespace", UNSHARED),
        ("500", "pid:[1]", OK, "its own, with its /proc", ""),
    ],
)
def test_pid_namespaces(
    own: str, of_children: str, status: Status, found: str, fix: str, tmp_path: Path
) -> None:
    write_proc(tmp_path / "proc", {}, {"NSpid": own})
    links = tmp_path / "proc" / "self" / "ns"
    links.mkdir()
    (links / "pid").symlink_to("pid:[1]")
    (links / "pid_for_children").symlink_to(of_children)
    facts, system = (
        attach_facts(os.getpid(), str(links.parents[1])),
        SystemFacts(ContainerFacts(own_pids=True)),
    )
    check = namespace_check(facts, system)
    assert (check.status, check.found, check.fix) == (status, found, fix)
    if fix:
        assert fix_of_denial(DenialCause.PID_NAMESPACE, facts, system, ADVICE) == fix


ADVICE = "the error's advice"
YAMA = "sudo sysctl kernel.yama.ptrace_scope=1"
FIXES = {
    DenialCause.SECCOMP: {DOCKER: GRANT, LXC: ADVICE, NOT_CONTAINED: ADVICE},
    DenialCause.CAPABILITIES: {DOCKER: GRANT, NOT_CONTAINED: ADVICE, WSL: ADVICE},
    DenialCause.OTHER_USER: {DOCKER: GRANT},
    DenialCause.YAMA: {NOT_CONTAINED: YAMA, DOCKER: f"on the host: {YAMA}", WSL: YAMA},
    DenialCause.PID_NAMESPACE: {DOCKER: "sudo mount -t proc proc /proc"},
    DenialCause.NOT_IMPLEMENTED: {
        DOCKER: "docker run --runtime=runc …", KUBERNETES: ADVICE, NOT_CONTAINED: ADVICE,
    },
    DenialCause.SECURITY_MODULE: {
        DOCKER: "docker run --security-opt apparmor=unconfined …", KUBERNETES: ADVICE, NOT_CONTAINED: ADVICE,
    },
    DenialCause.NOT_DUMPABLE: {DOCKER: ADVICE},
    DenialCause.TRACED: {DOCKER: ADVICE},
}  # fmt: skip


@pytest.mark.parametrize(
    ("cause", "system", "fix"),
    [(cause, system, fix) for cause, fixes in FIXES.items() for system, fix in fixes.items()],
)
def test_fixes_of_denials(cause: DenialCause, system: SystemFacts, fix: str) -> None:
    facts = AttachFacts(yama_scope=2)
    assert fix_of_denial(cause, facts, system, ADVICE) == fix


@pytest.mark.parametrize("cause", [DenialCause.CAPABILITIES, DenialCause.OTHER_USER])
@pytest.mark.parametrize("user", [0, 1000])
def test_a_capability_is_used_by_root_only(cause: DenialCause, user: int) -> None:
    facts = AttachFacts(sampler_user=user)
    to_root = " --user root" if user else ""
    fix = fix_of_denial(cause, facts, DOCKER, ADVICE)
    assert fix == f"docker run --cap-add SYS_PTRACE{to_root} …"
    assert ("runAsUser: 0" in fix_of_denial(cause, facts, KUBERNETES, "")) is bool(user)
