"""Finished sessions in a sandbox's spool, for faults that damage files on disk."""

from __future__ import annotations

import subprocess

from benchmarks.faults.sandbox import PROGRAMS, Sandbox

LABELS = ("first", "second", "third")
"""Labels that `programs/phases.py` records, one session each."""
_ENDS_WITHIN_S = 60.0


def record(box: Sandbox) -> None:
    """Run a program that leaves a finished session for each of `LABELS`; raise RuntimeError if it fails."""
    with box.started([str(PROGRAMS / "phases.py"), str(box.log)]) as program:
        try:
            status = program.wait(_ENDS_WITHIN_S)
        except subprocess.TimeoutExpired as error:
            raise RuntimeError("the recorded program did not end") from error
    if status or box.await_end():
        raise RuntimeError(f"the recorded program ended with {status}: {box.output()[-400:]}")
