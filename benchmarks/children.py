"""Environments of fresh processes to measure: import of the checkout, and cache of compiled modules."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import AnyStr

ROOT = Path(__file__).parents[1]
PROGRAMS = Path(__file__).parent / "programs"
_TIMEOUT_S = 300


def environment() -> dict[str, str]:
    """Return this process's environment without profkit's settings, and with the checkout importable."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PROFKIT_")}
    return kept | {"PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), kept.get("PYTHONPATH"))))}


def caching_environment(folder: Path) -> dict[str, str]:
    """Return the same, with compiled modules cached in `folder`, so that later imports compile nothing."""
    kept = {name: value for name, value in environment().items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"PYTHONPYCACHEPREFIX": str(folder)}


def output_of(arguments: Sequence[str], environ: Mapping[str, str]) -> str:
    """Return the output of `python ARGUMENTS`; raise RuntimeError with its error output if it fails."""
    done = subprocess.run(
        [sys.executable, *arguments], env=dict(environ), timeout=_TIMEOUT_S,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"python {' '.join(arguments)} ended with {done.returncode}:\n{done.stderr}")
    return done.stdout


def end_group(process: subprocess.Popen[AnyStr], grace_s: float = 0.0) -> None:
    """Kill a process that leads its group, and what it has started; with a grace period, interrupt first."""
    with suppress(ProcessLookupError):  # nothing is left
        if grace_s and process.poll() is None:
            os.killpg(process.pid, signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                process.wait(grace_s)
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
