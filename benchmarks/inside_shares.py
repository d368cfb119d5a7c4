"""Shares of a program that is sampled from inside, by each way, compared with the clock's.

Of Python code in unequal parts, and of a mix with C code that holds or releases the GIL, and waiting.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.children import PROGRAMS, environment
from benchmarks.figures import Figure, check_enough
from benchmarks.programs.inside_shares import MAIN, MIXED, PYTHON, THREAD
from tests.support.seccomp_filters import READ, launcher

_SAMPLES, _FEWEST_SAMPLES = 5500, 5000
_HAS_STATES = sys.version_info >= (3, 15)
_TIMEOUT_S = 300


@dataclass(frozen=True, slots=True)
class _Way:
    """One way to sample from inside: how to get it, and the error that the docs state."""

    kind: str
    rate_hz: float
    place: str
    prefix: tuple[str, ...]
    bounds_points: dict[str, float]


def _ways() -> list[_Way]:
    denied = launcher(READ) if _HAS_STATES else ()
    ways = [
        _Way("timer", 100.0, MAIN, denied, {PYTHON: 5.0, MIXED: 5.0}),
        _Way("thread", 100.0, THREAD, denied, {PYTHON: 5.0, MIXED: 50.0}),
    ]
    if _HAS_STATES:
        ways.append(_Way("interpreter", 1000.0, MAIN, (), {PYTHON: 3.0, MIXED: 3.0}))
    return ways


def measure(quick: bool) -> list[Figure]:
    """Measure the largest error of a share, by way and mix."""
    samples, fewest = (100, 1) if quick else (_SAMPLES, _FEWEST_SAMPLES)
    return [_figure(way, mix, samples, fewest) for way in _ways() for mix in (PYTHON, MIXED)]


def _figure(way: _Way, mix: str, samples: int, fewest: int) -> Figure:
    found = _found(way, mix, samples / way.rate_hz)
    if found["kinds"] != [way.kind]:
        raise RuntimeError(f"it was sampled by {found['kinds']}, not by {way.kind}")
    check_enough(found["samples"], fewest, f"{way.kind}, {mix}")
    errors = {name: 100 * (found["seen"][name] - true) for name, true in found["true"].items()}
    worst = max(errors, key=lambda name: abs(errors[name]))
    parts = ", ".join(f"{name} {error:+.1f}" for name, error in errors.items())
    return Figure(
        f"{way.kind}, {mix}: largest error of a share", abs(errors[worst]), "points",
        way.bounds_points[mix], certain=True, detail=f"{found['samples']:,} samples; {parts}",
    )  # fmt: skip


def _found(way: _Way, mix: str, duration_s: float) -> dict[str, Any]:
    program = str(PROGRAMS / "inside_shares.py")
    command = [
        *way.prefix, sys.executable, program, str(way.rate_hz), str(duration_s), way.place, mix
    ]  # fmt: skip
    with TemporaryDirectory() as folder:
        done = subprocess.run(
            command, cwd=Path(folder), env=environment(), capture_output=True, text=True,
            timeout=_TIMEOUT_S, check=False,
        )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"the program ended with {done.returncode}:\n{done.stderr}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found
