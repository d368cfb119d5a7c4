"""Measured times as `torch.utils.benchmark` knows them, for tools that read its Measurements."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from typing import TYPE_CHECKING

from profkit.errors import UsageError
from profkit.model.measurement import Measurement, OrderInfo, ProcessTimes
from profkit.model.workorder import Language

if TYPE_CHECKING:
    from torch.utils.benchmark import Compare
    from torch.utils.benchmark import Measurement as TorchMeasurement
    from torch.utils.benchmark.utils.common import TaskSpec

_OF_TORCH = ("sub_label", "description", "env")
"""An order's labels of these names are what torch's Timer calls so: a row, a column, an environment."""


def torch_measurement(measurement: Measurement) -> list[TorchMeasurement]:
    """One of torch's Measurements for each process; raises UsageError where no times were measured.

    `torch.utils.benchmark.Measurement.merge` puts them together, and so do Compare's tables; that loses
    which block is of which process, and `metadata`, which says more about each process here. Other labels
    of the order than torch's own come as the description.
    """
    from torch.utils.benchmark import Measurement as TorchMeasurement

    timing = measurement.timing
    if timing is None:
        raise UsageError(f"{measurement.order.label!r} has no times", "measure it with mode='timer'")
    spec = _task_spec(measurement.order)
    return [
        TorchMeasurement(
            number_per_run=timing.number,
            raw_times=[time_s * timing.number for time_s in process.times_s],
            task_spec=spec,
            metadata=_metadata(measurement, number, process),
        )
        for number, process in enumerate(timing.processes)
    ]


def torch_compare(measurements: Iterable[Measurement]) -> Compare:
    """Torch's table of measurements, a row for each statement and a column for each description.

    It shows medians of all blocks; `comparing.timings` says which differences are real.
    """
    from torch.utils.benchmark import Compare

    return Compare([process for measurement in measurements for process in torch_measurement(measurement)])


def _task_spec(order: OrderInfo) -> TaskSpec:
    from torch.utils.benchmark.utils.common import TaskSpec

    labels = dict(order.labels)
    others = ", ".join(f"{name}: {value}" for name, value in order.labels if name not in _OF_TORCH)
    if order.language is Language.CPP:
        others = ", ".join(filter(None, (others, "C++")))
    return TaskSpec(
        stmt=order.what,
        setup=order.setup,
        global_setup=order.global_setup,
        label=order.label,
        sub_label=labels.get("sub_label"),
        # Not None: torch's tables cannot show a column that has no name.
        description=labels.get("description", others),
        env=labels.get("env", shlex.join(order.source_cmd) or None),
        num_threads=order.num_threads,
    )


def _metadata(measurement: Measurement, number: int, process: ProcessTimes) -> dict[str, object]:
    return {
        "process": number,
        "zygote": process.zygote,
        "cpu_share": process.cpu_share,
        "involuntary_switches": process.involuntary_switches,
        "doubts": [doubt.why for doubt in measurement.doubts],
    }
