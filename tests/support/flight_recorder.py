"""Dumps of torch.distributed's flight recorder, in the form of its version 2.10."""

from __future__ import annotations

from collections.abc import Sequence

FRAMES = [
    {
        "name": "all_reduce",
        "filename": "/v/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py",
        "line": 9,
    },
    {"name": "train", "filename": "/app/train.py", "line": 13},
    {"name": "<module>", "filename": "/app/train.py", "line": 15},
]
"""The innermost frame is the first."""


def entry(
    number: int,
    state: str = "completed",
    name: str = "nccl:all_reduce",
    sizes: Sequence[int] = (1000,),
    **more: object,
) -> dict[str, object]:
    return {
        "collective_seq_id": number, "p2p_seq_id": 0, "op_id": number, "pg_id": 0, "record_id": number,
        "process_group": ("0", "default_pg"), "profiling_name": name, "is_p2p": False,
        "input_sizes": (tuple(sizes),), "input_dtypes": ("Float",), "output_sizes": (tuple(sizes),),
        "output_dtypes": ("Float",), "state": state, "retired": state == "completed", "timeout_ms": 600000,
        "time_created_ns": 10**18 + number, "frames": FRAMES, **more,
    }  # fmt: skip


def dump(*entries: dict[str, object], ranks: int = 4) -> dict[str, object]:
    config = {"name": "0", "desc": "default_pg", "ranks": str([*range(ranks)])}
    return {
        "version": "2.10", "comm_lib_version": "2.27.5", "pg_config": {"0": config}, "pg_status": {},
        "entries": list(entries),
    }  # fmt: skip
