"""Time that a first call is held up where samplers are denied: failing starts, diagnosis, the next start.

Compared with py-spy by hand in the same process, until it fails. CPython's reader is denied as well if `auto`
prefers it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.children import PROGRAMS, caching_environment
from benchmarks.figures import Figure
from benchmarks.pairs import Pair, median_figure
from benchmarks.programs.denied_start import NOT_DUMPABLE, PLAIN, TRACED
from benchmarks.sampled_child import PREFERS_READER
from profkit.units import format_duration
from tests.support.seccomp_filters import PTRACE, READ, launcher

_BOUND_S = 1.0
_NO_PTRACE = ("setpriv", "--bounding-set=-sys_ptrace", "--inh-caps=-all")
_INSIDE, _BY_MEM_FILE = ("inprocess", False), ("pyspy", False)
_NO_READER = launcher(READ) if PREFERS_READER else ()
"""Denies CPython's reader, if `auto` prefers it; py-spy reads /proc/PID/mem."""


@dataclass(frozen=True, slots=True)
class _Case:
    """A way to deny py-spy, and CPython's reader."""

    reached: tuple[str, bool]
    """The sampler that `auto` reaches, and whether it stops the program."""
    prefix: tuple[str, ...] = ()
    """Start of the command."""
    scene: str = PLAIN


_CASES: Mapping[str, _Case] = {
    "not dumpable": _Case(_INSIDE, _NO_PTRACE, NOT_DUMPABLE),
    **({} if PREFERS_READER else {"a filter on ptrace": _Case(_BY_MEM_FILE, launcher(PTRACE))}),
    "a filter on ptrace and process_vm_readv": _Case(_BY_MEM_FILE, launcher(PTRACE, READ)),
    "a filter on process_vm_readv that kills": _Case(_INSIDE, launcher(READ, action="KILL")),
    "a filter on both that kills": _Case(_INSIDE, launcher(PTRACE, READ, action="KILL")),
    "ENOSYS on ptrace": _Case(_BY_MEM_FILE, (*_NO_READER, *launcher(PTRACE, action="ENOSYS"))),
    "another tracer": _Case(_BY_MEM_FILE, _NO_READER, TRACED),
}
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
    wanted = _CASES[case]
    command = [*wanted.prefix, sys.executable, str(PROGRAMS / "denied_start.py"), wanted.scene]
    environ = caching_environment(folder / "compiled")
    done = subprocess.run(
        command, cwd=folder, env=environ, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{case}: the program ended with {done.returncode}:\n{done.stderr}")
    found = json.loads(done.stdout)
    reached = found["sampler"], found["blocking"]
    if reached != wanted.reached:
        raise RuntimeError(f"{case}: {reached} was reached, not {wanted.reached}")
    return found["call_s"], found["by_hand_s"]


def _figure(case: str, pairs: list[Pair]) -> Figure:
    first, second = (format_duration(median(side)) for side in zip(*pairs, strict=True))
    return median_figure(
        f"{case}: first call - py-spy by hand until it fails",
        [call_s - by_hand_s for call_s, by_hand_s in pairs], "s", _BOUND_S,
        f"{first} - {second}, {len(pairs)} pairs",
    )  # fmt: skip
