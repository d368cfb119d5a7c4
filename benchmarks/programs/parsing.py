"""Read, parse and write the standard library's own modules repeatedly: deep stacks of real code.

`python parsing.py SECONDS` ends after that time.
"""

from __future__ import annotations

import ast
import sys
import sysconfig
import time
import tokenize
from itertools import cycle
from pathlib import Path


def parse_and_write(path: Path) -> int:
    """Parse a module and write it with `ast`; return the length of the new source."""
    with tokenize.open(path) as source:
        text = source.read()
    return len(ast.unparse(ast.parse(text)))


def count_words(path: Path) -> int:
    """Return the number of tokens in a module."""
    with path.open("rb") as source:
        return sum(1 for _ in tokenize.tokenize(source.readline))


def main(duration_s: float) -> None:
    """Process the modules until the time is over."""
    paths = sorted(Path(sysconfig.get_path("stdlib")).glob("[a-d]*.py"))
    end_s = time.monotonic() + duration_s
    for path in cycle(paths):
        if time.monotonic() > end_s:
            return
        parse_and_write(path)
        count_words(path)


if __name__ == "__main__":
    main(float(sys.argv[1]))
