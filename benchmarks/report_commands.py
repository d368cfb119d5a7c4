"""Commands of profkit on generated runs, such as `profkit report`: time and memory."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from benchmarks.children import caching_environment, environment, output_of
from benchmarks.made_profiles import made_run
from profkit.config import CONFIG
from profkit.store.files import make_folder
from profkit.store.runs import open_store

DEPTH, STACKS_PART = 60, 10
"""Frames per stack; samples per stack."""


@dataclass(frozen=True, slots=True)
class Taken:
    """Time and memory of one command, Python's own start included."""

    wall_s: float
    cpu_s: float
    """Processor time, in which other load does not count."""
    peak_bytes: int
    """Peak of its resident memory."""


def keep_made_run(samples: int) -> str:
    """Store a run with this many samples, and a tenth as many stacks, in the current folder; return its id.

    It is made in a separate process: this process's peak memory would count for its children, too.
    """
    return output_of(["-m", "benchmarks.report_commands", str(samples)], environment()).strip()


def _kept_run(samples: int) -> str:
    make_folder(CONFIG.spool)
    with open_store(CONFIG.store_url) as store:
        (info,) = store.add([made_run(samples, samples // STACKS_PART, DEPTH)])
    return info.id


def report(arguments: Sequence[str]) -> Taken:
    """Run `profkit report ARGUMENTS` as `run_command` does."""
    return run_command(["report", *arguments])


def run_command(arguments: Sequence[str]) -> Taken:
    """Run `profkit ARGUMENTS`; compile modules once for all. Raise RuntimeError if it fails."""
    return taken_by([sys.executable, "-m", "profkit", *arguments], caching_environment(Path("compiled")))


def taken_by(command: Sequence[str], environ: Mapping[str, str]) -> Taken:
    """Run a command without its output; raise RuntimeError if it fails."""
    start_s = perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, env=dict(environ)) as child:
        # wait4 returns the child's own peak; the peak of all children would be the generator's.
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    taken_s = perf_counter() - start_s
    if child.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {child.returncode}")
    # The kernel counts it in kilobytes, see getrusage(2).
    return Taken(taken_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


if __name__ == "__main__":
    print(_kept_run(int(sys.argv[1])))
