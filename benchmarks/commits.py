"""Compare two commits of profkit itself: `python -m benchmarks.commits BASE --only calls imports`.

Each round runs the same suite in a work tree of BASE and in this checkout, one after the other; the order
alternates from round to round. A figure is the ratio of this checkout's value to that of BASE, with the
interval of `benchmarks.pairs`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

from benchmarks.children import ROOT
from benchmarks.figures import Figure, figure_from
from benchmarks.machine import load, machine_facts
from benchmarks.pairs import estimate
from benchmarks.table import table_json, table_text
from profkit.process.git import commit_of, work_trees

Values = Mapping[str, float]
"""Value of each figure, by its name; mere counts are left out."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; return 1 if a figure certainly exceeds its bound, else 0."""
    options = _parser().parse_args(arguments)
    commit = commit_of(options.base, ROOT)
    with work_trees(ROOT, [commit]) as (base,):
        rounds: list[tuple[Values, Values]] = []
        for number in range(options.rounds):
            print(f"round {number + 1} of {options.rounds} …", file=sys.stderr, flush=True)
            rounds.append(_round(number, base, options))
    names = [what for what in rounds[0][0] if all(new.get(what) and old.get(what) for new, old in rounds)]
    figures = [_figure(commit, what, rounds, options.bound) for what in names]
    facts = {**machine_facts(), "load after": load()}
    print(table_json(figures, facts) if options.json else table_text(figures, facts))
    return 1 if any(figure.verdict == "fails" for figure in figures) else 0


def _figure(commit: str, what: str, rounds: Sequence[tuple[Values, Values]], bound: float) -> Figure:
    found = estimate([new[what] / old[what] for new, old in rounds])
    medians = [median(side[what] for side in sides) for sides in zip(*rounds, strict=True)]
    return Figure(
        what, found.median, "×", bound, interval=found.interval, spread=found.spread,
        detail=f"{medians[0]:.4g} ÷ {medians[1]:.4g}, {len(rounds)} rounds", measurement=f"÷ {commit[:10]}",
    )  # fmt: skip


def _round(number: int, base: Path, options: argparse.Namespace) -> tuple[Values, Values]:
    """Return the values of this checkout and of BASE."""
    found: dict[Path, Values] = {}
    for tree in (ROOT, base) if number % 2 else (base, ROOT):
        found[tree] = _values(tree, options)
    return found[ROOT], found[base]


def _values(tree: Path, options: argparse.Namespace) -> Values:
    command = [sys.executable, "-m", f"benchmarks.{options.suite}", "--json", *["--quick"] * options.quick]
    command += ["--only", *options.only] if options.only else []
    environ = {**os.environ, "PYTHONPATH": str(tree)}
    done = subprocess.run(command, cwd=tree, env=environ, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"the benchmarks of {tree} failed:\n{done.stderr}")
    figures = [figure_from(document | {"verdict": ""}) for document in json.loads(done.stdout)["figures"]]
    return {f"{found.measurement}: {found.what}": found.value for found in figures if not found.certain}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.commits", description=__doc__)
    parser.add_argument("base", help="the commit to compare with")
    parser.add_argument("--suite", default="sampling", help="sampling, measuring or reporting")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="measurements of the suite")
    parser.add_argument("--rounds", type=int, default=10, help="number of rounds")
    parser.add_argument("--quick", action="store_true", help="few repetitions in each round")
    parser.add_argument("--bound", type=float, default=1.03, help="maximum ratio")
    parser.add_argument("--json", action="store_true", help="JSON instead of a table")
    return parser


if __name__ == "__main__":
    sys.exit(main())
