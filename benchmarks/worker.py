"""One measurement in a separate process: `python -m benchmarks.worker NAME OUTPUT [--quick]`."""

from __future__ import annotations

import json
import signal
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from benchmarks.figures import Figure


def main(name: str, output: str, *options: str) -> None:
    """Write the figures of the module `benchmarks.NAME` to a file, since its measurement may print."""
    # A shell's background jobs ignore SIGINT, and so would the samplers that they start.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    figures: list[Figure] = import_module(f"benchmarks.{name}").measure("--quick" in options)
    named = [replace(figure, measurement=name) for figure in figures]
    Path(output).write_text(json.dumps([figure.to_object() for figure in named]), "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
