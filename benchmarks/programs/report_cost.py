"""From the store to the report, within this process: `report_cost.py RENDERER RUN…`.

Reports the first run once to load all modules, then each, timed. Prints the seconds of each run as JSON.
"""

from __future__ import annotations

import gc
import json
import sys
from time import perf_counter

from profkit.config import CONFIG
from profkit.model.run import Run
from profkit.render.options import ReportOptions
from profkit.render.page import Page
from profkit.render.registry import RENDERERS
from profkit.store.runs import Store, open_store


def report_s(store: Store, renderer: str, run_id: str) -> float:
    """How long one report took; no collector runs meanwhile, as in `profkit report`."""
    gc.disable()
    start_s = perf_counter()
    run = store.load(run_id)
    if not isinstance(run, Run):
        raise RuntimeError(f"{run_id} has no samples")
    RENDERERS[renderer](run, ReportOptions(), Page())
    taken_s = perf_counter() - start_s
    gc.enable()
    return taken_s


if __name__ == "__main__":
    name, first, *others = sys.argv[1:]
    with open_store(CONFIG.store_url) as opened:
        report_s(opened, name, first)
        print(json.dumps([report_s(opened, name, run) for run in (first, *others)]))
