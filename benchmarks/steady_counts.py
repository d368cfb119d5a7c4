"""Stability of counts under load and in other environments, and of gates for unchanged code."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.children import PROGRAMS, environment, output_of
from benchmarks.figures import Figure
from profkit.stats.means import share_interval

_LOAD = 6
"""Number of busy processes during a measurement."""
_SEED = 7
_MINIMAL = ("PATH", "HOME", "PYTHONPATH")
_GATED = "text.split(',')"
_PROFKIT = ("-m", "profkit")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Environment of a command."""

    name: str
    env: dict[str, str] = field(default_factory=dict)
    minimal: bool = False
    folder: str = ""
    prefix: tuple[str, ...] = ()


SURROUNDINGS = (
    Surroundings("as they are"),
    Surroundings("another folder", folder="a/folder/with a longer name"),
    Surroundings("a large environment", env={f"PADDING_{n}": "x" * 300 for n in range(20)}),
    Surroundings("a small environment", minimal=True),
    Surroundings("another hash seed", env={"PYTHONHASHSEED": "4711"}),
    Surroundings("fixed addresses", prefix=("setarch", "-R")),
)


def measure(quick: bool) -> list[Figure]:
    """Count 24 statements in six environments at load 0 and 6, and gate unchanged code."""
    surroundings, gates = (SURROUNDINGS[:2], 4) if quick else (SURROUNDINGS, 200)
    counts: dict[str, set[float]] = {}
    unequal: set[str] = set()
    commands = 0
    for load in (0, _LOAD):
        for around in surroundings:
            with _busy(load):
                for label, count in _counted(around).items():
                    counts.setdefault(label, set()).add(count.stripped)
                    unequal |= set() if count.repeats_are_equal else {label}
            commands += 1
    moved = {label: sorted(found) for label, found in counts.items() if len(found) > 1}
    widest = max((found[-1] / found[0] - 1 for found in moved.values()), default=0.0)
    return [
        _several("whose repeats are equal", counts.keys() - unequal, moved, commands, bound=0),
        _several("whose repeats differ", unequal, moved, commands, bound=None),
        Figure("largest range of a statement's counts", widest * 100, "%", 0.1, certain=True),
        _gates(gates),
    ]  # fmt: skip


def _several(
    which: str, labels: Set[str], moved: Mapping[str, object], commands: int, bound: float | None
) -> Figure:
    """Return the number of statements with several counts."""
    found = sorted(moved.keys() & labels)
    return Figure(
        f"statements of {len(labels)} {which}, with several counts", len(found), "", bound,
        certain=True, detail=f"{commands} commands; {', '.join(found) or 'none'}",
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Count:
    """One statement's count in one command."""

    stripped: float
    repeats_are_equal: bool
    """True if the statement does exactly the same in each execution."""


def _counted(around: Surroundings) -> dict[str, Count]:
    """Return the counts of one command, by label."""
    with tempfile.TemporaryDirectory() as top:
        folder = Path(top) / around.folder
        folder.mkdir(parents=True, exist_ok=True)
        kept = {
            name: value for name, value in environment().items() if name in _MINIMAL or not around.minimal
        }
        arguments = (
            "measure",
            str(PROGRAMS / "counted_orders.py"),
            "--mode",
            "callgrind",
            "--no-keep",
            "--json",
        )
        command = [*around.prefix, sys.executable, *_PROFKIT, *arguments]
        done = subprocess.run(
            command, cwd=folder, env=kept | around.env, check=True, capture_output=True, text=True
        )
    counts = {order["label"]: order["instructions"] for order in json.loads(done.stdout)["orders"]}
    return {label: Count(found["stripped"], len(set(found["raw"])) == 1) for label, found in counts.items()}


def _gates(gates: int) -> Figure:
    """Measure the same commit repeatedly while the load changes, and gate pairs of its runs."""
    dice = random.Random(_SEED)
    with tempfile.TemporaryDirectory() as folder:
        env = environment() | {
            "PROFKIT_STORE": f"sqlite:///{folder}/runs.db",
            "PROFKIT_SPOOL": f"{folder}/spool",
        }
        runs = []
        for _ in range(max(3, gates // 10)):
            with _busy(dice.choice((0, 1, 3, _LOAD))):
                made = output_of([*_PROFKIT, "measure", _GATED, "--setup", "text = 'a,b,c'", "--mode",
                                  "callgrind", "--json"], env)  # fmt: skip
            runs.append(json.loads(made)["orders"][0]["id"])
        pairs = [dice.sample(runs, 2) for _ in range(gates)]
        codes = [_gate(run, baseline, env) for run, baseline in pairs]
    failed = sum(code != 0 for code in codes)
    low, high = share_interval(failed, gates)
    return Figure(
        f"failed gates of unchanged code, of {gates}", failed, "", 0, certain=True,
        detail=f"exit codes {sorted(set(codes))}; 95 %: {low:.1%} to {high:.1%}",
    )  # fmt: skip


def _gate(run: str, baseline: str, env: dict[str, str]) -> int:
    command = [sys.executable, *_PROFKIT, "gate", run, "--baseline", baseline]
    return subprocess.run(command, env=env, check=False, capture_output=True).returncode


@contextmanager
def _busy(processes: int) -> Iterator[None]:
    """Keep this many processes busy during the block."""
    program = f"import os\nwhile os.getppid() == {os.getpid()}: sum(range(10_000))"  # until this process ends
    busy = [subprocess.Popen([sys.executable, "-c", program]) for _ in range(processes)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()
