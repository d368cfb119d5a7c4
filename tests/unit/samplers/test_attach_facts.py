"""Facts about a process and its sampler: from a folder that stands for /proc, and of this process."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from profkit.process import procfs
from profkit.process.prctl import ptrace_scope
from profkit.samplers.attach_facts import AttachFacts, CallResults, attach_facts, has_ended, try_calls
from tests.unit.samplers.proc_folders import PID, write_proc

ALL = "000001ffffffffff"
NO_PTRACE = f"{0x1FF_FFFF_FFFF & ~(1 << 19):x}"
ROOT = {"Uid": "0 0 0 0", "Gid": "0 0 0 0"}


def facts(
    folder: Path, target: Mapping[str, str], own: Mapping[str, str], yama_scope: int | None = None
) -> AttachFacts:
    return attach_facts(PID, write_proc(folder / "proc", target, own, yama_scope))


def test_facts_of_the_process_and_of_its_sampler(tmp_path: Path):
    target = {"TracerPid": "7", "Uid": "1 2 3 4", "Gid": "5 6 7 8"}
    seen = facts(tmp_path, target, {"Seccomp": "2", "Seccomp_filters": "3"}, yama_scope=2)
    assert seen == AttachFacts(
        tracer_pid=7, users=(1, 2, 3), groups=(5, 6, 7), sampler_user=1000, sampler_group=1000,
        filters=3, yama_scope=2,
    )  # fmt: skip


def test_a_kernel_that_does_not_count_filters(tmp_path: Path):
    proc = write_proc(tmp_path, {}, {"Seccomp": "2"})
    status = tmp_path / "self" / "status"
    status.write_text(status.read_text().replace("Seccomp_filters:\t0\n", ""))
    assert attach_facts(PID, proc).filters == 1


@pytest.mark.parametrize(
    ("own", "may_trace"),
    [
        ({**ROOT, "CapBnd": ALL}, True),
        ({**ROOT, "CapBnd": NO_PTRACE}, False),
        ({**ROOT, "CapBnd": NO_PTRACE, "CapInh": "80000"}, True),
        ({**ROOT, "CapBnd": ALL, "NoNewPrivs": "1"}, False),
        ({**ROOT, "CapBnd": ALL, "NoNewPrivs": "1", "CapPrm": ALL}, True),
        ({"Uid": "0 1000 1000 1000", "CapBnd": ALL}, False),
        ({"Uid": "1000 0 1000 1000", "CapBnd": ALL}, True),
        ({"CapBnd": ALL, "CapPrm": ALL, "CapEff": ALL}, False),
        ({"CapAmb": "80000"}, True),
    ],
)
def test_capabilities_that_a_sampler_gets(own: Mapping[str, str], may_trace: bool, tmp_path: Path):
    assert facts(tmp_path, {}, own).may_trace is may_trace


def test_capabilities_that_a_sampler_lacks(tmp_path: Path):
    assert facts(tmp_path / "a", {"CapPrm": "c00"}, {"CapAmb": "800"}).missing_capabilities == 0x400
    assert facts(tmp_path / "b", {"CapPrm": ALL}, {**ROOT, "CapBnd": ALL}).missing_capabilities == 0


def test_whether_another_process_is_dumpable(tmp_path: Path):
    user = os.geteuid() or 1000
    for owner, dumpable in ((user, True), (0, False)):
        proc = write_proc(tmp_path / str(owner), {"Uid": f"{user} {user} {user} {user}"}, {})
        maps = Path(proc, str(PID), "maps")
        maps.touch()
        os.chown(maps, owner, -1)
        assert attach_facts(PID, proc).dumpable is dumpable
    assert facts(tmp_path, ROOT, {}).dumpable is None


def test_pid_namespaces(tmp_path: Path):
    proc = write_proc(tmp_path / "proc", {"NSpid": "500 1"}, {})
    assert not attach_facts(PID, proc).has_foreign_proc
    namespaces = Path(proc, "self", "ns")
    namespaces.mkdir()
    (namespaces / "pid").symlink_to("pid:[1]")
    assert not attach_facts(PID, proc).has_foreign_children
    (namespaces / "pid_for_children").symlink_to("pid:[2]")
    assert attach_facts(PID, proc).has_foreign_children
    assert facts(tmp_path / "inside", {}, {"NSpid": "500 1"}).has_foreign_proc


def test_the_facts_of_this_process():
    seen = attach_facts(os.getpid())
    assert seen.tracer_pid == 0
    assert seen.dumpable
    assert seen.users == os.getresuid()
    assert seen.groups == os.getresgid()
    assert (seen.sampler_user, seen.sampler_group) == (os.getuid(), os.getgid())
    assert seen.filters == int(procfs.status("self")["Seccomp_filters"])
    assert not seen.has_foreign_proc
    assert not seen.has_foreign_children
    assert seen.yama_scope == ptrace_scope()


def test_what_forbids_nothing_if_the_process_has_ended(tmp_path: Path):
    own = attach_facts(os.getpid())
    seen = attach_facts(PID)
    assert seen == AttachFacts(
        sampler_user=own.sampler_user, sampler_group=own.sampler_group, may_trace=own.may_trace,
        filters=own.filters, yama_scope=own.yama_scope,
    )  # fmt: skip
    assert has_ended(PID)
    assert has_ended(PID, write_proc(tmp_path, {"State": "X (dead)"}, {}))
    assert not has_ended(os.getpid(), str(tmp_path / "empty"))


def test_calls_on_this_process(tmp_path: Path):
    results = try_calls(os.getpid(), tmp_path / "log")
    assert results is not None
    assert results.refusals() == {}
    assert results.has_access()


def test_names_of_refusals():
    results = CallResults(ptrace=-31, read_self=999, read_target=1, mem_file=2)
    assert results.refusals() == {"ptrace": "SIGSYS", "process_vm_readv": "999"}
    assert not results.has_access()
    assert not results.may_read_mem_file()


def test_calls_cannot_be_tried_without_a_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sys.executable", str(tmp_path / "python3"))
    assert try_calls(os.getpid(), tmp_path / "log") is None
    monkeypatch.setattr("sys.executable", "/opt/server")
    assert try_calls(os.getpid(), tmp_path / "log") is None


def test_calls_cannot_be_tried_without_a_log(tmp_path: Path):
    assert try_calls(os.getpid(), tmp_path / "missing" / "log") is None
