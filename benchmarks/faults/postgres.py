"""A PostgreSQL server that is killed while a command stores runs in it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from benchmarks.faults.injections import Injection, Outcome
from benchmarks.faults.sandbox import LABELS, Sandbox, record, sandbox
from tests.integration.postgres_server import running_server, start_server

_PROGRAMS = 3
"""Programs whose sessions are kept, with one profile for each label."""
_LATEST_S = 0.8
_ENDS_WITHIN_S = 120.0


def inject(injection: Injection) -> Outcome:
    """Kill the server at a random moment of `profkit list`, start it again, and count the runs."""
    after_s = injection.generator().uniform(0.2, _LATEST_S)
    with sandbox() as box, running_server() as url:
        changes = {"PROFKIT_STORE": url}
        for _ in range(_PROGRAMS):
            record(box)
        outcome = Outcome(taken=_PROGRAMS * len(LABELS))
        if (problem := _interrupted(box, url, changes, after_s)) is not None:
            outcome = outcome.with_problem(f"killed after {after_s:.3f} s: {problem}")
        start_server(home_of(url))
        listed = box.command("list", "--json", changes=changes)
        if (problem := listed.problem()) is not None:
            outcome = outcome.with_problem(f"killed after {after_s:.3f} s, then {problem}")
        ids = [run["id"] for run in listed.runs() if run["samples"]]
        if len(ids) != len(set(ids)):
            outcome = outcome.with_problem(f"runs are listed twice: {ids}")
        return box.counted(replace(outcome, recovered=len(set(ids))))


def _interrupted(box: Sandbox, url: str, changes: dict[str, str], after_s: float) -> str | None:
    """Kill the server during a command; return what is wrong with the command's end, if anything."""
    argv = [sys.executable, "-m", "profkit", "list"]
    killer = threading.Timer(after_s, kill_server, (home_of(url),))
    killer.start()
    try:
        done = subprocess.run(
            argv, cwd=box.work, env=box.environ(changes), capture_output=True, text=True, check=False,
            timeout=_ENDS_WITHIN_S,
        )  # fmt: skip
    finally:
        killer.join()
    if done.returncode not in (0, 7) or "Traceback" in done.stderr:
        return f"profkit list ended with {done.returncode}: {done.stderr[-400:]}"
    return None


def home_of(url: str) -> Path:
    """Return the folder of a server, which has its socket."""
    return Path(url.rpartition("host=")[2])


def kill_server(home: Path) -> None:
    """Kill the server and all its children, as a power failure would."""
    server = int((home / "data" / "postmaster.pid").read_text("ascii").splitlines()[0])
    children = Path(f"/proc/{server}/task/{server}/children").read_text("ascii").split()
    for pid in (server, *map(int, children)):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    while Path(f"/proc/{server}").exists():
        time.sleep(0.01)
