"""Checks of permissions, from a folder that stands for /proc and from given refusals."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from profkit.doctor.container import ContainerFacts
from profkit.doctor.permissions import PermissionFacts, fix_of_denial, permission_checks, permission_facts
from profkit.model.checkup import Check, Status
from profkit.samplers.attach_facts import PTRACE, READ, AttachFacts
from profkit.samplers.ptrace import DenialCause
from tests.unit.samplers.proc_folders import write_proc

NOT_CONTAINED, DOCKER = ContainerFacts(), ContainerFacts("docker", "/.dockerenv")
GRANT = "docker run --cap-add SYS_PTRACE …"


def facts_of(
    folder: Path, own: Mapping[str, str] | None = None, yama_scope: int | None = None
) -> PermissionFacts:
    write_proc(folder / "proc", {}, own or {}, yama_scope)
    return permission_facts(folder, None)


def checked(facts: PermissionFacts, container: ContainerFacts = NOT_CONTAINED) -> dict[str, Check]:
    return {check.name: check for check in permission_checks(facts, container)}


def test_a_user_without_any_restriction(tmp_path: Path) -> None:
    checks = checked(facts_of(tmp_path))
    assert {check.status for check in checks.values()} == {Status.OK}
    assert checks["capabilities"].found == "no CAP_SYS_PTRACE, user 1000; programs of the same user need none"
    assert checks["no_new_privs"].found == "not set"
    assert checks["Yama"].found == "not in this kernel"


def test_root_with_capabilities(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, {"Uid": "0 0 0 0", "CapBnd": f"{1 << 19:x}"})
    assert checked(facts)["capabilities"].found == "CAP_SYS_PTRACE, user 0"


def test_no_new_privileges(tmp_path: Path) -> None:
    check = checked(facts_of(tmp_path, {"NoNewPrivs": "1"}))["no_new_privs"]
    assert check.status is Status.OK
    assert "sudo does not work" in check.found


@pytest.mark.parametrize("scope", [0, 1])
def test_yama_scopes_that_permit_samplers(scope: int, tmp_path: Path) -> None:
    check = checked(facts_of(tmp_path, yama_scope=scope))["Yama"]
    assert check.status is Status.OK
    assert check.found.startswith(f"ptrace_scope {scope}: ")


def test_yama_scopes_that_do_not(tmp_path: Path) -> None:
    check = checked(facts_of(tmp_path / "2", yama_scope=2))["Yama"]
    assert (check.status, check.fix) == (Status.SHORTFALL, "sudo sysctl kernel.yama.ptrace_scope=1")
    check = checked(facts_of(tmp_path / "3", yama_scope=3))["Yama"]
    assert check.status is Status.SHORTFALL
    assert check.fix.endswith("&& sudo reboot")
    root = {"Uid": "0 0 0 0", "CapBnd": f"{1 << 19:x}"}
    assert checked(facts_of(tmp_path / "root", root, yama_scope=2))["Yama"].status is Status.OK
    assert checked(facts_of(tmp_path / "root3", root, yama_scope=3))["Yama"].status is Status.SHORTFALL


def test_a_process_that_is_not_dumpable(tmp_path: Path) -> None:
    user = os.geteuid() or 1000
    write_proc(tmp_path / "proc", {}, {"Uid": f"{user} {user} {user} {user}"})
    maps = tmp_path / "proc" / "self" / "maps"
    maps.touch()
    os.chown(maps, 0, -1)
    check = checked(permission_facts(tmp_path, None))["dumpable"]
    assert (check.status, check.found) == (Status.SHORTFALL, "no")
    assert "prctl(PR_SET_DUMPABLE, 1)" in check.fix
    may = PermissionFacts(AttachFacts(dumpable=False, may_trace=True))
    assert checked(may)["dumpable"].status is Status.OK
    assert checked(PermissionFacts(AttachFacts(dumpable=None)))["dumpable"].found == "unknown"


@pytest.mark.parametrize(
    ("refusals", "found", "cost"),
    [
        ({PTRACE: "EPERM"}, "1 filter; ptrace (EPERM) refused", "py-spy cannot stop the program"),
        ({READ: "ENOSYS"}, "1 filter; process_vm_readv (ENOSYS) refused", "/proc/PID/mem instead"),
        (
            {PTRACE: "SIGSYS", READ: "SIGSYS"},
            "1 filter; ptrace (SIGSYS) and process_vm_readv (SIGSYS) refused",
            "may be wrong; CPython's own reader",
        ),
    ],
)
def test_calls_that_filters_refuse(refusals: Mapping[str, str], found: str, cost: str) -> None:
    facts = PermissionFacts(AttachFacts(filters=1), refusals=refusals)
    check = checked(facts, DOCKER)["seccomp"]
    assert (check.status, check.found, check.fix) == (Status.SHORTFALL, found, GRANT)
    assert cost in check.cost
    assert f"SystemCallFilter={' '.join(refusals)} " in checked(facts)["seccomp"].fix


def test_filters_that_refuse_nothing() -> None:
    untried = checked(PermissionFacts(AttachFacts(filters=2)))["seccomp"]
    assert (untried.status, untried.found) == (Status.OK, "2 filters; system calls were not tried")
    tried = checked(PermissionFacts(AttachFacts(), refusals={}))["seccomp"]
    assert (tried.status, tried.found) == (Status.OK, "no filter; ptrace and process_vm_readv are allowed")


def test_the_facts_of_this_process(tmp_path: Path) -> None:
    facts = permission_facts(Path("/"), tmp_path / "log")
    assert facts.refusals == {}
    assert checked(facts)["seccomp"].status is Status.OK


@pytest.mark.parametrize(
    ("cause", "container", "fix"),
    [
        (DenialCause.SECCOMP, DOCKER, GRANT),
        (DenialCause.CAPABILITIES, DOCKER, GRANT),
        (DenialCause.CAPABILITIES, NOT_CONTAINED, "the error's advice"),
        (DenialCause.OTHER_USER, DOCKER, GRANT),
        (DenialCause.YAMA, DOCKER, "sudo sysctl kernel.yama.ptrace_scope=1"),
        (DenialCause.PID_NAMESPACE, DOCKER, "sudo mount -t proc proc /proc"),
        (DenialCause.NOT_IMPLEMENTED, DOCKER, "docker run --runtime=runc …"),
        (DenialCause.SECURITY_MODULE, DOCKER, "docker run --security-opt apparmor=unconfined …"),
        (DenialCause.SECURITY_MODULE, NOT_CONTAINED, "the error's advice"),
        (DenialCause.TRACED, DOCKER, "the error's advice"),
    ],
)
def test_fixes_of_denials(cause: DenialCause, container: ContainerFacts, fix: str) -> None:
    facts = PermissionFacts(AttachFacts(yama_scope=2), refusals={PTRACE: "EPERM"})
    assert fix_of_denial(cause, facts, container, "the error's advice") == fix
