"""Traces of torch.profiler from several ranks of a job, as PyTorch's documentation and sources describe them.

Kernels of NCCL are made up here, since they need GPUs.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

STEP_US, TRANSFER_US = 1000, 50


def nccl_trace(
    rank: int,
    late_us: Sequence[Sequence[int]],
    *,
    with_stack: bool = True,
    group: str = "0",
    host: str = "node",
) -> bytes:
    """Return the trace of a rank: each works a step, some longer than others, and then all reduce.

    `late_us` has the delay of each rank by step. The ranks' clocks differ.
    """
    pid, now_us = 1000 + rank, 10_000_000 * (rank + 1)
    events: list[dict[str, object]] = []
    for late in late_us:
        work_us = STEP_US + late[rank]
        wait_us = max(late) - late[rank] + TRANSFER_US
        if with_stack:
            events += [
                _event("python_function", "train.py(3): <module>", pid, pid, now_us, work_us + wait_us),
                _event("python_function", "train.py(9): slow_augment", pid, pid, now_us, late[rank]),
                _event("python_function", "torch/cuda/streams.py(90): synchronize", pid, pid,
                    now_us + work_us, wait_us),
            ]  # fmt: skip
        events.append(_event("cpu_op", "aten::mm", pid, pid, now_us + late[rank], STEP_US // 2))
        args = {
            "stream": 7, "External id": 5, "Collective name": "allreduce", "dtype": "Float",
            "Group size": len(late), "Process Group Name": group, "Process Group Description": "default_pg",
            "Process Group Ranks": str([*range(len(late))]),
        }  # fmt: skip
        kernel = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
        events.append(_event("kernel", kernel, 0, 7, now_us + work_us, wait_us, args))
        now_us += work_us + wait_us
    size = len(late_us[0])
    info = {"backend": "nccl", "rank": rank, "world_size": size, "pg_count": 1, "nccl_version": "2.27.5"}
    head = {"schemaVersion": 1, "distributedInfo": info, "host_name": host}
    lasting = [one for one in events if one["dur"]]
    return json.dumps({**head, "deviceProperties": [], "traceEvents": lasting}).encode()


def _event(
    cat: str, name: str, pid: int, tid: int, ts: int, dur: int, args: dict[str, object] | None = None
) -> dict[str, object]:
    return {
        "ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args or {}
    }  # fmt: skip
