"""Disks that fill up, become read-only, vanish or run out of inodes at each write of each file.

The disk is a tmpfs in its own mount namespace; the fault occurs just before the N-th write of a profiled
program, of a measuring program, or of the command that keeps their runs.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from benchmarks.children import ROOT, environment
from benchmarks.faults.injections import Injection, NotPermitted, Outcome, outcome_from

WRITES = 30
"""More writes than any of the programs makes: the last ones break nothing, and are not counted."""
_WRITERS = ("program", "command", "measuring")
_VARIANTS = ("full", "read-only", "removed", "inodes")
COUNT = WRITES * len(_VARIANTS) * len(_WRITERS)
_TIMEOUT_S = 300.0


def inject(injection: Injection) -> Outcome:
    """Break the disk at one write of one writer, in a mount namespace."""
    rest, writer = divmod(injection.number, len(_WRITERS))
    write, variant = divmod(rest, len(_VARIANTS))
    _check_namespaces()
    spec = json.dumps(
        {"writer": _WRITERS[writer], "variant": _VARIANTS[variant], "write": write + 1, "pages": write % 3}
    )
    driver = str(Path(__file__).with_name("disk_driver.py"))
    done = subprocess.run(
        ["unshare", "--mount", "--propagation", "private", sys.executable, driver, spec], cwd=ROOT,
        env=environment(), capture_output=True, text=True, check=False, timeout=_TIMEOUT_S,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"{spec}: {done.stderr[-800:]}")
    return outcome_from(json.loads(done.stdout))


def _check_namespaces() -> None:
    done = subprocess.run(["unshare", "--mount", "true"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise NotPermitted(f"mount namespaces need CAP_SYS_ADMIN ({done.stderr.strip()}); run it as root")
