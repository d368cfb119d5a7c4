"""Reports of a run that torch.profiler recorded, too."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from profkit.model.profile import Profile
from profkit.model.run import Run
from profkit.render.options import DEFAULTS, PIPE, ReportOptions, Sort, Terminal
from profkit.render.registry import SAMPLED
from profkit.render.views.operators import device_sentence
from profkit.transforms.operators import sum_up_traces
from tests.support.example_runs import made_run
from tests.support.golden import check_golden
from tests.support.torch_traces import CPU, GPU

ON_CPU, ON_GPU = (replace(made_run(), trace=sum_up_traces([events])) for events in (CPU, GPU))


def operators_of(text: str) -> str:
    """The part of a text report about the trace, without the tables of samples."""
    found = re.search(r"\nOperators .*?(?=\nHottest functions)", text, re.DOTALL)
    assert found is not None
    return found[0].strip("\n") + "\n"


@pytest.mark.parametrize("width", [None, 80])
@pytest.mark.parametrize(("name", "run"), [("cpu", ON_CPU), ("gpu", ON_GPU)])
def test_text(name: str, run: Run, width: int | None) -> None:
    text = SAMPLED.renderer("text")([run], DEFAULTS, Terminal(width))
    assert width is None or all(len(line) <= width for line in text.splitlines())
    kind = "pipe" if width is None else f"width-{width}"
    check_golden(f"operators-{name}-{kind}.txt", operators_of(text))


def test_operators_are_shown_without_samples() -> None:
    text = SAMPLED.renderer("text")([replace(ON_CPU, profile=Profile())], DEFAULTS, PIPE)
    assert "aten::addmm" in text
    markdown = SAMPLED.renderer("markdown")([replace(ON_CPU, profile=Profile())], DEFAULTS, PIPE)
    assert "`aten::addmm`" in markdown


def test_device_columns_only_with_a_device() -> None:
    for format in ("text", "markdown"):
        assert "self GPU" not in SAMPLED.renderer(format)([ON_CPU], DEFAULTS, PIPE)
        assert "self GPU" in SAMPLED.renderer(format)([ON_GPU], DEFAULTS, PIPE)


def test_limit_and_order() -> None:
    text = SAMPLED.renderer("text")([ON_CPU], ReportOptions(limit=1, sort=Sort.TOTAL), PIPE)
    assert "aten::linear" in operators_of(text)
    assert "aten::addmm" not in operators_of(text)
    assert "… and 2 more operators" in text


def test_json_and_page_have_everything() -> None:
    trace = json.loads(SAMPLED.renderer("json")([ON_GPU], DEFAULTS, PIPE))["trace"]
    assert [row["name"] for row in trace["operators"]] == ["aten::addmm", "aten::copy_", "aten::linear"]
    assert trace["device_busy_share"] == pytest.approx(70 / 120)
    assert len(trace["kernels"]) == 3
    assert "trace" not in json.loads(SAMPLED.renderer("json")([made_run()], DEFAULTS, PIPE))
    page = SAMPLED.renderer("html")([ON_GPU], DEFAULTS, PIPE)
    assert "aten::addmm" in page
    assert "aten::addmm" not in SAMPLED.renderer("html")([made_run()], DEFAULTS, PIPE)


@pytest.mark.parametrize(
    ("busy_ns", "devices", "said"),
    [
        (118_000, 1, "98.3 % of the time: the GPU is the bottleneck, not the Python code"),
        (24_000, 1, "20.0 % of the time: it waits for the program"),
        (70_000, 1, "58.3 % of the time."),
        (216_000, 2, "the 2 GPUs were busy 90.0 % of the time: the GPU is the bottleneck"),
    ],
)
def test_the_bottleneck_is_named(busy_ns: int, devices: int, said: str) -> None:
    assert ON_GPU.trace is not None
    assert said in device_sentence(replace(ON_GPU.trace, device_busy_ns=busy_ns, devices=devices))


def test_nothing_is_said_without_a_device() -> None:
    assert ON_CPU.trace is not None
    assert device_sentence(ON_CPU.trace) == ""
