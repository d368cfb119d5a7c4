"""Machine code without symbols in reports: its library has a name, its addresses have none."""

from __future__ import annotations

import pytest

from profkit.model.profile import Frame, ProfileBuilder, Thread
from profkit.model.run import Run
from profkit.render.html.sampled import sampled_html
from profkit.render.json.sampled import sampled_json
from profkit.render.registry import SAMPLED
from tests.support.example_runs import INFO, STEP

Z = "/usr/lib/x86_64-linux-gnu/libz.so.1.2.13"


def native_run() -> Run:
    builder = ProfileBuilder()
    for number in range(60):
        builder.add((STEP, Frame(f"0x7fd6cd7{number:05x}", Z)), Thread(4242, 4242, "MainThread"))
    return Run(INFO, builder.build(period_ns=1e7))


@pytest.mark.parametrize(
    "text",
    [
        SAMPLED.text([native_run()]),
        sampled_json([native_run()]),
        SAMPLED.markdown([native_run()]),
        sampled_html([native_run()]),
    ],
    ids=["text", "json", "markdown", "page"],
)
def test_no_report_names_a_function_by_its_address(text: str) -> None:
    assert "[libz.so]" in text
    assert "0x7fd6cd7" not in text


def test_suspects_have_their_callers() -> None:
    assert "| `[libz.so]` | `/usr/lib/x86_64-linux-gnu/libz.so.1.2.13` | `train_step` |" in SAMPLED.markdown(
        [native_run()]
    )
