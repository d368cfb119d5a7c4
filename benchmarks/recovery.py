"""Programs killed by SIGKILL while they are sampled, and what `profkit list` recovers of them."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time

from benchmarks.children import PROGRAMS, environment, output_of
from benchmarks.figures import Figure
from benchmarks.pairs import median_figure
from profkit.config import CONFIG
from profkit.store.spool import is_live, read_session, session_folders

_EARLIEST_S, _LATEST_S = 0.15, 1.5
_DEADLINE_S = 10.0
_POLL_S = 0.02
_SEED = 20


def measure(quick: bool) -> list[Figure]:
    """Count missing runs and samples after a kill at a random moment."""
    moments, rng = 3 if quick else 20, random.Random(_SEED)
    found, listed_after_s = [], []
    for number in range(moments):
        label = f"target {number}"
        killed_after_s = _kill(label, rng.uniform(_EARLIEST_S, _LATEST_S))
        listed_after_s.append(_sampler_gone_s())
        found.append(_samples(label) / (killed_after_s * 100))
    kills = f"{moments} kills"
    return [
        Figure(
            f"killed programs that are not listed with their samples, of {moments}",
            sum(1 for share in found if not share), f"of {moments}", 0, certain=True,
            detail=f"killed after {_EARLIEST_S} to {_LATEST_S} s",
        ),
        median_figure("their samples ÷ time at 100 a second", found, "×", detail=kills),
        median_figure("from the kill until the sampler has written", listed_after_s, "s", detail=kills),
    ]  # fmt: skip


def _kill(label: str, after_s: float) -> float:
    """Start a program and kill it; return the seconds for which it was sampled."""
    command = [sys.executable, str(PROGRAMS / "endless.py"), label]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        if child.stdout is None or child.stdout.readline() != "running\n":
            raise RuntimeError("the program did not start")
        start_s = time.perf_counter()
        time.sleep(after_s)
        child.kill()
        return time.perf_counter() - start_s


def _sampler_gone_s() -> float:
    """Wait until no process works in the newest session's folder; return the waiting time."""
    start_s = time.perf_counter()
    folder = session_folders(CONFIG.spool)[-1]
    while is_live(read_session(folder).manifest):
        if time.perf_counter() - start_s > _DEADLINE_S:
            raise RuntimeError("the sampler outlives its program")
        time.sleep(_POLL_S)
    return time.perf_counter() - start_s


def _samples(label: str) -> int:
    """Return the samples of a label's run in `profkit list`, 0 if there is no such run."""
    document = json.loads(output_of(["-m", "profkit", "list", "--json"], environment()))
    return sum(run["samples"] for run in document["runs"] if run["label"] == label)
