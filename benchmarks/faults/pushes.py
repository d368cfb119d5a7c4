"""Three hosts that send their sessions while they, the reader or the server are killed, and one is lost."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.faults.injections import Injection, NotPermitted, Outcome
from benchmarks.faults.postgres import home_of, kill_server
from benchmarks.faults.sandbox import PROGRAMS, Sandbox, sandbox
from profkit.ingest.read import read_runs
from profkit.model.notes import NoteCode
from profkit.model.run import RunInfo
from profkit.store.runs import open_store
from profkit.store.spool import session_folders
from tests.integration.postgres_server import running_server, start_server

VARIANTS = ("folder", "folder", "folder", "postgres")
_HOSTS = ("alpha", "beta", "gamma")
_LOST = "gamma"
_KILLS = 6
_ACCESSES = 70
"""Accesses to files in sending three sessions."""
_SERVER_LATEST_S = 1.5
_TIMEOUT_S = 120.0


@dataclass(frozen=True, slots=True)
class _Fleet:
    """The hosts, each a UTS and a network namespace with a spool of its own."""

    box: Sandbox
    to: str
    """Where they push to."""
    store: str
    """URL of the store that has the runs at the end."""
    shared: Path
    """Spool of the reader."""

    def spool(self, host: str) -> Path:
        """Return a host's own spool."""
        return self.box.work / host / "spool"

    def run(self, host: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run `python ARGUMENTS` on a host."""
        rootless = () if os.geteuid() == 0 else ("--user", "--map-root-user")
        program = (sys.executable, str(PROGRAMS / "as_host.py"), host, *arguments)
        return subprocess.run(
            ["unshare", "--uts", "--net", *rootless, *program], cwd=self.box.work,
            env=self.box.environ({"PROFKIT_SPOOL": str(self.spool(host)), "PROFKIT_STORE": self.store}),
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=_TIMEOUT_S,
        )  # fmt: skip

    def push(self, host: str, *more: str) -> str | None:
        """Send everything from a host; return what is wrong, if anything."""
        done = self.run(host, "-m", "profkit", "push", "--to", self.to, *more)
        return _problem(host, done, (0,))

    def killed_push(self, host: str, access: int) -> str | None:
        """Send from a host, and kill that at an access to a file."""
        program = str(PROGRAMS / "killed_command.py")
        return _problem(
            host, self.run(host, program, str(access), "push", "--to", self.to), (0, -signal.SIGKILL)
        )

    def read(self) -> str | None:
        """Let the reader keep what has arrived."""
        places = {"PROFKIT_SPOOL": str(self.shared), "PROFKIT_STORE": self.store}
        return self.box.command("list", changes=places).problem((0, 6))


def inject(injection: Injection) -> Outcome:
    """Record on three hosts, send with kills in between, lose a host, and count the runs."""
    rng = injection.generator()
    with sandbox() as box, _fleet(box, injection.variant(VARIANTS)) as fleet:
        expected = {host: _recorded(fleet, host) for host in _HOSTS}
        problems = [*_killed(fleet, rng), *_ended(fleet)]
        outcome = Outcome(taken=sum(len(expected[host]) for host in _HOSTS if host != _LOST))
        with open_store(fleet.store) as store:
            kept = [info for info in store.runs() if isinstance(info, RunInfo)]
        problems += _wrong(kept, expected)
        found = {info.id for info in kept if info.process.host != _LOST}
        for problem in problems:
            outcome = outcome.with_problem(problem)
        left = [path for host in _HOSTS for path in _visible(fleet.spool(host))]
        left += _visible(fleet.shared)
        return box.counted(replace(outcome, recovered=len(found), files_left=len(left)))


@contextmanager
def _fleet(box: Sandbox, variant: str) -> Iterator[_Fleet]:
    shared, store = box.work / "shared", f"sqlite:///{box.work / 'runs.db'}"
    if variant == "folder":
        yield _checked(_Fleet(box, str(shared), store, shared))
        return
    with running_server() as url:
        yield _checked(_Fleet(box, url, url, shared))


def _checked(fleet: _Fleet) -> _Fleet:
    try:
        done = fleet.run("alpha", "-c", "pass")
    except FileNotFoundError as error:
        raise NotPermitted("there is no unshare") from error
    if done.returncode:
        raise NotPermitted(f"namespaces: {done.stderr.strip()}")
    return fleet


def _recorded(fleet: _Fleet, host: str) -> dict[str, int]:
    """Record sessions on a host; return the ids of their runs with their samples."""
    log = fleet.box.own / f"{host}.log"
    done = fleet.run(host, str(PROGRAMS / "phases.py"), str(log))
    fleet.box.await_end()
    if done.returncode:
        raise RuntimeError(f"{host}: {done.stderr[-400:]}")
    folders = session_folders(fleet.spool(host))
    return {run.info.id: run.info.samples for folder in folders for run in read_runs(folder).runs}


def _killed(fleet: _Fleet, rng: random.Random) -> Iterator[str]:
    """Send several times from hosts in turn, each time with a kill; yield what is wrong."""
    for number in range(_KILLS):
        host = _HOSTS[number % len(_HOSTS)]
        if fleet.to == fleet.store and number % len(_HOSTS) == 0:
            found = _without_server(fleet, host, rng.uniform(0.2, _SERVER_LATEST_S))
        else:
            found = fleet.killed_push(host, rng.randrange(_ACCESSES))
        if found is None and rng.random() < 1 / 3:
            found = fleet.read()
        if found is not None:
            yield found


def _without_server(fleet: _Fleet, host: str, after_s: float) -> str | None:
    """Send while the server is killed, and start it again."""
    killer = threading.Timer(after_s, kill_server, (home_of(fleet.to),))
    killer.start()
    try:
        return _problem(host, fleet.run(host, "-m", "profkit", "push", "--to", fleet.to), (0, 7))
    finally:
        killer.join()
        start_server(home_of(fleet.to))


def _ended(fleet: _Fleet) -> Iterator[str]:
    """Lose one host, and let the others complete what they have begun; yield what is wrong."""
    shutil.rmtree(fleet.spool(_LOST), ignore_errors=True)
    steps = (fleet.push("alpha", "--gone", _LOST), fleet.push("beta"), fleet.read())
    yield from (found for found in steps if found is not None)


def _wrong(kept: Sequence[RunInfo], expected: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """Yield each run that is there twice, missing, from nowhere, or not whole without saying so."""
    number = Counter(info.id for info in kept)
    yield from (f"{run_id} is there {count} times" for run_id, count in number.items() if count > 1)
    for host, runs in expected.items():
        found = {info.id: info for info in kept if info.process.host == host}
        if host != _LOST:
            yield from (f"{run_id} of {host} is lost" for run_id in runs.keys() - found.keys())
        for run_id, info in found.items():
            is_partial = any(note.code is NoteCode.FILE_UNREADABLE for note in info.notes)
            if is_partial and host != _LOST:
                yield f"{run_id} of {host} is partial"
            if not is_partial and info.samples != runs.get(run_id):
                yield f"{run_id} of {host} has {info.samples} samples, not {runs.get(run_id)}"


def _problem(host: str, done: subprocess.CompletedProcess[str], codes: Sequence[int]) -> str | None:
    if done.returncode in codes and "Traceback" not in done.stderr:
        return None
    return f"{host}: {' '.join(done.args[-6:])} ended with {done.returncode}: {done.stderr[-400:]}"


def _visible(folder: Path) -> list[Path]:
    return [path for path in folder.glob("*") if path.name[0] != "."]
