"""Windows in `profkit list` and `profkit report`, and the options of `profkit run`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from profkit.cli.windows import MOST_MERGED, folded
from profkit.config import Config
from profkit.model.run import Run, RunInfo, WindowsInfo
from tests.support.cli_runs import Profkit, keep
from tests.support.example_runs import labelled


def window(number: int, label: str = "serve", pid: int = 1) -> Run:
    """The window that began so many minutes before the newest one."""
    run = labelled(f"{pid:02}{number:08}", label, age_s=60 * number, session=f"{pid}-{number:04}")
    plan, process = replace(run.info.plan, window_s=60.0), replace(run.info.process, pid=pid)
    return replace(run, info=replace(run.info, plan=plan, process=process, session_s=60.0))


def merged(profkit: Profkit, *arguments: str) -> Any:
    return profkit("report", *arguments, "--json").json()["merged"]


def test_a_day_of_windows_is_a_row(profkit: Profkit, config: Config) -> None:
    keep(config, *(window(number) for number in range(30)), labelled("bbbb000000", "other", age_s=600))
    lines = profkit("list").out.splitlines()
    assert lines[0].split()[:4] == ["run", "started", "label", "windows"]
    assert [line.split()[0] for line in lines[1:]] == ["0100000000", "bbbb000000"]
    assert lines[1].split()[4] == "30"
    assert profkit("list", "--limit", "1").err.endswith("raise --limit to list them\n")
    runs = profkit("list", "--json").json()["runs"]
    assert isinstance(runs, list)
    assert len(runs) == 31


def test_windows_of_each_process_and_label_are_a_row() -> None:
    infos = [window(number, label, pid).info
             for number in range(5) for label in ("a", "b") for pid in (1, 2)]  # fmt: skip
    rows, has_more = folded(iter(infos), 3)
    assert has_more
    assert [(row.label, row.process.pid) for row in rows] == [("a", 1), ("a", 2), ("b", 1)]
    for row in rows:
        assert isinstance(row, WindowsInfo)
        assert row.windows == 5
        assert row.samples == 5 * infos[0].samples
        assert row.durations.count == 5 * infos[0].durations.count
        assert row.started_ns == min(info.started_ns for info in infos)
    single: RunInfo = window(0).info
    assert folded(iter([single]), 3) == ([single], False)


def test_a_report_is_of_the_windows_of_a_process(profkit: Profkit, config: Config) -> None:
    keep(config, *(window(number) for number in range(4)), window(1, pid=2), window(9, "other"))
    assert [run["id"] for run in merged(profkit)["runs"]] == [f"01{number:08}" for number in range(4)]
    assert len(merged(profkit, "serve")["runs"]) == 4
    said = profkit("report", "serve")
    assert "in windows of 60.0 s" in said.out
    assert profkit("report", "0100000002", "--json").json()["merged"] is None
    assert len(merged(profkit, "serve", "--all")["runs"]) == 5


def test_a_report_is_of_the_newest_windows(profkit: Profkit, config: Config) -> None:
    keep(config, *(window(number) for number in range(MOST_MERGED + 2)))
    said = profkit("report", "--json")
    assert said.err.startswith("profkit: note: the newest 100 windows are shown; --all")
    document: Any = said.json()
    assert len(document["merged"]["runs"]) == MOST_MERGED


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--keep", "1MB"), "--keep and --push are for windows"),
        (("--push", "there"), "--keep and --push are for windows"),
        (("--windows", "0.5s"), "window=0.5"),
        (("--windows", "soon"), "'soon' is not a duration"),
        (("--windows", "60s", "--keep", "much"), "'much' is not a size"),
        (("--windows", "60s", "--mode", "memory"), "--windows does not apply to --mode memory"),
    ],
)
def test_wrong_options_start_nothing(profkit: Profkit, arguments: tuple[str, ...], problem: str) -> None:
    said = profkit("run", *arguments, "-c", "print('started')")
    assert (said.code, said.out) == (2, "")
    assert problem in said.err
