"""What pages hold, number for number."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from profkit.render.html.measured import measured_html
from profkit.render.html.sampled import sampled_html
from profkit.render.options import ReportOptions, Sort
from tests.support.example_measurements import COUNTS, failed, measured, timing
from tests.support.example_runs import made_run, with_sources
from tests.support.golden import check_golden
from tests.support.html_pages import read_page


def written(html: str) -> str:
    """A page's head with its columns in place, a line for each part."""
    page = read_page(html)
    head = {name: value for name, value in page.head.items() if name != "profkit"}
    head["columns"] = {
        name: [column["kind"], column["offset"], *page.column(name)]
        for name, column in head["columns"].items()
    }
    lines = [line for name, value in head.items() for line in _lines(name, value)]
    return "\n".join(lines) + "\n"


def _lines(name: str, value: object) -> list[str]:
    if isinstance(value, dict):
        return [line for key, inner in value.items() for line in _lines(f"{name}.{key}", inner)]
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return [line for n, inner in enumerate(value) for line in _lines(f"{name}[{n}]", inner)]
    return [f"{name} = {json.dumps(value)}"]


@pytest.mark.usefixtures("utc")
def test_a_sampled_page(tmp_path: Path) -> None:
    run = with_sources(made_run(), tmp_path / "vision")
    assert run.profile is not None
    unordered = replace(run.profile, ordered=False)
    other = replace(run, info=replace(run.info, id="aa"), profile=unordered, resources=())
    html = sampled_html([run, other], ReportOptions(thread="loader-0", sort=Sort.TOTAL, source_root=tmp_path))
    check_golden("page-two-regions-thread-loader-0-sort-total.txt", written(html))


@pytest.mark.usefixtures("utc")
def test_a_measured_page() -> None:
    times = timing([[2.1e-06, 2.2e-06], [2.0e-06, 2.3e-06]])
    check_golden("page-measured-failed.txt", written(measured_html([measured(times, COUNTS), failed()])))
