"""Run programs with a known answer under `profkit run`, and check what their reports say."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.answers.answers_table import Row, table_json, table_text
from benchmarks.answers.cases import CASES, Case
from benchmarks.answers.running import examine, measure_plainly, missing
from benchmarks.answers.truth import SECONDS
from benchmarks.machine import load, machine_facts


def main(arguments: Sequence[str] | None = None) -> int:
    """Examine the programs and print their table; return 1 if a check failed."""
    options = _parser().parse_args(arguments)
    facts = machine_facts() | {
        "program's Python": options.python, "seconds": f"{SECONDS:g}",
        "busy loops": str(options.load), "load before": load(),
    }  # fmt: skip
    chosen = [case for case in CASES if not options.only or case.name in options.only]
    rows = [_row(case, options.python, options.load, options.runs) for case in chosen]
    facts |= {"load after": load()}
    if options.json is not None:
        options.json.write_text(table_json(rows, facts) + "\n", "utf-8")
    print(table_text(rows, facts))
    return 0 if all(row.passed == len(row.verdicts) for row in rows) else 1


def _row(case: Case, python: str, loops: int, runs: int) -> Row:
    if absent := missing(case, python):
        return Row(case, not_run=absent)
    plain = measure_plainly(case, python, loops)
    row = Row(case, tuple(examine(case, python, loops, plain) for _ in range(runs)))
    print(f"{case.name}: {row.passed} of {runs}", file=sys.stderr)
    return row


def _parser() -> argparse.ArgumentParser:
    names = [case.name for case in CASES]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.answers", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=names, metavar="NAME", help="programs to run")
    parser.add_argument(
        "--load", type=int, default=0, metavar="N", help="number of busy loops beside each program"
    )
    parser.add_argument(
        "--python", default=sys.executable, metavar="PATH", help="Python of profkit and the programs"
    )
    parser.add_argument("--runs", type=int, default=1, metavar="N", help="number of runs of each program")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write all results as JSON")
    return parser


if __name__ == "__main__":
    sys.exit(main())
