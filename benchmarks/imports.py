"""Time of imports and the modules that they load, in fresh processes whose modules are already compiled."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

from benchmarks.children import caching_environment, output_of
from benchmarks.figures import Figure
from benchmarks.pairs import interleaved, ratio_figure

REFERENCE = "import wrapt, psutil"
STATEMENTS = ("import profkit", "from profkit import profile, profiled")
HEAVY = ("torch", "psycopg", "rich", "click")
"""Packages that are loaded only when they are used."""
_BOUND = 1.5
_TIMED = """
from time import perf_counter
start_s = perf_counter()
{statement}
print(perf_counter() - start_s)
"""


def measure(quick: bool) -> list[Figure]:
    """Compare each import with the two packages that a profiler needs, and list what it loads."""
    pairs = 2 if quick else 40
    figures = []
    for statement in STATEMENTS:
        _import_s(statement), _import_s(REFERENCE)  # compiles
        taken = interleaved(partial(_import_s, statement), partial(_import_s, REFERENCE), pairs)
        figures.append(ratio_figure(f"{statement} ÷ {REFERENCE}", taken, _BOUND))
        figures.append(_loaded_figure(statement))
    return figures


def _import_s(statement: str) -> float:
    return float(output_of(["-c", _TIMED.format(statement=statement)], caching_environment(Path("compiled"))))


def _loaded_figure(statement: str) -> Figure:
    code = f"{statement}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    loaded = set(json.loads(output_of(["-c", code], caching_environment(Path("compiled")))))
    heavy = [name for name in HEAVY if name in loaded]
    return Figure(
        f"{statement}: loads of {', '.join(HEAVY)}", len(heavy), "of 4", 0, certain=True,
        detail=", ".join(heavy) or f"none; {len(loaded)} modules in all",
    )  # fmt: skip
