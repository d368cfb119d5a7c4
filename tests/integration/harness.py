"""Running small programs with a spool of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil

from tests.support.waiting import until

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(__file__).parent / "programs"
# These count the threads at a fork after profkit's own was started again (python/cpython#137109).
_COUNTS_TOO_LATE = (3, 13) <= sys.version_info < (3, 13, 10) or (3, 14) <= sys.version_info < (3, 14, 1)
HELPER = "profkit/samplers/helper/__main__.py"
"""End of the path of the program of the sampler `cpython`."""
HANGS_S = 600
"""Time after which a program or command has hung, even on a busy machine."""
WITH_THREADS = ("-W", "ignore:This process:DeprecationWarning")
"""Flags of Python for programs that fork while they have threads, such as those of a pool."""
FORKING = WITH_THREADS if _COUNTS_TOO_LATE else ()
"""Flags of Python for programs that fork."""
NO_SUPERUSER = ("setpriv", "--bounding-set=-dac_override,-dac_read_search",
                "--inh-caps=-dac_override,-dac_read_search")  # fmt: skip
"""Launches a program for which the permissions of files hold though it is root's."""


def environment(**changes: str) -> dict[str, str]:
    """Return the tests' environment without settings of profkit's, and with the checkout importable.

    Programs wait for measuring as long as a busy machine needs.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PROFKIT_")}
    return kept | {"PYTHONPATH": str(ROOT), "PROFKIT_EXIT_TIMEOUT": "60"} | changes


def run_program(
    folder: Path, argv: Sequence[str], *, launcher: Sequence[str] = (), python: str = sys.executable,
    environ: Mapping[str, str] | None = None, code: int | None = None,
) -> subprocess.CompletedProcess[str]:  # fmt: skip
    """Run `python ARGV` in a folder, to its end, with an exit code if that is given.

    Signals to its process group reach it alone.
    """
    done = subprocess.run(
        [*launcher, python, *argv], cwd=folder, env=dict(environ or environment()), timeout=HANGS_S,
        capture_output=True, text=True, check=False, start_new_session=True,
    )  # fmt: skip
    assert code in (None, done.returncode), done.stdout + done.stderr
    return done


def profkit(
    folder: Path, *arguments: str, code: int = 0, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a command of profkit in a folder; it must end with this exit code."""
    return run_program(folder, ["-m", "profkit", *arguments], environ=environment(**variables), code=code)


def listed(folder: Path, *arguments: str, **variables: str) -> list[dict[str, Any]]:
    """Return the runs that `profkit list` shows."""
    argv = ["-m", "profkit", "list", "--json", *arguments]
    document = json.loads(run_program(folder, argv, environ=environment(**variables), code=0).stdout)
    runs: list[dict[str, Any]] = document["runs"]
    return runs


def reported(folder: Path, *arguments: str) -> dict[str, Any]:
    """Return what `profkit report` says, as JSON."""
    report: dict[str, Any] = json.loads(profkit(folder, "report", "--json", *arguments).stdout)
    return report


PREFERS_READER = sys.version_info >= (3, 15)
"""True if `auto` prefers CPython's own reader to py-spy."""
AUTO = "cpython" if PREFERS_READER else "py-spy"
"""Name of the sampler that `auto` takes, as messages have it."""


def python_without_py_spy(folder: Path) -> tuple[str, dict[str, str]]:
    """A Python and an environment in which there is no py-spy to be found."""
    link = folder / "bin" / "python"
    link.parent.mkdir(parents=True)
    link.symlink_to(getattr(sys, "_base_executable", sys.executable))
    packages = [path for path in sys.path if path.endswith("-packages")]
    return str(link), environment(PATH="/usr/bin:/bin", PYTHONPATH=os.pathsep.join([str(ROOT), *packages]))


def await_samplers_end(folder: Path) -> None:
    """Wait until no sampler writes below a folder; it ends shortly after its program."""
    until(lambda: not _samplers_in(folder), lambda: f"samplers are left: {_samplers_in(folder)}")


def _samplers_in(folder: Path) -> list[int]:
    found = []
    for process in psutil.process_iter(["cmdline"]):
        words = process.info["cmdline"] or []
        is_sampler = "record" in words or any(word.endswith(HELPER) for word in words)
        if is_sampler and any(str(folder) in word for word in words):
            found.append(process.pid)
    return found
