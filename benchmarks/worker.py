"""One measurement in a separate process: `python -m benchmarks.worker NAME OUTPUT [--quick]`."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path

from benchmarks.figures import Figure


def main(name: str, output: str, *options: str) -> None:
    """Write the figures of the module `benchmarks.NAME` to a file, since its measurement may print."""
    figures: list[Figure] = import_module(f"benchmarks.{name}").measure("--quick" in options)
    Path(output).write_text(json.dumps([figure.to_object() for figure in figures]), "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
