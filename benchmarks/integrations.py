"""Benchmarks of profkit in other tools: `python -m benchmarks.integrations`."""

from __future__ import annotations

import sys

from benchmarks.suite import run_suite

MEASUREMENTS = {
    "pytest": "pytest with the plugin while it is not used, compared with pytest without it; sampled tests",
    "tracked_memory": 'calls with mode="memory", compared with the same calls untracked',
    "compilations": "torch's compilations with the hook, compared with those without it",
    "traces": "mode='trace', compared with torch.profiler alone",
    "notebook_cells": "cells of IPython with the extension, compared with those without it",
    "web_requests": "what the middleware adds to a request: off, not chosen, and sampled",
}


if __name__ == "__main__":
    sys.exit(run_suite("integrations", MEASUREMENTS))
