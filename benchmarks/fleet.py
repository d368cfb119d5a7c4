"""Suites on three workers of Dask, on machines of their own as far as namespaces make them; needs root.

The orders of the scaled suite wait for most of their time, so that processors of one real machine are enough
for three equal ones. The others are compared with themselves: each difference is a false alarm.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import combinations, pairwise
from pathlib import Path
from time import perf_counter

from benchmarks.children import caching_environment
from benchmarks.figures import Figure
from benchmarks.pairs import share_figure
from profkit.comparing.measured import compare_measured
from profkit.model.comparison import OrderCompared, Verdict
from profkit.model.measurement import MeasuredRun
from profkit.store.measured import SCHEMA
from profkit.store.records import parse_document
from tests.neighbours.dask_machines import ADDRESS, HOSTS, Machines, machines

_FORMS = {
    "waiting": """work_order("time.sleep(0.25)", setup="import time", runs=4, processes=1, **SHARED)""",
    "timed": """work_order(f"sum(range({100 + n}))", processes=6, min_run_time_s=0.02, **SHARED)""",
    "counted": """work_order(f"sum(range({100 + n}))", mode="callgrind", python_functions=False, **SHARED)""",
}
"""Orders of suites, by name; order n has a label of its own."""
_LEAST_SCALE = 2.7


def measure(quick: bool) -> list[Figure]:
    """Measure a suite on one worker and on three, and compare two others with themselves."""
    waiting, timed, counted = (6, 6, 3) if quick else (200, 200, 34)
    folder = Path.cwd()
    with ExitStack() as stack:
        fleet = stack.enter_context(machines(folder))
        stack.enter_context(fleet.scheduler())
        stack.enter_context(fleet.worker(HOSTS[0]))
        fleet.await_workers(1)
        alone_s, _ = _measured(fleet, "waiting", waiting)
        for host in HOSTS[1:]:
            stack.enter_context(fleet.worker(host))
        fleet.await_workers(3)
        shared_s, runs = _measured(fleet, "waiting", waiting)
        times = [_measured(fleet, "timed", timed)[1] for _ in range(2)]
        counts = [_measured(fleet, "counted", counted)[1] for _ in range(3)]
    here = _measured(None, "counted", counted)[1]
    detail = f"{waiting} orders: {alone_s:.0f} s on one, {shared_s:.0f} s on three"
    return [
        Figure("three workers' time ÷ one worker's", shared_s / alone_s, "×", 1 / _LEAST_SCALE, certain=True,
               detail=detail),
        Figure("pairs of orders measured at once on a machine", _overlaps([*runs, *times[0], *times[1]]), "",
               0, certain=True),
        _alarms("A against A by times called different", times),
        _alarms("A against A by counts called different, one of four sides local", [*counts, here]),
    ]  # fmt: skip


def _measured(fleet: Machines | None, form: str, number: int) -> tuple[float, list[MeasuredRun]]:
    """Measure a suite on the fleet, or else here; return the command's seconds, and the runs."""
    folder = Path.cwd() / f"{form}-{perf_counter():.6f}"
    folder.mkdir()
    orders = f'SHARED = {{"quick": True, "label": f"{form} {{n}}"}}\n        yield {_FORMS[form]}'
    (folder / "orders.py").write_text(
        f"from profkit import work_order\ndef orders():\n    for n in range({number}):\n        {orders}\n"
        "ORDERS = list(orders())\n"
    )
    argv = [sys.executable, "-m", "profkit", "measure", "orders.py"]
    command = argv if fleet is None else fleet.on_hub(*argv, "--dask", ADDRESS)
    start_s = perf_counter()
    subprocess.run(
        command, cwd=folder, env=caching_environment(Path("compiled").resolve()), stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, check=True,
    )  # fmt: skip
    taken_s = perf_counter() - start_s
    files = (folder / ".profkit").rglob("*.measured.json")
    runs = [parse_document(file.read_bytes(), SCHEMA, MeasuredRun) for file in files]
    if len(runs) != number or any(run.info.error for run in runs):
        raise RuntimeError(f"{form}: {len(runs)} of {number} runs, {[run.info.error for run in runs]}")
    return taken_s, runs


def _overlaps(runs: Sequence[MeasuredRun]) -> int:
    """Count pairs of neighbouring runs of a machine that were measured at the same time."""
    found = 0
    for host in HOSTS:
        infos = [run.info for run in runs if run.info.process.host == host]
        spans = sorted((info.started_ns, info.ended_ns) for info in infos)
        found += sum(before[1] > after[0] for before, after in pairwise(spans))
    return found


def _alarms(what: str, sides: Sequence[Sequence[MeasuredRun]]) -> Figure:
    """Count verdicts that report a difference, over all pairs of sides, which have the same orders."""
    verdicts = [
        verdict
        for a, b in combinations(sides, 2)
        for order in compare_measured(a, b, ("A", "A")).orders
        for verdict in _verdicts(order)
    ]
    hits = sum(verdict in (Verdict.SLOWER, Verdict.FASTER) for verdict in verdicts)
    detail = f"{hits} of {len(verdicts)} comparisons"
    return share_figure(what, hits, len(verdicts), 2.0, detail=detail)


def _verdicts(order: OrderCompared) -> Iterator[Verdict]:
    if order.obstacle is not None:
        raise RuntimeError(f"{order.name}: {order.obstacle}")
    yield from (compared.verdict for compared in (order.times, order.counts) if compared is not None)
