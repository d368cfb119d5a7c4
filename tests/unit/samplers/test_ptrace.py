"""Causes of denials: from facts, and from a folder that stands for /proc."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from errno import EACCES, EFAULT, ENOSYS, EPERM, ESRCH
from pathlib import Path

import pytest

from profkit.samplers import base
from profkit.samplers.attach_facts import AttachFacts, CallResults
from profkit.samplers.ptrace import Denial, DenialCause, diagnose, explain
from tests.unit.samplers.proc_folders import PID, write_proc

SIGSYS = -31
USER = AttachFacts(users=(1000,) * 3, groups=(1000,) * 3, sampler_user=1000, sampler_group=1000)
ROOT = AttachFacts(users=(0,) * 3, groups=(0,) * 3, sampler_user=0, sampler_group=0, may_trace=True)
TRACED = replace(USER, tracer_pid=7)
OPEN = CallResults(ptrace=ESRCH, read_self=0, read_target=EFAULT, mem_file=0)
CLOSED = replace(OPEN, read_target=EPERM, mem_file=EACCES)


def abilities(denial: Denial) -> tuple[bool, bool]:
    """Return whether a sampler may stop the process, and read it."""
    return base.PTRACE not in denial.denied, base.READ not in denial.denied


@pytest.mark.parametrize(
    ("given", "cause", "words", "fix"),
    [
        (replace(USER, has_foreign_proc=True), "pid namespace", "/proc shows another", "mount -t proc"),
        (replace(USER, has_foreign_children=True), "pid namespace", "start in another", "before it calls"),
        (replace(ROOT, yama_scope=3), "yama", "ptrace_scope is 3", "reboot"),
        (replace(USER, yama_scope=2), "yama", "ptrace_scope is 2", "sysctl kernel.yama.ptrace_scope=1"),
        (replace(USER, yama_scope=1), "yama", "ptrace_scope is 1", "sysctl kernel.yama.ptrace_scope=0"),
        (replace(USER, sampler_user=7), "other user", "user 1000 and group 1000", "the same for both"),
        (replace(USER, sampler_group=7), "other user", "user 1000 and group 7", "the same for both"),
        (replace(USER, users=(1000, 7, 1000)), "other user", "users or groups differ", "os.setresuid"),
        (replace(USER, dumpable=False), "not dumpable", "not dumpable", "pass allow_dumpable=True"),
        (replace(USER, missing_capabilities=0x400), "capabilities", "--decode=400", "--cap-add SYS_PTRACE"),
        (replace(USER, dumpable=None), "not dumpable", "not dumpable", "--cap-add SYS_PTRACE and user root"),
        (USER, "security module", "a security module", "apparmor=unconfined"),
        (ROOT, "security module", "a security module", "setsebool deny_ptrace off"),
    ],
)
def test_what_denies_any_access(given: AttachFacts, cause: str, words: str, fix: str):
    for results in (None, CLOSED):
        denial = explain(given, results)
        assert denial.cause is DenialCause(cause)
        assert words in denial.cause_and_fix
        assert fix in denial.cause_and_fix
        assert abilities(denial) == (False, False)


@pytest.mark.parametrize(
    ("answer", "name", "file_helps"),
    [(EPERM, "EPERM", True), (ENOSYS, "ENOSYS", True), (SIGSYS, "SIGSYS", False)],
)
@pytest.mark.parametrize("facts", [USER, ROOT])
def test_which_call_a_filter_refuses(facts: AttachFacts, answer: int, name: str, file_helps: bool):
    filtered = replace(facts, filters=1)
    no_ptrace = explain(filtered, replace(OPEN, ptrace=answer))
    assert no_ptrace.cause is DenialCause.SECCOMP
    assert f"refuses ptrace ({name}): allow ptrace (Docker: --cap-add SYS_PTRACE" in no_ptrace.cause_and_fix
    assert no_ptrace.cause_and_fix.endswith("SystemCallFilter=ptrace)")
    assert abilities(no_ptrace) == (False, True)

    no_reads = explain(filtered, replace(OPEN, read_self=answer, read_target=answer))
    assert no_reads.refusals == {"process_vm_readv": name}
    assert f"refuses process_vm_readv ({name}): allow" in no_reads.cause_and_fix
    assert abilities(no_reads) == (True, file_helps)

    neither = explain(filtered, replace(OPEN, ptrace=answer, read_self=answer, read_target=answer))
    assert neither.refusals == {"ptrace": name, "process_vm_readv": name}
    assert neither.cause_and_fix.endswith("SystemCallFilter=ptrace process_vm_readv)")
    assert abilities(neither) == (False, file_helps)


@pytest.mark.parametrize(
    ("facts", "results", "cause", "words", "able"),
    [
        (
            replace(USER, filters=2), None, DenialCause.SECCOMP,
            "refuses ptrace or process_vm_readv: allow ptrace and process_vm_readv", (False, True),
        ),
        (
            USER, replace(OPEN, ptrace=ENOSYS), DenialCause.NOT_IMPLEMENTED,
            "does not implement ptrace (ENOSYS)", (False, True),
        ),
        # A refusal without a filter.
        (ROOT, replace(OPEN, ptrace=EPERM), DenialCause.SECURITY_MODULE, "security module", (False, True)),
        # A tracer leaves memory readable, and does not hide another cause.
        (TRACED, None, DenialCause.TRACED, "process 7 is tracing it: end that debugger", (False, True)),
        (TRACED, OPEN, DenialCause.TRACED, "process 7 is tracing it: end that debugger", (False, True)),
        (replace(TRACED, dumpable=False), None, DenialCause.NOT_DUMPABLE, "not dumpable", (False, False)),
        (
            replace(TRACED, filters=1), replace(OPEN, ptrace=EPERM), DenialCause.SECCOMP,
            "refuses ptrace (EPERM)", (False, True),
        ),
        # Results overrule facts.
        (replace(USER, dumpable=False), OPEN, DenialCause.UNKNOWN, "try again", (True, True)),
    ],
)  # fmt: skip
def test_other_causes(
    facts: AttachFacts, results: CallResults | None, cause: DenialCause, words: str, able: tuple[bool, bool]
):
    denial = explain(facts, results)
    assert denial.cause is cause
    assert words in denial.cause_and_fix
    assert abilities(denial) == able


def test_a_missing_permission_comes_before_refused_calls():
    refused = replace(CLOSED, ptrace=EPERM, read_self=EPERM)
    denial = explain(replace(USER, dumpable=False, filters=1), refused)
    assert denial.cause is DenialCause.NOT_DUMPABLE
    assert denial.refusals == {"ptrace": "EPERM", "process_vm_readv": "EPERM"}


def test_causes_in_a_proc_folder(tmp_path: Path):
    cases: dict[str, tuple[dict[str, str], dict[str, str], int | None]] = {
        "traced": ({"TracerPid": "7"}, {}, None),
        "seccomp": ({}, {"Seccomp": "2", "Seccomp_filters": "1"}, None),
        "yama": ({}, {}, 1),
        "other user": ({"Uid": "8 8 8 8"}, {}, 0),
        "capabilities": ({"CapPrm": "400"}, {}, 0),
        "pid namespace": ({}, {"NSpid": "500 1"}, 0),
        "ended": ({"State": "Z (zombie)"}, {}, 0),
        # A process in a container, seen from outside; the sampler is root with all capabilities.
        "security module": ({"NSpid": "500 1"}, {"Uid": "0 0 0 0", "CapBnd": "1ffffffffff"}, 2),
    }
    for cause, (target, own, yama_scope) in cases.items():
        proc = write_proc(tmp_path / cause, target, own, yama_scope)
        assert diagnose(PID, proc=proc).cause is DenialCause(cause), cause


def test_a_process_that_has_ended():
    with subprocess.Popen(["/bin/true"]) as child:
        pass
    assert f"process {child.pid} has ended: let" in diagnose(child.pid).cause_and_fix
    assert abilities(diagnose(child.pid)) == (False, False)


def test_this_process_is_open(tmp_path: Path):
    denial = diagnose(os.getpid(), tmp_path / "log")
    assert denial.cause is DenialCause.UNKNOWN
    assert abilities(denial) == (True, True)
