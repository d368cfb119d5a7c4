"""Running small programs with a spool of their own."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(__file__).parent / "programs"
# These count the threads at a fork after profkit's own was started again (python/cpython#137109).
_COUNTS_TOO_LATE = (3, 13) <= sys.version_info < (3, 13, 10) or (3, 14) <= sys.version_info < (3, 14, 1)
HELPER = "profkit/samplers/helper/__main__.py"
"""End of the path of the program of the sampler `cpython`."""
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
    environ: Mapping[str, str] | None = None, timeout_s: float = 120,
) -> subprocess.CompletedProcess[str]:  # fmt: skip
    """Run `python ARGV` in a folder, to its end; signals to its process group reach it alone."""
    return subprocess.run(
        [*launcher, python, *argv], cwd=folder, env=dict(environ or environment()), timeout=timeout_s,
        capture_output=True, text=True, check=False, start_new_session=True,
    )  # fmt: skip


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


def await_samplers_end(folder: Path, timeout_s: float = 10.0) -> None:
    """Wait until no sampler writes below a folder; it ends shortly after its program."""
    deadline_s = time.monotonic() + timeout_s
    while pids := _samplers_in(folder):
        assert time.monotonic() < deadline_s, f"samplers are left: {pids}"
        time.sleep(0.02)


def _samplers_in(folder: Path) -> list[int]:
    found = []
    for process in psutil.process_iter(["cmdline"]):
        words = process.info["cmdline"] or []
        is_sampler = "record" in words or any(word.endswith(HELPER) for word in words)
        if is_sampler and any(str(folder) in word for word in words):
            found.append(process.pid)
    return found
