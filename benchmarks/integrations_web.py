"""Benchmarks of the middleware for web services: `python -m benchmarks.integrations_web`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from benchmarks.suite import run_suite

MEASUREMENTS = {
    "web_requests": "what the middleware adds to a request: off, not chosen, and sampled",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; return the exit code."""
    return run_suite("integrations_web", MEASUREMENTS, arguments)


if __name__ == "__main__":
    sys.exit(main())
