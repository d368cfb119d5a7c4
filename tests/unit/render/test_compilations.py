"""Reports of compilations in each format."""

from __future__ import annotations

import json
import re

import pytest

from profkit.model.region import Compilation
from profkit.render.options import DEFAULTS, PIPE, ReportOptions, Sort, Terminal
from profkit.render.registry import COMPILATIONS
from profkit.transforms.compilations import sum_up
from tests.support.example_compilations import compiled, compiled_runs
from tests.support.golden import check_golden

FOUND = sum_up(compiled_runs())


@pytest.mark.parametrize("width", [None, 80, 120])
def test_text(width: int | None) -> None:
    text = COMPILATIONS.renderer("text")(FOUND, DEFAULTS, Terminal(width))
    assert width is None or all(len(line) <= width for line in text.splitlines())
    check_golden(f"compilations-{'pipe' if width is None else f'width-{width}'}.txt", _without_moment(text))


def test_markdown() -> None:
    check_golden("compilations.md", COMPILATIONS.renderer("markdown")(FOUND, DEFAULTS, PIPE))


def test_json_has_everything() -> None:
    document = json.loads(COMPILATIONS.renderer("json")(FOUND, DEFAULTS, PIPE))
    assert document["schema"] == "profkit.compilations/1"
    assert [frame["frame"] for frame in document["frames"]] == ["0/0", None, None, "1/0"]
    assert sum(stage["share"] for stage in document["stages"]) == pytest.approx(1)
    assert document["passes"][0]["name"] == "InstructionTranslatorBase.step"
    assert document["passes"][0]["self_s"] == pytest.approx(0.5)
    nested = document["frames"][2]["phases"][0]
    assert (nested["nested"], nested["wall_s"]) == (True, pytest.approx(0.2))


def test_limit_and_order() -> None:
    options = ReportOptions(limit=1, sort=Sort.TOTAL)
    text = COMPILATIONS.renderer("text")(FOUND, options, PIPE)
    assert "… and 3 more frames" in text
    assert "… and 6 more functions" in text
    assert "by time including callees" in text
    by_name = json.loads(COMPILATIONS.renderer("json")(FOUND, ReportOptions(sort=Sort.NAME), PIPE))
    names = [row["name"] for row in by_name["passes"]]
    assert names == sorted(names)


def test_a_phase_that_has_not_ended_has_no_time() -> None:
    run = compiled("step 0/0 compile_inner", "step", Compilation("0/0", "compile_inner"), 0, 1)
    for format in ("text", "markdown"):
        assert "unfinished" in COMPILATIONS.renderer(format)(sum_up([run]), DEFAULTS, PIPE)


def _without_moment(text: str) -> str:
    return re.sub(r"\d{4}(-\d\d){2} \d\d(:\d\d){2} [+-]\d{4}", "MOMENT", text)
