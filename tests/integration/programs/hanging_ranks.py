"""A rank that waits for one which never enters a collective; each writes the dumps of its flight recorder.

`hanging_ranks.py ABSENT`: the number of the rank that does not enter.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path

import torch
import torch.distributed as dist
from torch._C import _distributed_c10d as recorder

STEPS = 5


def dump_when(entered: int) -> None:
    """Write the dumps as soon as this rank has entered so many collectives and all others have ended.

    The process ends when all ranks have done so.
    """
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    while True:
        text = recorder._dump_fr_trace_json()
        entries = json.loads(text).get("entries", [])
        numbers = [entry["collective_seq_id"] for entry in entries]
        if numbers == [*range(1, entered + 1)] and all(entry["retired"] for entry in entries[:STEPS]):
            break
        time.sleep(0.01)
    Path(f"dump_rank_{rank}").write_bytes(recorder._dump_fr_trace())
    Path(f"dump_rank_{rank}.json").write_bytes(text if isinstance(text, bytes) else text.encode())
    Path(f"done{rank}").touch()
    while not all(Path(f"done{one}").exists() for one in range(size)):
        time.sleep(0.01)
    os._exit(0)


def load(is_absent: bool) -> torch.Tensor:
    if is_absent:
        threading.Event().wait()
    return torch.ones(1000)


def main(absent: int) -> None:
    dist.init_process_group("gloo")
    is_absent = dist.get_rank() == absent
    threading.Thread(target=dump_when, args=(STEPS + (not is_absent),), daemon=True).start()
    for step in range(STEPS + 1):
        dist.all_reduce(load(is_absent and step == STEPS))


if __name__ == "__main__":
    main(int(sys.argv[1]))
