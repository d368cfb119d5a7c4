"""Windows of real programs: of `profkit run`, a variable, `continuous` and `attach`; killed, and pushed."""

from __future__ import annotations

import os
import random
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.integration.harness import await_samplers_end, environment, listed, profkit, run_program
from tests.support.profile_receiver import receiving
from tests.support.waiting import until
from tests.unit.formats.pprof.pprof_messages import PushRequest

pytestmark = [pytest.mark.sampler, pytest.mark.slow]

LIMIT_S = 120.0
SERVE = """
import sys, time
from profkit import profile
@profile(label="handle")
def handle():
    return sum(number * number for number in range(20_000))
end_s = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end_s:
    handle()
    time.sleep(0.002)
"""
CONTINUOUS = """
import os, sys, time, profkit
with profkit.continuous(window=1.0, keep="50MB", push=sys.argv[1] or None, label="service") as profiling:
    assert profiling.running
    end_s = time.monotonic() + 4
    while time.monotonic() < end_s:
        sum(number * number for number in range(20_000))
    child = os.fork()
    if not child:
        assert not profiling.running
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert not profiling.running
print("done")
"""
FORKS = """
import os, sys, time
end_s = time.monotonic() + 6
while time.monotonic() < end_s:
    child = os.fork()
    if not child:
        sum(range(100_000))
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    time.sleep(0.01)
if len(sys.argv) < 2:
    os.execv(sys.executable, [sys.executable, __file__, "again"])
print("done")
"""


def windows_of(folder: Path, label: str, **variables: str) -> list[dict[str, Any]]:
    """Return the windows of a label, all of which must be complete."""
    found = listed(folder, "--label", label, **variables)
    assert found
    for run in found:
        assert run["state"] in ("SUCCESS", "ENDED_EARLY"), run
        assert not run["error"]
    return found


def assert_nothing_runs(folder: Path) -> None:
    await_samplers_end(folder)
    companions = [
        process for process in psutil.process_iter(["cmdline"])
        if "--follow" in (process.info["cmdline"] or ()) and process.cwd() == str(folder)
    ]  # fmt: skip
    psutil.wait_procs(companions, timeout=LIMIT_S)
    assert not any(companion.is_running() for companion in companions)


@pytest.fixture
def service(tmp_path: Path) -> Path:
    (tmp_path / "serve.py").write_text(SERVE)
    return tmp_path


def test_a_program_is_divided_and_reported_as_a_whole(service: Path) -> None:
    done = profkit(service, "run", "--windows", "1s", "serve.py", "6")
    assert "in windows of 1.00 s" in done.stderr
    found = windows_of(service, "serve.py")
    assert len(found) >= 3
    assert sum(run["calls"] for run in found) == 1
    assert len(windows_of(service, "handle")) >= 3
    assert all(run["sampler"]["rate_requested_hz"] <= 19 for run in found)
    assert len(profkit(service, "list").stdout.splitlines()) == 3
    assert_nothing_runs(service)


def test_decorated_functions_are_sampled_in_windows_by_a_variable(service: Path) -> None:
    run_program(service, ["serve.py", "5"], environ=environment(PROFKIT_WINDOWS="1s"), code=0)
    assert len(windows_of(service, "handle")) >= 2


def test_the_disk_is_used_up_to_the_limit(service: Path) -> None:
    profkit(service, "run", "-q", "--windows", "1s", "--keep", "300KB", "serve.py", "25")
    spool = service / ".profkit" / "spool"
    files = [path.lstat() for path in spool.rglob("*") if path.is_file()]
    assert sum(status.st_blocks * 512 for status in files) < 700 * 1024  # checked every ten seconds
    done = profkit(service, "list")
    assert done.stderr == ""
    assert len(windows_of(service, "serve.py")) < 20


def test_windows_arrive_elsewhere_while_the_program_runs(service: Path) -> None:
    there = service / "there"
    command = [sys.executable, "-m", "profkit", "run", "--windows", "1s", "--push", "there", "serve.py", "8"]
    with subprocess.Popen(
        command, cwd=service, env=environment(), stderr=subprocess.PIPE, text=True
    ) as program:
        until(lambda: there.exists() and list(there.glob("*.packed")), limit_s=LIMIT_S)
        assert program.poll() is None
        _, said = program.communicate(timeout=LIMIT_S)
    assert said == f"profkit: note: the windows were sent to {there}, where `profkit report` shows them\n"
    found = windows_of(service, "serve.py", PROFKIT_SPOOL=str(there), PROFKIT_STORE=f"sqlite:///{there}.db")
    assert sum(run["calls"] for run in found) == 1
    assert not [path for path in (service / ".profkit" / "spool").iterdir() if path.is_dir()]
    assert_nothing_runs(service)


def test_windows_are_sent_to_a_server_of_profiles(service: Path) -> None:
    with receiving() as receiver:
        place = f"pyroscope+http://ada:secret@{receiver.host}"
        done = profkit(service, "run", "--windows", "1s", "--push", place, "serve.py", "4")
        assert len(receiver.requests) > 1
    # A last window without a sample stays, which is reported.
    assert f" sent to {place.replace('secret', '***')}" in done.stderr
    assert "secret" not in done.stderr
    assert {request.path for request in receiver.requests} == {"/push.v1.PusherService/Push"}
    assert sorted(path.name for path in service.iterdir()) == [".profkit", "serve.py"]
    assert_nothing_runs(service)


@pytest.mark.go
def test_go_reads_the_profiles_of_windows(service: Path) -> None:
    with receiving() as receiver:
        place = f"pyroscope+http://{receiver.host}"
        profkit(service, "run", "-q", "--windows", "1s", "--push", place, "serve.py", "4")
    series = [one for request in receiver.requests for one in PushRequest.FromString(request.body).series]
    profiles = [sample.raw_profile for one in series for sample in one.samples]
    assert len(profiles) > 2
    for number, profile in enumerate(profiles):
        (service / f"{number}.pb").write_bytes(profile)
    command = ["go", "tool", "pprof", "-top", *(f"{number}.pb" for number in range(len(profiles)))]
    shown = subprocess.run(
        command, cwd=service, env=environment(), capture_output=True, text=True, check=False, timeout=LIMIT_S
    )
    assert shown.returncode == 0, shown.stderr
    assert "Type: wall\n" in shown.stdout
    assert re.search(r"^ .*% +handle$", shown.stdout, re.MULTILINE), shown.stdout


def test_a_place_that_is_away_has_no_effect_and_gets_all_later(service: Path) -> None:
    there = service / "there"
    there.write_text("a file")
    done = profkit(service, "run", "--windows", "1s", "--push", "there", "serve.py", "6")
    assert "could not be sent" in done.stderr
    there.unlink()
    profkit(service, "push", "--to", "there")
    found = windows_of(service, "serve.py", PROFKIT_SPOOL=str(there), PROFKIT_STORE=f"sqlite:///{there}.db")
    assert sum(run["calls"] for run in found) == 1
    assert_nothing_runs(service)


def test_a_server_that_comes_back_gets_each_window_once(service: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    spool = service / ".profkit" / "spool"
    command = [sys.executable, "-m", "profkit", "run", "-q", "--windows", "1s",
               "--push", f"otlp+http://127.0.0.1:{port}", "serve.py", "16"]  # fmt: skip
    with subprocess.Popen(
        command, cwd=service, env=environment(), stderr=subprocess.PIPE, text=True
    ) as program:
        until(lambda: len(list(spool.glob("2*-*"))) > 4, limit_s=LIMIT_S)
        until(lambda: (spool / ".push.log").stat().st_size, limit_s=LIMIT_S)
        waiting = {path.name for path in spool.glob("2*-*")}
        with receiving(port) as receiver:
            until(lambda: receiver.requests, limit_s=LIMIT_S)
            _, said = program.communicate(timeout=LIMIT_S)
            assert_nothing_runs(service)
            bodies = [request.body for request in receiver.requests]
    assert program.returncode == 0
    assert not said or "1 session could not be sent" in said, "a last window without a sample stays"
    assert "Connection refused" in (spool / ".push.log").read_text()
    assert len(bodies) == len(set(bodies)) >= len(waiting)
    assert not waiting & {path.name for path in spool.iterdir()}


@pytest.mark.parametrize("number", range(4))
def test_a_killed_program_keeps_its_windows(service: Path, number: int) -> None:
    program = subprocess.Popen(
        [sys.executable, "serve.py", "100"], cwd=service,
        env=environment(PROFKIT_WINDOWS="1s", PROFKIT_PUSH=str(service / "there")),
    )  # fmt: skip
    there = service / "there"
    until(lambda: there.exists() and list(there.glob("*.packed")), limit_s=LIMIT_S)
    time.sleep(random.Random(number).uniform(0, 3))
    program.kill()
    assert program.wait(LIMIT_S) == -signal.SIGKILL
    assert_nothing_runs(service)
    found = windows_of(service, "handle", PROFKIT_SPOOL=str(there), PROFKIT_STORE=f"sqlite:///{there}.db")
    # The next window begins before the last one is ended, so two may be open.
    _, *earlier = sorted(found, key=lambda run: run["started"], reverse=True)
    assert all(run["state"] == "SUCCESS" for run in earlier[1:])
    assert not (there / "damaged").exists()


def test_forks_and_an_exec(tmp_path: Path) -> None:
    (tmp_path / "forks.py").write_text(FORKS)
    done = profkit(tmp_path, "run", "-q", "--windows", "1s", "forks.py")
    assert done.stdout == "done\n"
    assert len(windows_of(tmp_path, "forks.py")) >= 3
    assert_nothing_runs(tmp_path)


@pytest.mark.parametrize("place", ["", "there"])
def test_continuous(tmp_path: Path, place: str) -> None:
    script = tmp_path / "service.py"
    script.write_text(CONTINUOUS)
    done = run_program(tmp_path, [str(script), str(tmp_path / place) if place else ""], code=0)
    assert (done.stdout, done.stderr) == ("done\n", "")
    assert_nothing_runs(tmp_path)
    spool = str(tmp_path / (place or ".profkit/spool"))
    found = windows_of(tmp_path, "service", PROFKIT_SPOOL=spool, PROFKIT_STORE=f"sqlite:///{tmp_path}/it.db")
    assert len(found) >= 2
    assert sum(run["calls"] for run in found) == 1


def test_the_first_process_of_a_container_has_windows(service: Path) -> None:
    """When it ends, the kernel kills all that is left: the last windows must have been sent by then."""
    there = service / "there"

    def in_container(*command: str, **variables: str) -> str:
        prefix = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", sys.executable]
        done = subprocess.run(
            [*prefix, *command], cwd=service, env=environment(**variables), stderr=subprocess.PIPE,
            text=True, timeout=LIMIT_S, check=True,
        )  # fmt: skip
        return done.stderr

    said = in_container("-m", "profkit", "run", "--windows", "1s", "--push", "there", "serve.py", "5")
    assert said == f"profkit: note: the windows were sent to {there}, where `profkit report` shows them\n"
    assert in_container("serve.py", "5", PROFKIT_WINDOWS="1s", PROFKIT_PUSH=str(there)) == ""
    assert_nothing_runs(service)
    profkit(service, "push", "--to", "there")  # what the companion of the second one could not send any more
    found = listed(service, PROFKIT_SPOOL=str(there), PROFKIT_STORE=f"sqlite:///{there}.db")
    assert {run["sampler"]["name"] for run in found} <= {"pyspy", "cpython"}
    labels = [run["label"] for run in found]
    assert labels.count("serve.py") >= 3
    assert labels.count("handle") >= 5
    assert sum(run["calls"] for run in found if run["label"] == "serve.py") == 1


def test_an_attached_program_has_windows(service: Path) -> None:
    with subprocess.Popen([sys.executable, "serve.py", "30"], cwd=service, env=environment()) as program:
        folder = service / "here"
        folder.mkdir()
        done = profkit(folder, "attach", str(program.pid), "--label", "it", "-d", "5", PROFKIT_WINDOWS="1s")
        assert "in windows of 1.00 s" in done.stderr
        assert len(windows_of(folder, "it")) >= 3
        os.kill(program.pid, signal.SIGTERM)
