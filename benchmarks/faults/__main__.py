"""Inject faults into profiled programs, and count what is lost, left behind or changed."""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.children import ROOT
from benchmarks.faults.campaign import planned, repeat_failed, rows_of, run_campaign
from benchmarks.faults.injections import HELD
from benchmarks.faults.registry import FAULTS
from benchmarks.faults.results import Identity, Results
from benchmarks.faults.rows import failures_of, table_json, table_text
from benchmarks.machine import load, machine_facts
from tests.support.unsteady import record

_SEED = 4


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the campaign and print its table; return 1 if a check failed or a fault could not be injected."""
    options = _parser().parse_args(arguments)
    _restore_signals()
    chosen = {name: FAULTS[name] for name in options.only or FAULTS}
    identity = Identity(_commit(), options.seed, short=not options.full)
    results = Results(identity, options.resume)
    facts = machine_facts() | {
        "commit": identity.commit, "seed": str(options.seed),
        "form": "full" if options.full else "short", "load before": load(),
    }  # fmt: skip
    plan = planned(chosen, options.seed, short=not options.full, numbers=options.iterations)
    run_campaign(plan, results, options.jobs)
    # The short form runs beside tests, and is treated like them.
    unsteady = [] if options.full else repeat_failed(plan, results)
    rows = rows_of(plan, results)
    facts |= {"load after": load()}
    if options.json is not None:
        options.json.write_text(table_json(rows, facts) + "\n", "utf-8")
    print(table_text(rows, facts))
    for row in rows:
        planned_numbers = {injection.number for injection in plan[row.name]}
        outcomes = {
            number: each for number, each in results.of(row.name).items() if number in planned_numbers
        }
        for failure in failures_of(row.name, options.seed, outcomes):
            print(failure)
    names = [f"benchmarks.faults {each.fault} {each.number}" for each in unsteady]
    record(ROOT, names)
    for name in names:
        print(f"UNSTEADY {name}")
    return 0 if all(row.verdict == HELD for row in rows) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.faults", description=(__doc__ or "").partition("\n")[0]
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--short", action="store_true", help="every fault, in three minutes (the default)")
    form.add_argument("--full", action="store_true", help="every injection, in two to four hours")
    parser.add_argument(
        "--only", nargs="+", choices=FAULTS, metavar="NAME", help=f"faults to inject, of {', '.join(FAULTS)}"
    )
    parser.add_argument("--seed", type=int, default=_SEED, help="seed of all random choices")
    parser.add_argument("--iterations", nargs="+", type=int, metavar="N", help="only these injections")
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="number of injections at a time"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the table as JSON")
    parser.add_argument(
        "--resume", type=Path, metavar="FILE",
        help="keep each outcome in FILE as a line of JSON, and skip injections that FILE has",
    )  # fmt: skip
    return parser


def _restore_signals() -> None:
    """Restore signal actions for targets: jobs of scripts ignore SIGINT and SIGQUIT, `nohup` SIGHUP."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def _commit() -> str:
    """Return the checkout's commit, with a plus sign if profkit differs from it."""
    words = ("git", "-C", str(ROOT), "describe", "--always", "--abbrev=10", "--exclude=*", "--dirty=+")
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return "unknown"
    return done.stdout.strip() or "unknown"


if __name__ == "__main__":
    sys.exit(main())
