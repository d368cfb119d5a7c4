from __future__ import annotations

import os
import subprocess

import pytest

from profkit.process import procfs
from profkit.process.prctl import ptrace_scope
from profkit.samplers.ptrace import AttachFacts, attach_facts, cause_and_fix, fix_for


def facts(
    tracer_pid: int = 0, yama_scope: int = 0, *, dumpable: bool = True, may_trace: bool = False
) -> AttachFacts:
    return AttachFacts(tracer_pid, yama_scope, dumpable, may_trace)


@pytest.mark.parametrize(
    ("given", "cause", "advice"),
    [
        (facts(tracer_pid=7, dumpable=False), "process 7 is tracing it", "end that debugger"),
        (facts(yama_scope=3, may_trace=True), "ptrace_scope is 3", "reboot"),
        (facts(may_trace=True), "seccomp", "allow them"),
        (facts(dumpable=False), "not dumpable", "--cap-add SYS_PTRACE"),
        (facts(yama_scope=2), "ptrace_scope is 2", "sysctl kernel.yama.ptrace_scope=1"),
        (facts(yama_scope=1), "ptrace_scope is 1", "sysctl kernel.yama.ptrace_scope=0"),
        (facts(), "same user", "--cap-add SYS_PTRACE"),
    ],
)
def test_each_cause_has_its_fix(given: AttachFacts, cause: str, advice: str):
    text = cause_and_fix(given)
    assert cause in text
    assert advice in text


def test_the_facts_of_this_process():
    seen = attach_facts(os.getpid())
    assert seen.tracer_pid == 0
    assert seen.dumpable
    assert seen.yama_scope == ptrace_scope()
    assert seen.may_trace == bool(int(procfs.status(os.getpid())["CapEff"], 16) & 1 << 19)


def test_a_process_that_has_ended():
    with subprocess.Popen(["/bin/true"]) as child:
        pass
    assert f"process {child.pid} has ended: let" in fix_for(child.pid)
