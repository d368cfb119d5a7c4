"""Eight processes at once, profiled and not: more than there are cores, each with its own sampler.

The time is from a common start, after all imports, until the last process has exited; it includes starting
and ending the samplers.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from time import perf_counter

from benchmarks.children import PROGRAMS
from benchmarks.figures import Figure
from benchmarks.pairs import interleaved, ratio_figure
from benchmarks.work import rounds_for
from profkit.config import CONFIG
from profkit.model.session import SessionState
from profkit.store.spool import read_session, session_folders

PROCESSES = 8
_BOUND = 1.10
_WORK_S = 2.0


def measure(quick: bool) -> list[Figure]:
    """Compare eight profiled processes with eight unprofiled ones."""
    pairs, rounds = (1, rounds_for(0.1)) if quick else (12, rounds_for(_WORK_S))
    taken = interleaved(_all_s("profiled", rounds), _all_s("bare", rounds), pairs)
    states = [read_session(folder).manifest.state for folder in session_folders(CONFIG.spool)]
    if states != [SessionState.SUCCESS] * pairs * PROCESSES:
        raise RuntimeError(f"{pairs * PROCESSES} sessions ended as {states}")
    return [ratio_figure(f"{PROCESSES} profiled at once ÷ {PROCESSES} unprofiled", taken, _BOUND)]


def _all_s(how: str, rounds: int) -> Callable[[], float]:
    command = [sys.executable, str(PROGRAMS / "busy.py"), how, str(rounds)]

    def run() -> float:
        with ExitStack() as stack:
            children = [stack.enter_context(_started(command)) for _ in range(PROCESSES)]
            for child in children:
                _expect(child, "ready\n")
            start_s = perf_counter()
            for child in children:
                _send(child, "go\n")
            codes = [child.wait() for child in children]
            taken_s = perf_counter() - start_s
        if any(codes):
            raise RuntimeError(f"exit codes {codes}")
        return taken_s

    return run


def _started(command: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def _expect(child: subprocess.Popen[str], line: str) -> None:
    if child.stdout is None or child.stdout.readline() != line:
        raise RuntimeError(f"a process did not print {line!r}")


def _send(child: subprocess.Popen[str], line: str) -> None:
    if child.stdin is None:
        raise RuntimeError("a process has no stdin")
    child.stdin.write(line)
    child.stdin.flush()
