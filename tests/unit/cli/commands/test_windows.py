"""Windows in `profkit list` and `profkit report`, and the options of `profkit run`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from profkit.cli.windows import MOST_MERGED, MOST_OF_JOB, folded
from profkit.cli.workspace import open_workspace
from profkit.config import Config
from profkit.model.run import Run, WindowsInfo
from profkit.model.session import Member
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


def test_windows_that_are_being_recorded_share_the_row_of_those_before(config: Config) -> None:
    keep(config, *(window(number, "a", 1) for number in range(2, 5)))
    keep(config, *(window(number, "b", 2) for number in range(2, 5)))
    with open_workspace(config) as opened:
        live = [window(1, "b", 2), window(0, "b", 2), window(0, "c", 3)]
        workspace = replace(opened, recording=tuple(live))
        rows, has_more = folded(workspace, None, 3)
        assert not has_more
        assert [(row.id, row.label) for row in rows] == [
            (live[1].info.id, "b"), (live[2].info.id, "c"), ("0100000002", "a"),
        ]  # fmt: skip
        first, second, third = rows
        assert isinstance(first, WindowsInfo)
        assert (first.windows, first.samples) == (5, 5 * live[0].info.samples)
        assert first.calls == 5 * live[0].info.calls
        assert first.started_ns == window(4).info.started_ns
        assert not isinstance(second, WindowsInfo)
        assert isinstance(third, WindowsInfo)
        assert folded(workspace, "b", 1) == ([first], False)
        assert folded(workspace, None, 2) == ([first, second], True)


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


def of_rank(number: int, rank: int, ranks: int) -> Run:
    run = window(number, pid=rank)
    process = replace(run.info.process, member=Member("100-abcd", rank, rank, ranks))
    return replace(run, info=replace(run.info, process=process))


@pytest.mark.parametrize(("ranks", "windows", "shown"), [(2, 102, 100), (20, MOST_OF_JOB // 20 + 5, 50)])
def test_a_report_of_a_job_is_of_its_newest_windows(
    profkit: Profkit, config: Config, ranks: int, windows: int, shown: int
) -> None:
    keep(config, *(of_rank(number, rank, ranks) for number in range(windows) for rank in range(ranks)))
    said = profkit("report", "--job", "--json")
    assert said.err.startswith(f"profkit: note: the newest {shown} windows of each process are shown; --all")
    document: Any = said.json()
    numbers = [run["rank"] for run in document["merged"]["runs"]]
    assert set(numbers) == set(range(ranks))
    assert {numbers.count(rank) for rank in range(ranks)} == {shown}


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
