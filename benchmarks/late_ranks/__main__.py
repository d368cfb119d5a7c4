"""Record jobs of which one rank is late or none, and check whom their reports name.

The recordings are kept in a folder. `--read` checks those of an earlier run again, with changed rules.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from benchmarks.late_ranks.jobs import Job, jobs, record
from benchmarks.machine import load


def main(arguments: Sequence[str] | None = None) -> int:
    """Record and check; return 1 if a report names a wrong rank or function, or none."""
    options = _parser().parse_args(arguments)
    every = list(jobs(options.late, options.even))
    for job in () if options.read else every:
        record(job, options.folder / job.label, options.seconds)
        print(f"{job.label} recorded; load {load()}", file=sys.stderr, flush=True)
    return _check(every, options.folder)


def _check(every: Sequence[Job], folder: Path) -> int:
    from benchmarks.late_ranks.verdicts import is_right, said  # profkit's settings are those of the jobs

    right, of = Counter[bool](), Counter(job.late is not None for job in every)
    for job in every:
        sentence, facts = said(folder / job.label, job)
        right[job.late is not None] += is_right(job, sentence)
        print(
            f"{'right' if is_right(job, sentence) else 'WRONG'} {job.label}: {sentence} [{facts}]", flush=True
        )
    print(f"late rank and its function named: {right[True]} of {of[True]}")
    print(f"of equal ranks, none named: {right[False]} of {of[False]}")
    return 0 if right == of else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.late_ranks", description=__doc__)
    parser.add_argument("folder", type=Path, help="folder of the recordings; new, or with --read an old one")
    parser.add_argument("--late", type=int, default=25, metavar="N", help="jobs with a late rank")
    parser.add_argument("--even", type=int, default=20, metavar="N", help="jobs without one")
    parser.add_argument("--seconds", type=float, default=15.0, metavar="S", help="time of each job")
    parser.add_argument("--read", action="store_true", help="check the recordings in the folder again")
    return parser


if __name__ == "__main__":
    sys.exit(main())
