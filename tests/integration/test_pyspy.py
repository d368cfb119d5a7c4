"""Real py-spy on real programs."""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import replace
from importlib import metadata
from pathlib import Path

import pytest

from profkit.clock import SYSTEM_CLOCK
from profkit.errors import AttachDenied, DamagedFile, SamplerFailed, SamplerMissing
from profkit.model.session import SessionState
from profkit.process import procfs
from profkit.samplers.options import SamplerOptions
from tests.integration.harness import await_samplers_end
from tests.integration.outside import (
    PYSPY,
    SMALL,
    await_rounds,
    sampler_pid,
    stop,
    wait_for,
    weight_by_thread,
)
from tests.integration.targets import run_attaching, running_target
from tests.support.waiting import until

pytestmark = [pytest.mark.sampler, pytest.mark.timeout(180)]

SAMPLER, PLAN = PYSPY.sampler, PYSPY.plan
FORKING = """
import os, sys
def spin():
    while True:
        sum(range(100))
if os.fork() == 0:
    parent = os.getppid()
    while os.getppid() == parent:
        sum(range(100))
    os._exit(0)
print("ready", flush=True)
spin()
"""


@pytest.mark.gil
def test_rounds_are_unknown_without_idle_threads(target: int, tmp_path: Path):
    plan = replace(PLAN, idle=False, blocking=False)
    recording = PYSPY.sample(target, tmp_path, plan)
    assert recording.rounds is None
    weights = weight_by_thread(recording.profile)
    assert weights.get("waiter", 0) < weights["MainThread"] / 10


@pytest.mark.gil
def test_it_ends_by_itself_at_the_longest_duration(target: int, tmp_path: Path):
    attachment = PYSPY.attach(target, tmp_path, replace(PLAN, max_duration_s=0.1, rate_hz=10))
    words = procfs.command_line(sampler_pid(attachment))
    assert words[words.index(b"-d") + 1] == b"6"
    attachment.kill()


@pytest.mark.parametrize(
    ("options", "flags"),
    [
        (SamplerOptions(), {"--idle"}),
        (SamplerOptions(idle=False), {"--nonblocking"}),
        (SamplerOptions(idle=False, blocking=True), set()),
        (SamplerOptions(gil=True), {"--idle", "--gil"}),
        (SamplerOptions(blocking=False), {"--idle", "--nonblocking"}),
        (SamplerOptions(native=True), {"--idle", "--native"}),
        (SamplerOptions(subprocesses=True, blocking=False), {"--idle", "--nonblocking", "--subprocesses"}),
    ],
    ids=["default", "cpu", "cpu-blocking", "gil", "nonblocking", "native", "subprocesses"],
)
@pytest.mark.gil
def test_choices_reach_it(target: int, tmp_path: Path, options: SamplerOptions, flags: set[str]):
    plan = SAMPLER.plan(options, SMALL)
    attachment = PYSPY.attach(target, tmp_path, plan)
    words = {os.fsdecode(word) for word in procfs.command_line(sampler_pid(attachment))}
    await_rounds(attachment, 1)
    stop(attachment)
    assert words & {"--idle", "--gil", "--nonblocking", "--native", "--subprocesses"} == flags
    assert {"--full-filenames", "speedscope", "100", str(target)} <= words
    assert PYSPY.read(tmp_path, plan).profile.samples


@pytest.mark.gil
def test_subprocesses_are_distinguished(tmp_path: Path):
    plan = SAMPLER.plan(SamplerOptions(subprocesses=True, blocking=False), SMALL)
    with running_target(FORKING) as process:
        # py-spy looks for children once a second.
        recording = PYSPY.sample(process.pid, tmp_path, plan, rounds=75)
    assert len({thread.pid for thread in recording.profile.threads}) == 2
    assert process.pid in {thread.pid for thread in recording.profile.threads}


@pytest.mark.gil
def test_killed_it_leaves_the_target_running(target: int, tmp_path: Path):
    attachment = PYSPY.attach(target, tmp_path)
    pid = sampler_pid(attachment)
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(SamplerFailed, match="failed at sampling: it ended without its output"):
        wait_for(attachment, SessionState.SUCCESS)
    assert not procfs.is_running(pid)
    # The thread of the sampler that holds the target may end after the others.
    until(lambda: procfs.status(target)["State"][0] in "RS", "somebody holds the target")
    with pytest.raises(DamagedFile):
        PYSPY.read(tmp_path)


def test_a_folder_that_is_not_there(target: int, tmp_path: Path):
    with pytest.raises(SamplerFailed, match=r"cannot be used .*PROFKIT_SPOOL"):
        SAMPLER.attach(target, PLAN, tmp_path / "missing", 0, SYSTEM_CLOCK)


def test_a_file_system_without_a_free_block(target: int):
    with pytest.raises(SamplerFailed, match="full disk"):
        SAMPLER.attach(target, PLAN, Path("/proc"), 0, SYSTEM_CLOCK)


@pytest.mark.gil
def test_a_disk_that_fills_up(target: int, tmp_path: Path):
    (tmp_path / "segment-000.speedscope.json").symlink_to("/dev/full")
    attachment = PYSPY.attach(target, tmp_path)
    await_rounds(attachment, 1)
    attachment.request_stop()
    with pytest.raises(SamplerFailed, match="failed at stop: the disk is full; free space"):
        wait_for(attachment, SessionState.SUCCESS)


def test_a_process_that_is_gone(tmp_path: Path):
    attachment = SAMPLER.attach(2**22 - 1, PLAN, tmp_path, 0, SYSTEM_CLOCK)
    with pytest.raises(SamplerFailed, match="has ended, or is not a Python program that it supports"):
        wait_for(attachment, SessionState.RUNNING)


def test_no_pyspy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(SamplerMissing, match="python -m pip install py-spy"):
        SAMPLER.find()
    assert SAMPLER.version() is None


def test_pyspy_on_path_goes_before_the_one_beside_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    beside, on_path = tmp_path / "venv/bin", tmp_path / "bin"
    for folder in (beside, on_path):
        folder.mkdir(parents=True)
        (folder / "py-spy").symlink_to(SAMPLER.find())
    monkeypatch.setattr(sys, "executable", str(beside / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert SAMPLER.find() == str(beside / "py-spy")
    monkeypatch.setenv("PATH", str(on_path))
    assert SAMPLER.find() == str(on_path / "py-spy")


def test_its_version_is_that_of_the_installed_package():
    assert SAMPLER.version() == metadata.version("py-spy")


@pytest.mark.gil
def test_the_program_has_no_child_before_during_and_after(tmp_path: Path):
    program = """
def children():
    for wait in (os.wait, lambda: os.waitpid(-1, os.WNOHANG)):
        try:
            return wait()
        except ChildProcessError:
            pass
    return open(f"/proc/self/task/{os.getpid()}/children").read()
heard = []
signal.signal(signal.SIGCHLD, lambda *_: heard.append(1))
seen = [children()]
attachment = start()
seen.append(children())
spin(0.1)
print(seen, stop(attachment).value, repr(children()), heard)
"""
    assert run_attaching(program, tmp_path) == "['', ''] SUCCESS '' []"


@pytest.mark.gil
def test_a_thread_that_waits_for_every_child(tmp_path: Path):
    program = """
def wait_for_all():
    while not done.is_set():
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            done.wait(0.0002)
done = threading.Event()
thread = threading.Thread(target=wait_for_all)
thread.start()
print({stop(start(index=index)).value for index in range(10)})
done.set()
thread.join()
"""
    assert run_attaching(program, tmp_path) == "{'SUCCESS'}"


@pytest.mark.gil
def test_a_program_that_blocks_and_ignores_interrupts(tmp_path: Path):
    program = """
signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGCHLD})
print(stop(start()).value)
"""
    assert run_attaching(program, tmp_path) == "SUCCESS"


@pytest.mark.gil
def test_a_program_without_standard_files(tmp_path: Path):
    program = """
out = os.dup(1)
for number in (0, 1, 2):
    os.close(number)
os.write(out, stop(start()).value.encode())
"""
    assert run_attaching(program, tmp_path) == "SUCCESS"


@pytest.mark.gil
def test_a_subreaper_is_left_without_zombies(tmp_path: Path):
    program = """
import ctypes
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
stop(start())
try:
    os.wait()
except ChildProcessError:
    print("none")
"""
    assert run_attaching(program, tmp_path) == "none"


def test_an_interrupt_while_it_starts_leaves_nothing(tmp_path: Path):
    program = """
class Interrupting(type(CLOCK)):
    def sleep(self, duration_s):
        raise KeyboardInterrupt
attachment = SAMPLER.attach(os.getpid(), PLAN, FOLDER, 0, CLOCK)
try:
    # Not for RUNNING: it may be so at the first look, and then nothing would interrupt.
    await_state(attachment, SessionState.SUCCESS, 30, Interrupting(), "-")
except KeyboardInterrupt:
    attachment.kill()
from profkit.process import procfs
while procfs.is_running(attachment.segment().pid):  # a killed process ends in its own time
    CLOCK.sleep(0.01)
print("ended")
"""
    assert run_attaching(program, tmp_path) == "ended"


@pytest.mark.gil
def test_a_program_that_changes_its_user_says_so_and_leaves_the_samples(tmp_path: Path):
    program = """
attachment = start()
from tests.integration.outside import await_rounds
await_rounds(attachment)
os.setresuid(65534, 65534, 65534)
try:
    attachment.request_stop()
except ProfkitError as error:
    print(error)
attachment.kill()
"""
    assert "the program changed its user, and can no longer stop process" in run_attaching(program, tmp_path)
    await_samplers_end(tmp_path)
    assert PYSPY.read(tmp_path).profile.total_weight > 30


def without_ptrace() -> tuple[str, ...]:
    """A prefix that takes the right to trace anything from root; others do not have it."""
    return ("setpriv", "--bounding-set", "-sys_ptrace", "--inh-caps", "-all") if os.geteuid() == 0 else ()


DENIED = """
import ctypes
assert ctypes.CDLL(None).prctl(4, 0, 0, 0, 0) == 0  # PR_SET_DUMPABLE
from dataclasses import replace
try:
    start(replace(PLAN, subprocesses={subprocesses}))
except ProfkitError as error:
    print(type(error).__name__, error)
"""


@pytest.mark.parametrize("subprocesses", [False, True])
def test_attach_denied_names_the_cause_and_the_fix(tmp_path: Path, subprocesses: bool):
    program = DENIED.format(subprocesses=subprocesses)
    said = run_attaching(program, tmp_path, prefix=without_ptrace())
    assert said.startswith(AttachDenied.__name__)
    assert "not dumpable" in said
    assert "--cap-add SYS_PTRACE" in said


@pytest.mark.gil
def test_another_tracer_is_named(tmp_path: Path):
    program = """
import ctypes, subprocess
tracer = subprocess.Popen([sys.executable, "-c", '''
import ctypes, os, sys, time
assert ctypes.CDLL(None).ptrace(0x4206, os.getppid(), 0, 0) == 0  # PTRACE_SEIZE
print("ready", flush=True)
time.sleep(600)
'''], stdout=subprocess.PIPE)
tracer.stdout.readline()
try:
    start()
except ProfkitError as error:
    print(type(error).__name__, f"process {tracer.pid} is tracing it" in str(error))
tracer.kill()
"""
    assert run_attaching(program, tmp_path) == "AttachDenied True"
