"""`--source-root` of report and compare: source of runs that were recorded elsewhere."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from profkit.config import Config
from tests.support.cli_runs import Profkit, keep
from tests.support.example_measurements import COUNTS, measured, timing
from tests.support.example_runs import made_run, with_sources

LINE = "loss.backward()"


def test_pages_have_source_below_the_root_alone(profkit: Profkit, config: Config, tmp_path: Path) -> None:
    first = with_sources(made_run(), tmp_path / "vision")
    second = replace(first, info=replace(first.info, id="aa00000000"))
    keep(config, first, second)
    root = ("--source-root", str(tmp_path / "vision"))
    for command in (("report", first.info.id), ("compare", first.info.id, "aa00000000")):
        page = (*command, "--html", "-o", "-")
        assert LINE not in profkit(*page).out
        assert LINE in profkit(*page, *root).out
    (tmp_path / "empty").mkdir()
    assert LINE not in profkit("report", "--json", "--source-root", str(tmp_path / "empty")).out


def test_it_is_refused_for_what_shows_no_source(profkit: Profkit, config: Config, tmp_path: Path) -> None:
    run = with_sources(made_run(), tmp_path / "vision")
    keep(
        config, run, replace(run, info=replace(run.info, id="aa00000000")), measured(timing([[1e-6]]), COUNTS)
    )
    said = profkit("compare", run.info.id, "aa00000000", "--source-root", str(tmp_path))
    assert (said.code, "only the page of two sampled" in said.err) == (2, True)
    measured_id = measured(timing([[1e-6]]), COUNTS).info.id
    said = profkit("report", measured_id, "--source-root", str(tmp_path))
    assert (said.code, "--source-root" in said.err) == (2, True)
    assert profkit("report", run.info.id, "--source-root", str(tmp_path / "no")).code == 2
