"""Events of torch.profiler's traces made by hand: a step on a CPU, and one that launches kernels."""

from __future__ import annotations

from typing import Any

PID = 4242


def operator(
    name: str, start_us: float, length_us: float, external: int, shapes: list[list[int]] | None = None,
    tid: int = PID,
) -> dict[str, Any]:  # fmt: skip
    arguments: dict[str, Any] = {"External id": external}
    if shapes is not None:
        arguments["Input Dims"] = shapes
    return {
        "ph": "X", "cat": "cpu_op", "name": name, "pid": PID, "tid": tid, "ts": start_us, "dur": length_us,
        "args": arguments,
    }  # fmt: skip


def annotation(name: str, start_us: float, length_us: float) -> dict[str, Any]:
    return {
        "ph": "X", "cat": "user_annotation", "name": name, "pid": PID, "tid": PID, "ts": start_us,
        "dur": length_us, "args": {"External id": 900},
    }  # fmt: skip


def kernel(
    name: str, start_us: float, length_us: float, external: int, stream: int = 7, device: int = 0,
    kind: str = "kernel",
) -> dict[str, Any]:  # fmt: skip
    return {
        "ph": "X", "cat": kind, "name": name, "pid": device, "tid": stream, "ts": start_us, "dur": length_us,
        "args": {"External id": external, "device": device, "stream": stream, "correlation": external},
    }  # fmt: skip


THREAD = "thread 4242 (python)"
NAME = {"ph": "M", "name": "thread_name", "pid": PID, "tid": PID, "ts": 0.0, "args": {"name": THREAD}}
CPU = (
    NAME,
    annotation("step", 0.0, 100.0),
    annotation("loss", 10.0, 50.0),
    operator("aten::linear", 10.0, 40.0, 1, [[4, 8], [2, 8], []]),
    operator("aten::addmm", 15.0, 30.0, 2, [[4, 8], [8, 2]]),
    operator("aten::sum", 60.0, 10.0, 3),
    operator("aten::sum", 80.0, 20.0, 4, tid=77),
    {"ph": "s", "id": 6, "cat": "fwdbwd", "name": "fwdbwd", "pid": PID, "tid": PID, "ts": 15.0},
)
"""A linear layer with its product inside, and sums, one of them in another thread."""
GPU = (
    *CPU[:5],
    operator("aten::copy_", 70.0, 10.0, 5),
    kernel("gemm", 50.0, 30.0, 2),
    kernel("gemm_tail", 60.0, 40.0, 2, stream=8),
    kernel("Memcpy HtoD", 100.0, 20.0, 5, kind="gpu_memcpy"),
    {**operator("cudaLaunchKernel", 16.0, 4.0, 2), "cat": "cuda_runtime"},
)
"""Two kernels of one product, which overlap, and a copy."""
