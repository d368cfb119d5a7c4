"""Import the files in folders, and compare what profkit reads with other readers.

For each accepted file, the total, and self and total of the ten largest functions, must be those of an
independent reader: the module `pstats`, `callgrind_annotate`, `go tool pprof`, gprof2dot, or speedscope. The
exit code is 1 if a file is misread.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.formats.checks import VERDICTS, Check, check, files_in, import_file
from benchmarks.formats.speedscope import Reading, read_all


def main(arguments: Sequence[str] | None = None) -> int:
    """Check all files and print a line for each; return the exit code."""
    options = _parser().parse_args(arguments)
    files = files_in(options.path)
    readings: Mapping[Path, Reading] = read_all(options.speedscope, files) if options.speedscope else {}
    checks = [check(import_file(file), readings.get(file, {})) for file in files]
    print(_as_json(checks) if options.json else _as_text(checks))
    return 1 if any(one.differences for one in checks) else 0


def _as_text(checks: Sequence[Check]) -> str:
    rows = [(str(one.file), one.format, one.verdict, one.detail) for one in checks]
    widths = [max(len(row[column]) for row in rows) for column in range(3)] if rows else [0] * 3
    lines = ["  ".join((*map(str.ljust, row, widths), row[3])).rstrip() for row in rows]
    counts = Counter(one.verdict for one in checks)
    return "\n".join([*lines, "", ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS)])


def _as_json(checks: Sequence[Check]) -> str:
    listed = [
        {"file": str(one.file), "format": one.format, "verdict": one.verdict, "detail": one.detail}
        for one in checks
    ]
    return json.dumps({"schema": "profkit.formats/1", "files": listed}, indent=1)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.formats", description=__doc__)
    parser.add_argument("path", nargs="+", type=Path, help="files, or folders with files")
    parser.add_argument(
        "--speedscope", type=Path, metavar="CLONE", help="clone of speedscope with its packages"
    )
    parser.add_argument("--json", action="store_true", help="JSON instead of a table")
    return parser


if __name__ == "__main__":
    sys.exit(main())
