"""Secrets on a profiled program's command line and in its environment: no file of profkit has them."""

from __future__ import annotations

import subprocess
import sys
import uuid
from dataclasses import replace

from benchmarks.faults.injections import Injection, Outcome
from benchmarks.faults.sandbox import PROGRAMS, Sandbox, sandbox

_ARGUMENTS = (
    ("--password={}",), ("--password", "{}"), ("--api-key={}",), ("--token", "{}"), ("DB_PASSWORD={}",),
    ("--database=postgresql://me:{}@host/db",), ("--auth-token={}",), ("--client-secret", "{}"),
)  # fmt: skip
"""Ways to write a secret on a command line."""
COUNT = len(_ARGUMENTS)
_VARIABLES = ("API_KEY", "DB_PASSWORD", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN")
_OUTPUTS = (
    ("report", "--html", "-o", "page.html"), ("export", "--format", "profkit", "-o", "run.json"),
    ("export", "--format", "speedscope", "-o", "run.speedscope.json"), ("list", "--json"),
)  # fmt: skip
_TIMEOUT_S = 60.0


def inject(injection: Injection) -> Outcome:
    """Profile a program that is given secrets, show it in every way, and search all files for them."""
    secret = f"hunter2{uuid.UUID(int=injection.number).hex}"
    arguments = [each.format(secret) for each in injection.variant(_ARGUMENTS)]
    with sandbox() as box:
        changes = dict.fromkeys(_VARIABLES, secret)
        argv = [sys.executable, str(PROGRAMS / "secretive.py"), *arguments]
        environ = box.environ(changes)
        subprocess.run(
            ["sh", "-c", 'umask 0; exec "$@"', "sh", *argv], cwd=box.work, env=environ, check=True,
            timeout=_TIMEOUT_S,
        )  # fmt: skip
        box.await_end()
        outcome = _searched(box, Outcome(taken=1), secret, "the spool")
        for command in _OUTPUTS:
            done = box.command(*command)
            if (problem := done.problem()) is not None:
                outcome = outcome.with_problem(problem)
            if secret in done.stdout:
                outcome = outcome.with_problem(f"{arguments}: {' '.join(command)} prints the secret")
        outcome = _searched(box, outcome, secret, "store, page and exports")
        found = any(run["label"] == "secretive" for run in box.command("list", "--json").runs())
        return box.counted(replace(outcome, recovered=int(found)))


def _searched(box: Sandbox, outcome: Outcome, secret: str, where: str) -> Outcome:
    """Add problems for files that hold the secret, and for those that others may read."""
    needle = secret.encode()
    for path in sorted(box.work.rglob("*")):
        name = path.relative_to(box.work)
        if path.is_file() and needle in path.read_bytes():
            outcome = outcome.with_problem(f"{where}: {name} holds the secret")
        if path.stat().st_mode & 0o077 and path.name != ".gitignore":
            outcome = outcome.with_problem(
                f"{where}: others may read {name} ({path.stat().st_mode & 0o777:o})"
            )
    return outcome
