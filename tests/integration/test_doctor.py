"""`profkit doctor` on real machines: as it is here, under seccomp filters, and without programs or places."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from profkit.doctor.system import PREFIX
from profkit.model.region import CALLS_ONLY
from profkit.samplers import registry
from tests.integration.harness import (
    NO_SUPERUSER,
    await_samplers_end,
    environment,
    python_without_py_spy,
    run_program,
)
from tests.support.example_checkups import contained
from tests.support.programs import FREE_THREADED
from tests.support.seccomp_filters import PTRACE, READ, launcher
from tests.support.waiting import until

STAND_INS = Path(__file__).parents[1] / "stand_ins"
DOCTOR = ("-m", "profkit", "doctor")
SUDO = "" if os.geteuid() == 0 else "sudo "
HAS_READER = sys.version_info >= (3, 14)

pytestmark = pytest.mark.sampler


@dataclass(frozen=True)
class Said:
    code: int
    document: dict[str, Any]

    def check(self, name: str) -> dict[str, Any]:
        (found,) = [check for check in self.document["checks"] if check["name"] == name]
        return dict(found)

    def status(self, name: str) -> str:
        return str(self.check(name)["status"])


def examined(
    folder: Path, *, prefix: Sequence[str] = (), python: str = sys.executable,
    env: dict[str, str] | None = None,
) -> Said:  # fmt: skip
    done = run_program(
        folder, (*DOCTOR, "--json"), launcher=prefix, python=python, environ=env or environment()
    )
    assert done.stderr == ""
    return Said(done.returncode, json.loads(done.stdout))


def left_in(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


@pytest.mark.gil
def test_this_machine(tmp_path: Path) -> None:
    said = examined(tmp_path)
    assert (said.code, said.document["works"]) == (0, True)
    assert said.document["verdict"].startswith("Sampling and timing work here")
    for name in ("pyspy, blocking", "pyspy, nonblocking", *(["cpython"] if HAS_READER else [])):
        check = said.check(name)
        assert check["status"] == "ok", check
        assert "RUNNING after" in check["found"]
        assert 0 < check["took_s"] < 20
    assert said.status("isolated worker") == "ok"
    assert HAS_READER or said.status("cpython") == "not applicable"
    names = {check["name"].partition(",")[0] for check in said.document["checks"]}
    assert set(registry.names()) - {registry.AUTO, CALLS_ONLY} <= names
    found = said.check("inprocess")["found"]
    assert f" · {'subinterpreter' if sys.version_info >= (3, 15) else 'timer'} · RUNNING after" in found
    await_samplers_end(tmp_path)
    assert left_in(tmp_path) == [], "nothing is left behind"


@pytest.mark.gil
@pytest.mark.slow
def test_the_text_begins_with_the_verdict(tmp_path: Path) -> None:
    done = run_program(tmp_path, DOCTOR, code=0)
    lines = done.stdout.splitlines()
    assert lines[0].startswith("Sampling and timing work here")
    assert lines[1:3] == ["", "Python"]
    assert any(line.startswith("✓  pyspy, blocking ") for line in lines)


@pytest.mark.slow
def test_a_spool_with_sessions_stays_as_it_is(tmp_path: Path) -> None:
    program = "import profkit\nwith profkit.profiled('x'): sum(range(10**6))"
    run_program(tmp_path, ["-c", program], code=0)
    spool = tmp_path / ".profkit" / "spool"
    before = sorted(path.relative_to(spool) for path in spool.rglob("*"))
    said = examined(tmp_path)
    assert said.code == 0
    assert ", writable, " in said.check("spool")["found"]
    assert sorted(path.relative_to(spool) for path in spool.rglob("*")) == before
    assert left_in(tmp_path / ".profkit") == [".gitignore", "spool"]


@pytest.mark.parametrize("action", ["EPERM", "KILL"])
@pytest.mark.gil
@pytest.mark.slow
def test_a_filter_that_refuses_ptrace(action: str, tmp_path: Path) -> None:
    said = examined(tmp_path, prefix=launcher(PTRACE, action=action))
    assert said.code == 0, "py-spy samples without ptrace"
    blocking, seccomp = said.check("pyspy, blocking"), said.check("seccomp")
    assert (blocking["status"], seccomp["status"]) == ("shortfall", "shortfall")
    failure = "EPERM" if action == "EPERM" else "SIGSYS"
    assert blocking["found"] == f"a seccomp filter refuses ptrace ({failure})"
    assert f"ptrace ({failure}) refused" in seccomp["found"]
    for check in (blocking, seccomp):
        assert check["cost"]
        assert "SYS_PTRACE" in check["fix"] or "SystemCallFilter=ptrace" in check["fix"]
    assert said.status("pyspy, nonblocking") == "ok"


@pytest.mark.gil
@pytest.mark.slow
def test_a_filter_that_kills_all_that_read_from_outside(tmp_path: Path) -> None:
    said = examined(tmp_path, prefix=launcher(PTRACE, READ, action="KILL"))
    # Samplers inside the program may still work.
    assert said.code == (0 if said.document["sampling"] else 3)
    expected = "shortfall" if said.document["sampling"] else "failed"
    for name in ("pyspy, blocking", "pyspy, nonblocking", *(["cpython"] if HAS_READER else [])):
        check = said.check(name)
        assert check["status"] == expected, check
        assert "seccomp filter refuses ptrace (SIGSYS) and process_vm_readv (SIGSYS)" in check["found"]
    assert said.document["timing"]


@pytest.mark.gil
@pytest.mark.slow
def test_a_pid_namespace_without_its_proc(tmp_path: Path) -> None:
    said = examined(tmp_path, prefix=("unshare", "--pid", "--fork"))
    check = said.check("pyspy, blocking")
    assert check["found"] == said.check("PID namespace")["found"] == "/proc shows another PID namespace"
    assert check["fix"] == f"{SUDO}mount -t proc proc /proc"


def test_children_in_another_pid_namespace(tmp_path: Path) -> None:
    said = examined(tmp_path, prefix=("unshare", "--pid"))
    check = said.check("PID namespace")
    assert check["status"] == "shortfall"
    assert check["fix"].startswith("begin profiling before unshare(CLONE_NEWPID)")


def test_without_py_spy(tmp_path: Path) -> None:
    python, env = python_without_py_spy(tmp_path)
    said = examined(tmp_path, python=python, env=env)
    assert said.code == (0 if said.document["sampling"] else 3)
    assert said.document["sampling"] or not HAS_READER
    check = said.check("pyspy, blocking")
    assert check["status"] == ("shortfall" if said.document["sampling"] else "failed")
    assert check["fix"] == "python -m pip install py-spy"


@pytest.mark.gil
@pytest.mark.slow
def test_a_spool_that_nobody_can_write(tmp_path: Path) -> None:
    said = examined(tmp_path, env=environment(PROFKIT_SPOOL="/proc/spool", HOME=str(tmp_path)))
    assert (said.code, said.document["sampling"], said.document["timing"]) == (7, False, True)
    spool = said.check("spool")
    assert (spool["status"], spool["fix"]) == ("failed", "export PROFKIT_SPOOL=$HOME/.profkit/spool")
    check = said.check("pyspy, blocking")
    assert check["status"] == "ok", f"samplers are tried among temporary files: {check}"


@pytest.mark.slow
def test_a_folder_without_permission_to_write(tmp_path: Path) -> None:
    folder = tmp_path / "locked"
    folder.mkdir()
    folder.chmod(0o555)
    said = examined(folder, prefix=NO_SUPERUSER if os.geteuid() == 0 else ())
    assert said.code == 7
    assert "Permission denied" in said.check("spool")["found"]
    assert "Permission denied" in said.check("store")["found"]


def test_a_system_on_which_no_file_can_be_written(tmp_path: Path) -> None:
    """The limit makes every write fail, as a read-only system and a full disk do."""
    said = examined(tmp_path, prefix=("prlimit", "--fsize=0"))
    assert (said.code, said.document["sampling"]) == (7, False)
    for name in ("inprocess", "spool", "store"):
        assert said.status(name) == "failed"
    assert said.status("temporary files") == said.status("C++ cache") == "shortfall"
    assert said.check("inprocess")["found"].startswith("not tried, since no file can be written: ")
    assert said.status("interpreter") == said.status("machine code") == "ok"


@pytest.mark.valgrind
@pytest.mark.slow
def test_settings_do_not_change_the_trials(tmp_path: Path) -> None:
    """A stand-in for strobeclient, one memory layout, and profkit's own variables, all at once."""
    state = tmp_path / "state"
    state.mkdir()
    env = environment(
        PATH=f"{STAND_INS}:{os.environ['PATH']}", STAND_IN_STATE=str(state),
        PROFKIT_DISABLE="1", PROFKIT_CHILDREN="0",
    )  # fmt: skip
    said = examined(tmp_path, prefix=("setarch", "--addr-no-randomize"), env=env)
    assert (said.code, said.status("ASLR")) == (0, "shortfall")
    check = said.check("strobeclient")
    assert check["status"] == "ok", check
    assert check["found"].endswith(" · 3 links")
    assert FREE_THREADED or said.status("pyspy, blocking") == "ok"
    assert said.check("profkit")["fix"] == "unset PROFKIT_DISABLE"
    assert said.status("valgrind") == "ok"
    shown = [(check.group.value, check.name) for check in contained().checks]
    printed = [(check["group"], check["name"]) for check in said.document["checks"]]
    assert list(dict.fromkeys(printed)) == shown, "the example in the documentation has every check"


def test_an_interrupt_leaves_nothing(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, *DOCTOR], cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    ) as process:  # fmt: skip
        until(lambda: list(tmp_path.glob(f"{PREFIX}*/trial-*/*/spool/*/manifest.json")))
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert "Traceback" not in said
    await_samplers_end(tmp_path)
    assert left_in(tmp_path) == []
