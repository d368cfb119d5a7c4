"""Time that a first call is held up where py-spy is denied: the failing start, its diagnosis, the next start.

Compared with py-spy by hand in the same process, until it fails.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.children import PROGRAMS, caching_environment
from benchmarks.figures import Figure
from benchmarks.pairs import Pair, estimate
from benchmarks.programs.denied_start import NOT_DUMPABLE, PLAIN, TRACED
from profkit.units import format_duration
from tests.support.seccomp_filters import PTRACE, READ, launcher

NAME = "denials"
_BOUND_S = 1.0
_NO_PTRACE = ("setpriv", "--bounding-set=-sys_ptrace", "--inh-caps=-all")
_CASES: Mapping[str, tuple[tuple[str, ...], str]] = {
    "not dumpable": (_NO_PTRACE, NOT_DUMPABLE),
    "a filter on ptrace": (launcher(PTRACE), PLAIN),
    "a filter on ptrace and process_vm_readv": (launcher(PTRACE, READ), PLAIN),
    "a filter on both that kills": (launcher(PTRACE, READ, action="KILL"), PLAIN),
    "ptrace not implemented": (launcher(PTRACE, action="ENOSYS"), PLAIN),
    "another tracer": ((), TRACED),
}
"""Prefix of the command, and scene, by what is denied."""
_TIMEOUT_S = 120


def measure(quick: bool) -> list[Figure]:
    """Time first calls in fresh processes, case by case in turn."""
    pairs = 1 if quick else 10
    taken: dict[str, list[Pair]] = {case: [] for case in _CASES}
    with TemporaryDirectory() as folder:
        for number in range(pairs + 1):
            for case in _CASES:
                pair = _pair(case, Path(folder))
                if number:  # the first one compiles
                    taken[case].append(pair)
    return [_figure(case, found) for case, found in taken.items()]


def _pair(case: str, folder: Path) -> Pair:
    prefix, scene = _CASES[case]
    command = [*prefix, sys.executable, str(PROGRAMS / "denied_start.py"), scene]
    environ = caching_environment(folder / "compiled")
    done = subprocess.run(
        command, cwd=folder, env=environ, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{case}: the program ended with {done.returncode}:\n{done.stderr}")
    call_s, by_hand_s = json.loads(done.stdout)
    return call_s, by_hand_s


def _figure(case: str, pairs: list[Pair]) -> Figure:
    found = estimate([call_s - by_hand_s for call_s, by_hand_s in pairs])
    first, second = (estimate(list(side)).median for side in zip(*pairs, strict=True))
    return Figure(
        NAME, f"{case}: first call - py-spy by hand until it fails", found.median, "s", _BOUND_S,
        interval=found.interval, spread=found.spread,
        detail=f"{format_duration(first)} - {format_duration(second)}, {len(pairs)} pairs",
    )  # fmt: skip
