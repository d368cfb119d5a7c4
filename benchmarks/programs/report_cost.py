"""Time reports of stored runs in this process: `report_cost.py RENDERER RUN…`.

Reports the first run once to load all modules, then times each. Prints the processor time of each in seconds
as JSON: everything runs in one thread, and other load does not count.
"""

from __future__ import annotations

import gc
import json
import sys
from time import process_time

from profkit.config import CONFIG
from profkit.model.run import Run
from profkit.render.options import ReportOptions, Terminal
from profkit.render.registry import IN_ORDER, SAMPLED
from profkit.store.runs import Store, open_store


def report_s(store: Store, renderer: str, run_id: str) -> float:
    """Return the time of one report, without garbage collection, as in `profkit report`."""
    gc.disable()
    start_s = process_time()
    run = store.load(run_id, in_order=renderer in IN_ORDER)
    if not isinstance(run, Run):
        raise RuntimeError(f"{run_id} has no samples")
    SAMPLED.renderer(renderer)([run], ReportOptions(), Terminal())
    taken_s = process_time() - start_s
    gc.enable()
    return taken_s


if __name__ == "__main__":
    name, first, *others = sys.argv[1:]
    with open_store(CONFIG.store_url) as opened:
        report_s(opened, name, first)
        print(json.dumps([report_s(opened, name, run) for run in (first, *others)]))
