"""Run a suite of measurements, each in its own process and folder, and print one table.

With its own process, no measurement sees another's threads, modules, sessions or zygotes. The exit code is 0
if everything was measured, and 1 if a measurement failed, or if bounds are checked and broken.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.children import end_group, environment
from benchmarks.figures import FAILS, Figure, figure_from
from benchmarks.machine import Stolen, load, machine_facts
from benchmarks.table import table_json, table_text

Measurements = Mapping[str, str]
"""Names of modules in `benchmarks`, with descriptions of their measurements."""
_GRACE_S = 10.0


def run_suite(name: str, measurements: Measurements, arguments: Sequence[str] | None = None) -> int:
    """Measure and print; return the exit code. The arguments are those of the program by default."""
    options = _parser(name, measurements).parse_args(arguments)
    facts, stolen = machine_facts() | {"load before": load()}, Stolen()
    figures: list[Figure] = []
    failed = []
    for chosen in options.only or measurements:
        found = _measured(chosen, measurements[chosen], options.quick)
        figures += found or []
        failed += [] if found is not None else [chosen]
    facts |= {"load after": load(), "stolen by the host": f"{stolen.share():.1%} of all cores' time"}
    facts |= {"repetitions": "few (--quick): figures are not reliable"} if options.quick else {}
    facts |= {"failed": ", ".join(failed)} if failed else {}
    print(table_json(figures, facts) if options.json else table_text(figures, facts))
    broken = options.check and any(figure.verdict == FAILS for figure in figures)
    return 1 if failed or broken else 0


def _measured(name: str, what: str, quick: bool) -> list[Figure] | None:
    """Return the figures of one measurement; None if it failed, with the reason on stderr."""
    print(f"{name}: {what} …", end=" ", file=sys.stderr, flush=True)
    start_s = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="profkit-benchmark-") as folder:
        output = Path(folder) / "figures.json"
        command = [sys.executable, "-m", "benchmarks.worker", name, str(output), *["--quick"] * quick]
        # Not to this process's stdout: the user's pipe may expect only the table.
        worker = subprocess.Popen(
            command, cwd=folder, env=environment(), stdin=subprocess.DEVNULL, stdout=sys.stderr,
            process_group=0,
        )  # fmt: skip
        try:
            code = worker.wait()
        finally:  # its programs end, too, if this one is interrupted
            end_group(worker, _GRACE_S)
        if code or not output.exists():
            print(f"failed ({code})", file=sys.stderr)
            return None
        documents = json.loads(output.read_text("utf-8"))
    print(f"{time.monotonic() - start_s:.0f} s", file=sys.stderr)
    return [figure_from(document) for document in documents]


def _parser(name: str, measurements: Measurements) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.{name}", description=__doc__)
    parser.add_argument(
        "--only", nargs="+", choices=measurements, metavar="NAME", help=f"of {', '.join(measurements)}"
    )
    parser.add_argument(
        "--quick", action="store_true", help="few repetitions, to check that everything works"
    )
    parser.add_argument("--check", action="store_true", help="exit with 1 if a bound is broken")
    parser.add_argument("--json", action="store_true", help="JSON instead of a table")
    return parser
