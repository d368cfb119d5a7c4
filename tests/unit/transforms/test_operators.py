"""Events of torch.profiler's traces as operators, ranges, kernels and lanes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from profkit.model.trace import Kernel, Operator, Range
from profkit.transforms.operators import sum_up_traces
from tests.support.torch_traces import CPU, GPU, operator

LINEAR = Operator("aten::linear", "[4, 8] [2, 8]", 1, 10_000, 40_000)
ADDMM = Operator("aten::addmm", "[4, 8] [8, 2]", 1, 30_000, 30_000)
SUM = Operator("aten::sum", "", 2, 30_000, 30_000)


def test_operators_have_their_own_time_and_that_of_those_inside() -> None:
    trace = sum_up_traces([CPU])
    assert trace.operators == (ADDMM, SUM, LINEAR)
    assert trace.ranges == (Range("step", 1, 100_000), Range("loss", 1, 50_000))
    assert (trace.calls, trace.span_ns, trace.devices, trace.kernels) == (1, 100_000, 0, ())
    assert trace.device_busy_share == 0.0


def test_traces_add_up() -> None:
    trace = sum_up_traces([CPU, CPU, CPU])
    assert trace.operators[0] == replace(ADDMM, calls=3, self_cpu_ns=90_000, total_cpu_ns=90_000)
    assert (trace.calls, trace.span_ns, trace.last_span_ns) == (3, 300_000, 100_000)


def test_kernels_belong_to_the_operator_that_launched_them() -> None:
    trace = sum_up_traces([GPU])
    rows = {row.name: row for row in trace.operators}
    assert (rows["aten::addmm"].self_device_ns, rows["aten::addmm"].total_device_ns) == (70_000, 70_000)
    assert (rows["aten::linear"].self_device_ns, rows["aten::linear"].total_device_ns) == (0, 70_000)
    assert rows["aten::copy_"].self_device_ns == 20_000
    assert {row.name: row.total_device_ns for row in trace.ranges} == {"step": 90_000, "loss": 70_000}
    assert trace.kernels == (
        Kernel("gemm_tail", "kernel", 1, 40_000),
        Kernel("gemm", "kernel", 1, 30_000),
        Kernel("Memcpy HtoD", "gpu_memcpy", 1, 20_000),
    )


def test_a_device_is_busy_once_while_kernels_overlap() -> None:
    trace = sum_up_traces([GPU])
    assert (trace.devices, trace.device_busy_ns, trace.span_ns) == (1, 70_000, 120_000)
    assert trace.device_busy_share == pytest.approx(70 / 120)


def test_each_thread_and_stream_has_a_lane() -> None:
    threads = sum_up_traces([CPU]).lanes
    assert [(lane.name, lane.is_device, lane.busy_ns) for lane in threads] == [
        ("thread 4242 (python)", False, 50_000), ("thread 77", False, 20_000),
    ]  # fmt: skip
    for lane in (*threads, *sum_up_traces([GPU]).lanes):
        span_ns = 100_000 if lane in threads else 120_000
        assert sum(lane.busy) / len(lane.busy) == pytest.approx(lane.busy_ns / span_ns, abs=1e-3)
    streams = [lane.name for lane in sum_up_traces([GPU]).lanes if lane.is_device]
    assert streams == ["device 0 stream 7", "device 0 stream 8"]


def test_recursion_counts_the_total_once() -> None:
    outer, inner = operator("aten::to", 0.0, 10.0, 1), operator("aten::to", 2.0, 5.0, 2)
    assert sum_up_traces([[outer, inner]]).operators == (Operator("aten::to", "", 2, 10_000, 10_000),)


@pytest.mark.parametrize(
    "event",
    [
        {**operator("x", 0.0, 1.0, 1), "ts": "soon"},
        {**operator("x", 0.0, 1.0, 1), "dur": -1},
        {**operator("x", 0.0, 1.0, 1), "args": 3},
    ],
)
def test_events_that_are_not_valid(event: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="'x' has no valid"):
        sum_up_traces([[event]])


def test_a_trace_without_events() -> None:
    trace = sum_up_traces([[]])
    assert (trace.operators, trace.lanes, trace.span_ns) == ((), (), 0)
    with pytest.raises(ValueError, match="no traces"):
        sum_up_traces([])
