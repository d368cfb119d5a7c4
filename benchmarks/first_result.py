"""Time to the first result: one empty block and its run, compared with py-spy started and stopped by hand.

Each pair runs in a fresh process, whose modules are already compiled. py-spy by hand has the flags that
profkit uses, and samples the same process.
"""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.children import PROGRAMS, caching_environment, output_of
from benchmarks.figures import Figure
from benchmarks.pairs import Pair, ratio_figure
from benchmarks.programs.first_block import AGAIN, FRESH, IMPORTED

_STARTS = {
    AGAIN: ("block + result, everything loaded before ÷ py-spy by hand", 2.5),
    IMPORTED: ("first of a process, profkit imported before ÷ py-spy by hand", 2.5),
    # The import has its own bound: see `imports`.
    FRESH: ("first of a process and `from profkit import profiled` ÷ py-spy by hand", None),
}


def measure(quick: bool) -> list[Figure]:
    """Time a block with everything imported, and as the first thing in a process."""
    pairs = 2 if quick else 30
    taken: dict[str, list[Pair]] = {start: [] for start in _STARTS}
    for number in range(pairs + 1):
        for start in _STARTS:
            pair = _pair(start)
            if number:  # the first one compiles
                taken[start].append(pair)
    return [ratio_figure(what, taken[start], bound) for start, (what, bound) in _STARTS.items()]


def _pair(start: str) -> Pair:
    program = str(PROGRAMS / "first_block.py")
    block_s, by_hand_s = json.loads(output_of([program, start], caching_environment(Path("compiled"))))
    return block_s, by_hand_s
