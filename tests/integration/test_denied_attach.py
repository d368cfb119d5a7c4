"""Diagnosis of attaches that the kernel denies: without capabilities, under seccomp filters, while traced."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from profkit.samplers.ptrace import DenialCause
from tests.integration.targets import run_attaching
from tests.support.seccomp_filters import PTRACE, READ, launcher

DIAGNOSE = """
import dataclasses, json, os, sys, time
from pathlib import Path
from profkit.process.prctl import set_dumpable
from profkit.samplers.ptrace import diagnose
{before}
started_s = time.monotonic()
denial = diagnose(int(sys.argv[2]) or os.getpid(), Path(sys.argv[1], "log"))
duration_s = time.monotonic() - started_s
{after}
print(json.dumps([denial.cause.value, denial.cause_and_fix, dict(denial.refusals),
                  "ptrace" not in denial.denied, "read" not in denial.denied, duration_s]))
"""
TRACED = """
import subprocess
tracer = subprocess.Popen([sys.executable, "-c", '''
import ctypes, os, time
assert ctypes.CDLL(None).ptrace(0x4206, os.getppid(), 0, 0) == 0  # PTRACE_SEIZE
print("ready", flush=True)
time.sleep(600)
'''], stdout=subprocess.PIPE)
tracer.stdout.readline()
"""
BY_NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
             "--inh-caps=+dac_override,+dac_read_search",
             "--ambient-caps=+dac_override,+dac_read_search")  # fmt: skip
"""Launches a program of another user, which may read root's Python and write root's folders."""
NO_PTRACE = ("setpriv", "--bounding-set=-sys_ptrace", "--inh-caps=-all")
"""Launches a program of root's that, like its samplers, lacks CAP_SYS_PTRACE."""
ALL_SAMPLERS, NO_SAMPLER = (True, True), (False, False)


@dataclass(frozen=True)
class Said:
    cause: DenialCause
    text: str
    refusals: dict[str, str]
    abilities: tuple[bool, bool]
    """Whether samplers may stop the process, and read its memory."""
    duration_s: float


def diagnosed(folder: Path, *prefix: str, before: str = "", after: str = "", pid: int = 0) -> Said:
    """What a program says about itself, or about another process."""
    text = DIAGNOSE.format(before=before, after=after)
    done = subprocess.run(
        [*prefix, sys.executable, "-c", text, str(folder), str(pid)],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    cause, words, refusals, *abilities, duration_s = json.loads(done.stdout)
    return Said(DenialCause(cause), words, refusals, tuple(abilities), duration_s)


@contextmanager
def sleeping(*prefix: str) -> Iterator[int]:
    """A process that has been launched, until it is killed; its pid."""
    command = [*prefix, "sh", "-c", "echo ready; exec sleep 600"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        try:
            yield process.pid
        finally:
            process.kill()


@pytest.mark.parametrize("prefix", [(), NO_PTRACE, BY_NOBODY, (*NO_PTRACE, "--no-new-privs")])
def test_nothing_denies_a_program_to_its_samplers(prefix: tuple[str, ...], tmp_path: Path):
    said = diagnosed(tmp_path, *prefix)
    assert said.cause is DenialCause.UNKNOWN
    assert said.abilities == ALL_SAMPLERS


@pytest.mark.parametrize("prefix", [NO_PTRACE, BY_NOBODY])
def test_a_program_that_is_not_dumpable(prefix: tuple[str, ...], tmp_path: Path):
    said = diagnosed(tmp_path, *prefix, before="assert set_dumpable(dumpable=False)")
    assert said.cause is DenialCause.NOT_DUMPABLE
    assert said.abilities == NO_SAMPLER
    lifted = "assert set_dumpable(dumpable=False)\nassert set_dumpable()"
    assert diagnosed(tmp_path, *prefix, before=lifted).abilities == ALL_SAMPLERS


def test_a_program_of_roots_with_every_capability_need_not_be_dumpable(tmp_path: Path):
    said = diagnosed(tmp_path, before="assert set_dumpable(dumpable=False)")
    assert said.abilities == ALL_SAMPLERS


def test_a_program_that_has_changed_its_user(tmp_path: Path):
    said = diagnosed(tmp_path, before="os.setresgid(1, 1, 1); os.setresuid(1, 1, 1)")
    assert said.cause is DenialCause.NOT_DUMPABLE
    assert said.abilities == NO_SAMPLER
    said = diagnosed(tmp_path, before="os.seteuid(1)")
    assert said.cause is DenialCause.OTHER_USER
    assert "os.setresuid" in said.text


def test_a_program_with_a_capability_that_its_samplers_lack(tmp_path: Path):
    before = "import ctypes; assert ctypes.CDLL(None).prctl(24, 19, 0, 0, 0) == 0  # PR_CAPBSET_DROP"
    said = diagnosed(tmp_path, before=before)
    assert said.cause is DenialCause.CAPABILITIES
    assert "capsh --decode=80000" in said.text
    assert said.abilities == NO_SAMPLER


def test_processes_of_other_users(tmp_path: Path):
    with (
        subprocess.Popen(["sleep", "600"]) as of_root,
        subprocess.Popen([*BY_NOBODY, "sleep", "600"]) as other,
    ):
        seen = {
            "by nobody": diagnosed(tmp_path, *BY_NOBODY, pid=of_root.pid),
            "without ptrace": diagnosed(tmp_path, *NO_PTRACE, pid=of_root.pid),
            "of nobody": diagnosed(tmp_path, *NO_PTRACE, pid=other.pid),
            "as root": diagnosed(tmp_path, pid=other.pid),
        }
        of_root.kill()
        other.kill()
    assert {name: said.cause.name for name, said in seen.items()} == {
        "by nobody": "OTHER_USER",
        "without ptrace": "CAPABILITIES",
        "of nobody": "OTHER_USER",
        "as root": "UNKNOWN",
    }
    assert "user 0 and group 0, and the sampler has user 65534 and group 65534" in seen["by nobody"].text
    assert seen["by nobody"].abilities == NO_SAMPLER
    assert seen["as root"].abilities == ALL_SAMPLERS


@pytest.mark.parametrize("user", [(), BY_NOBODY])
@pytest.mark.parametrize("action", ["EPERM", "ENOSYS", "KILL"])
@pytest.mark.parametrize("calls", [(PTRACE,), (READ,), (PTRACE, READ)])
def test_calls_that_a_seccomp_filter_refuses(
    calls: tuple[str, ...], action: str, user: tuple[str, ...], tmp_path: Path
):
    said = diagnosed(tmp_path, *launcher(*calls, action=action), *user)
    assert said.cause is DenialCause.SECCOMP
    assert said.refusals == dict.fromkeys(calls, "SIGSYS" if action == "KILL" else action)
    assert f"SystemCallFilter={' '.join(calls)}" in said.text
    assert said.abilities == (PTRACE not in calls, READ not in calls or action != "KILL")


def test_a_filter_of_a_program_that_may_not_gain_privileges(tmp_path: Path):
    said = diagnosed(tmp_path, *BY_NOBODY, *launcher(PTRACE))
    assert said.refusals == {PTRACE: "EPERM"}


def test_a_filter_on_another_process_does_not_hinder(tmp_path: Path):
    with sleeping(*launcher(PTRACE, READ)) as pid:
        assert diagnosed(tmp_path, pid=pid).abilities == ALL_SAMPLERS


def test_another_tracer(tmp_path: Path):
    said = diagnosed(tmp_path, before=TRACED, after="tracer.kill(); tracer.wait()")
    assert said.cause is DenialCause.TRACED
    assert said.abilities == (False, True)
    strace = ("strace", "-f", "-qq", "-e", "trace=none", "-o", str(tmp_path / "trace"))
    assert diagnosed(tmp_path, *strace).cause is DenialCause.TRACED


def test_a_program_in_a_pid_namespace_without_its_proc(tmp_path: Path):
    said = diagnosed(tmp_path, "unshare", "--pid", "--fork")
    assert said.cause is DenialCause.PID_NAMESPACE
    assert "mount -t proc proc /proc" in said.text
    assert said.abilities == NO_SAMPLER
    assert diagnosed(tmp_path, "unshare", "--pid", "--fork", "--mount-proc").abilities == ALL_SAMPLERS


def test_a_program_whose_children_are_in_a_pid_namespace(tmp_path: Path):
    before = "import ctypes; assert ctypes.CDLL(None).unshare(0x20000000) == 0  # CLONE_NEWPID"
    said = diagnosed(tmp_path, before=before)
    assert said.cause is DenialCause.PID_NAMESPACE
    assert "before it calls unshare" in said.text


def test_a_process_in_a_pid_namespace_seen_from_outside(tmp_path: Path):
    command = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc", sys.executable, "-c")
    program = "import time; print(open('/proc/self/stat').read(), flush=True); time.sleep(600)"
    with subprocess.Popen([*command, program], stdout=subprocess.PIPE, text=True) as outer:
        assert outer.stdout is not None
        assert outer.stdout.readline().startswith("1 ")
        children = Path(f"/proc/{outer.pid}/task/{outer.pid}/children").read_text().split()
        said = diagnosed(tmp_path, pid=int(children[0]))
        outer.kill()
    assert said.abilities == ALL_SAMPLERS


@pytest.mark.full
@pytest.mark.alone
def test_a_diagnosis_takes_less_than_a_second(tmp_path: Path):
    for prefix in ((), launcher(PTRACE, READ), launcher(PTRACE, READ, action="KILL")):
        assert diagnosed(tmp_path, *prefix).duration_s < 1


ATTACHING = """
try:
    attachment = start()
    spin(0.3)
    stop(attachment)
    print("sampled")
except ProfkitError as error:
    print(type(error).__name__, error)
"""


@pytest.mark.sampler
@pytest.mark.parametrize("action", ["EPERM", "ENOSYS", "KILL"])
@pytest.mark.gil
def test_py_spy_under_a_filter_on_ptrace(action: str, tmp_path: Path):
    said = run_attaching(ATTACHING, tmp_path, prefix=launcher(PTRACE, action=action))
    assert said.startswith("AttachDenied py-spy may not read process ")
    assert "a seccomp filter refuses ptrace (" in said


@pytest.mark.sampler
@pytest.mark.parametrize("action", ["EPERM", "ENOSYS"])
@pytest.mark.gil
def test_py_spy_reads_mem_files_under_a_filter_on_reads(action: str, tmp_path: Path):
    assert run_attaching(ATTACHING, tmp_path, prefix=launcher(READ, action=action)) == "sampled"


@pytest.mark.sampler
def test_py_spy_under_a_filter_that_kills_readers(tmp_path: Path):
    said = run_attaching(ATTACHING, tmp_path, prefix=launcher(READ, action="KILL"))
    assert "AttachDenied" in said
    assert "a seccomp filter refuses process_vm_readv (SIGSYS)" in said
