from __future__ import annotations

import pickle
import statistics
from dataclasses import replace

import pytest
from torch.utils.benchmark import Measurement as TorchMeasurement
from torch.utils.benchmark import Timer

from profkit.errors import UsageError
from profkit.measuring.exports import torch_compare, torch_measurement
from profkit.model.measurement import (
    Doubt,
    Flag,
    MeasuredIn,
    Measurement,
    OrderInfo,
    Preload,
    ProcessTimes,
    Timing,
    Tool,
)
from profkit.model.workorder import Language, Level, Mode

ORDER = OrderInfo(
    label="addition",
    what="x + y",
    setup="x = y = 1",
    global_setup="import math",
    mode=Mode.TIMER,
    language=Language.PYTHON,
    level=Level.FUNCTION,
    num_threads=2,
    quick=False,
)
PROCESSES = (
    ProcessTimes((2e-6, 3e-6), zygote=4, cpu_share=0.99, involuntary_switches=1),
    ProcessTimes((2.5e-6, 2.6e-6, 9e-6), zygote=5, cpu_share=0.5, involuntary_switches=70),
)
TIMING = Timing(1000, PROCESSES, MeasuredIn(Tool.NONE, Preload.NOTHING, "3.11.9"))
MEASURED = Measurement(ORDER, TIMING, doubts=(Doubt(Flag.SPREAD, "the slowest"),))


def test_a_measurement_for_each_process() -> None:
    first, second = torch_measurement(MEASURED)
    assert first.number_per_run == second.number_per_run == 1000
    assert first.raw_times == pytest.approx([2e-3, 3e-3])
    assert second.times == pytest.approx(list(PROCESSES[1].times_s))
    assert (second.metadata["zygote"], second.metadata["involuntary_switches"]) == (5, 70)
    assert first.metadata["doubts"] == ["the slowest"]


def test_they_merge_and_travel_as_torchs_own() -> None:
    exported = pickle.loads(pickle.dumps(torch_measurement(MEASURED)))
    (merged,) = TorchMeasurement.merge(exported)
    assert sorted(merged.times) == pytest.approx(sorted(PROCESSES[0].times_s + PROCESSES[1].times_s))
    assert merged.median == pytest.approx(statistics.median(PROCESSES[0].times_s + PROCESSES[1].times_s))
    assert "addition" in repr(merged)


def test_the_same_words_give_the_same_task_as_torchs_timer() -> None:
    labels = (("sub_label", "ints"), ("description", "now"), ("env", "main"), ("autograd", "off"))
    spec = torch_measurement(replace(MEASURED, order=replace(ORDER, labels=labels)))[0].task_spec
    timer = Timer(
        "x + y",
        "x = y = 1",
        "",
        label="addition",
        sub_label="ints",
        description="now",
        env="main",
        num_threads=2,
    )
    assert replace(spec, global_setup="") == timer._task_spec


def test_other_labels_describe() -> None:
    labels = (("autograd", "forward"), ("runtime", "eager"))
    order = replace(ORDER, labels=labels, language=Language.CPP, source_cmd=("env", "A=b c"))
    spec = torch_measurement(replace(MEASURED, order=order))[0].task_spec
    assert spec.description == "autograd: forward, runtime: eager, C++"
    assert spec.env == "env 'A=b c'"
    assert spec.sub_label is None


def test_a_table_of_several() -> None:
    def measured(row: str, column: str, factor: float) -> Measurement:
        processes = tuple(
            replace(process, times_s=tuple(factor * time for time in process.times_s))
            for process in PROCESSES
        )
        order = replace(ORDER, labels=(("sub_label", row), ("description", column)))
        return replace(MEASURED, order=order, timing=replace(TIMING, processes=processes))

    table = str(
        torch_compare([measured("ints", "old", 1), measured("ints", "new", 2), measured("floats", "new", 3)])
    )
    assert "addition" in table
    assert "2 threads" in table
    (ints,) = [line for line in table.splitlines() if "ints" in line]
    assert [float(cell) for cell in ints.split("|")[1:]] == pytest.approx([2.6, 5.2], rel=0.05)


def test_a_table_of_orders_without_labels() -> None:
    table = str(torch_compare([MEASURED, replace(MEASURED, order=replace(ORDER, label="subtraction"))]))
    assert "addition" in table
    assert "subtraction" in table
    assert "x + y" in table


def test_without_times_there_is_nothing_to_export() -> None:
    with pytest.raises(UsageError, match="'addition' has no times"):
        torch_measurement(Measurement(ORDER))
