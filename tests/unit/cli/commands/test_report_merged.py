"""`profkit report --all`, `--since` and `--session`: which runs are merged, and what is said about others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from profkit.cli.versions import Relation, relation_of, several_regions
from profkit.clock import SYSTEM_CLOCK
from profkit.config import Config
from profkit.model.region import Region, RegionKey, RegionKind
from profkit.model.run import Run
from profkit.store.runs import open_store
from tests.support.cli_runs import Profkit, finished_session, keep, live_session
from tests.support.example_measured_runs import measured_run
from tests.support.example_runs import STARTED_NS, labelled, made_run
from tests.support.example_worker_runs import MS, READ, RENDER, worker_run

ALIKE = {READ: 60, RENDER: 40}
WORKERS = [worker_run(number, ALIKE) for number in range(3)]


def of_another_version(run: Run) -> Run:
    region = run.info.region
    return replace(run, info=replace(run.info, region=replace(region, key=replace(region.key, line=99))))


def merged(profkit: Profkit, *arguments: str) -> Any:
    return profkit("report", *arguments, "--json").json()["merged"]


def ids(profkit: Profkit, *arguments: str) -> list[str]:
    return [run["id"] for run in merged(profkit, *arguments)["runs"]]


@pytest.fixture
def workers(config: Config) -> None:
    keep(config, *WORKERS, labelled("bbbb000000", "other", age_s=-3600))


@pytest.mark.usefixtures("workers")
def test_all_runs_of_a_label_are_one_report(profkit: Profkit) -> None:
    said = profkit("report", "handler", "--all")
    assert (said.code, said.err) == (0, "")
    assert said.out.split("\n")[0].endswith("3 runs, merged")
    document: Any = profkit("report", "handler", "--all", "--json").json()
    assert (document["run"]["samples"], document["run"]["calls"]) == (300, 30)
    assert [process["pid"] for process in document["merged"]["processes"]] == [100, 101, 102]
    # A run that is named stands for its label.
    assert ids(profkit, WORKERS[0].info.id, "--all") == [run.info.id for run in reversed(WORKERS)]


@pytest.mark.usefixtures("workers")
def test_without_a_label_that_of_the_newest_run_is_meant(profkit: Profkit) -> None:
    assert ids(profkit, "--all") == ["bbbb000000"]


@pytest.mark.usefixtures("workers")
@pytest.mark.parametrize("ending", [".md", ".html"])
def test_other_forms_of_the_report(profkit: Profkit, tmp_path: Path, ending: str) -> None:
    target = tmp_path / f"out{ending}"
    said = profkit("report", "handler", "--all", "-o", str(target))
    assert (said.code, said.err) == (0, "")
    assert "3 runs" in target.read_text("utf-8")


@pytest.mark.usefixtures("workers")
def test_since_a_moment(profkit: Profkit, utc: None) -> None:
    assert len(ids(profkit, "handler", "--since", "2025-11-21T11:49:03")) == 3
    assert len(ids(profkit, "handler", "--since", "2025-11-21T12:50:00+01:00")) == 2
    assert len(ids(profkit, "handler", "--since", "20000d")) == 3
    said = profkit("report", "handler", "--since", "10m")
    assert (said.code, said.out) == (6, "")
    assert "no run of 'handler' since " in said.err
    assert "its newest run is from 2025-11-21 11:51:03 in 20251121T114902-102-9c1f" in said.err


def test_a_run_that_began_earlier_and_had_calls_since_takes_part(profkit: Profkit, config: Config) -> None:
    last_ns = STARTED_NS + 3600 * 1000 * MS
    keep(config, worker_run(0, ALIKE, last_ns=last_ns), worker_run(1, ALIKE))
    assert ids(profkit, "handler", "--since", "2025-11-21T12:00:00+00:00") == [WORKERS[0].info.id]


@pytest.mark.usefixtures("workers")
def test_runs_of_a_session(profkit: Profkit) -> None:
    first, second, _ = (run.info.session for run in WORKERS)
    assert ids(profkit, "handler", "--session", first) == [WORKERS[0].info.id]
    assert len(ids(profkit, "handler", "--session", first, "--session", second[:16])) == 2
    assert ids(profkit, "--session", second) == [WORKERS[1].info.id]
    said = profkit("report", "handler", "--session", "nope")
    assert said.code == 6
    assert "no run of 'handler' in session nope; its newest run is from " in said.err


def test_a_session_that_is_recording_takes_part(profkit: Profkit, config: Config) -> None:
    finished_session(config, "s-1", weight=7)
    live_session(config, "s-live", started_ns=STARTED_NS + 20 * 10**9)
    document: Any = profkit("report", "f", "--all", "--json").json()
    assert [run["state"] for run in document["merged"]["runs"]] == ["RUNNING", "SUCCESS"]
    assert (document["run"]["state"], document["run"]["samples"]) == ("RUNNING", 12)


def test_only_one_version_of_the_code_is_merged_and_the_others_are_named(
    profkit: Profkit, config: Config, utc: None
) -> None:
    old = [of_another_version(run) for run in WORKERS[:2]]
    keep(config, *old, WORKERS[2])
    said = profkit("report", "handler", "--all")
    assert said.out.split("\n")[0].endswith("1 run, merged")
    assert (
        "2 runs of 1 other version of the code are left out; `profkit report 0000000001 --all` merges those "
        "of the code that ran at 2025-11-21 11:50:03"
    ) in said.err
    assert ids(profkit, "0000000001", "--all") == ["0000000001", "0000000000"]


def test_a_report_of_one_run_names_other_versions_of_its_code(
    profkit: Profkit, config: Config, utc: None
) -> None:
    keep(config, of_another_version(WORKERS[0]), WORKERS[2])
    document: Any = profkit("report", "handler", "--json").json()
    (note,) = document["run"]["notes"]
    assert note == {
        "code": "other-version",
        "figures": {"run": "0000000000", "started_ns": WORKERS[0].info.started_ns, "more": 0},
        "text": "Another version of this code ran at 2025-11-21 11:49:03: `profkit report 0000000000`.",
    }
    keep(config, WORKERS[1])
    assert "Another version" in profkit("report", "handler").out


def with_python(run: Run, python: str) -> Run:
    return replace(run, info=replace(run.info, process=replace(run.info.process, python=python)))


def test_another_python_is_no_version_of_the_code(profkit: Profkit, config: Config, utc: None) -> None:
    """Digests of the code differ, since they are of its instructions."""
    old = [with_python(of_another_version(run), "3.14.10") for run in WORKERS[:2]]
    keep(config, *old, with_python(WORKERS[2], "3.15.2"))
    said = profkit("report", "handler", "--all")
    assert "2 runs of the function or block with Python 3.14.10 are left out; `profkit report" in said.err
    assert (
        "This function or block, with Python 3.14.10, ran at 2025-11-21 11:50:03: `profkit report "
        "0000000001`. `profkit compare` matches their functions."
    ) in " ".join(profkit("report", "handler").out.split())
    assert "the runs of 'handler' come from 2 versions of Python" in profkit("list").err


def test_no_version_is_named_if_there_is_one(profkit: Profkit, config: Config) -> None:
    keep(config, *WORKERS)
    assert "version of this code" not in profkit("report", "handler").out


def test_list_shows_versions_if_there_are_several(profkit: Profkit, config: Config) -> None:
    keep(config, *WORKERS)
    assert "version" not in profkit("list").out
    keep(
        config,
        replace(
            of_another_version(WORKERS[0]), info=replace(of_another_version(WORKERS[0]).info, id="ff00000000")
        ),
    )
    said = profkit("list")
    assert "the runs of 'handler' come from 2 versions of its code; see the column `version`" in said.err
    assert WORKERS[0].info.region.id in said.out
    listed: Any = profkit("list", "--json").json()["runs"]
    assert len({run["version"] for run in listed}) == 2


def region(
    qualname: str = "f", line: int = 1, code: str = "", kind: RegionKind = RegionKind.FUNCTION
) -> Region:
    return Region(RegionKey("m", qualname, line, "load"), kind, "m.py", code=code)


@pytest.mark.parametrize(
    ("other", "relation", "phrase"),
    [
        (region(line=2, code="0b"), "version", "2 versions of its code"),
        (region(line=2, code="0a"), "place", "2 places with this label"),
        (region("g", 2, "0b"), "code", "2 functions or blocks with this label"),
        (region(line=2, code="0b", kind=RegionKind.BLOCK), "code", "2 functions or blocks with this label"),
        (region(code="0b", kind=RegionKind.BLOCK), "version", "2 versions of its code"),
    ],
)
def test_an_equal_label_does_not_make_a_version(other: Region, relation: Relation, phrase: str) -> None:
    one = region(code="0a", kind=other.kind)
    runs = [replace(run.info, region=of) for run, of in zip(WORKERS, (one, other, one), strict=True)]
    assert (relation_of(runs[0], runs[1]), relation_of(runs[1], runs[0])) == (relation, relation)
    assert several_regions(runs) == {"load": phrase}
    assert several_regions(runs[::2]) == {}


def test_runs_without_samples_cannot_be_merged(profkit: Profkit, config: Config) -> None:
    keep(config, measured_run("sort"))
    said = profkit("report", "sort", "--all")
    assert said.code == 2
    assert "was measured, and only sampled runs can be merged; leave out --all" in said.err


def test_a_damaged_run_is_named_and_left_out(profkit: Profkit, config: Config) -> None:
    keep(config, *WORKERS)
    with open_store(config.store_url) as store, store._database.writing() as connection:
        connection.execute("INSERT INTO profkit_contents VALUES ('other', ?)", b"no")
        connection.execute("UPDATE profkit_runs SET profile = 'other' WHERE id = ?", WORKERS[1].info.id)
    said = profkit("report", "handler", "--all")
    assert said.code == 0
    assert "2 runs, merged" in said.out
    assert f"the profile of run {WORKERS[1].info.id} cannot be read" in said.err


@pytest.mark.usefixtures("workers")
def test_options_about_samples_hold_for_merged_runs(profkit: Profkit) -> None:
    document: Any = profkit("report", "handler", "--all", "--limit", "1", "--json").json()
    assert len(document["functions"]) == 1
    said = profkit("report", "handler", "--all", "--thread", "101")
    assert "Only thread 101" in said.out


def test_the_file_of_a_merged_page_has_its_label(
    profkit: Profkit, config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    keep(config, *WORKERS)
    assert profkit("report", "handler", "--all", "--html").code == 0
    assert (tmp_path / "profkit-handler-merged.html").exists()


def test_made_runs_are_older_than_ten_minutes() -> None:
    assert SYSTEM_CLOCK.unix_ns() - made_run().info.started_ns > 600 * 10**9


def test_a_run_of_few_samples_names_the_report_of_all(profkit: Profkit, config: Config) -> None:
    keep(config, *(worker_run(number, {READ: 4}) for number in range(3)))
    document: Any = profkit("report", "handler", "--json").json()
    (note,) = document["run"]["notes"]
    assert note["text"] == (
        "This run has 4 samples. `profkit report handler --all` merges 3 runs with 12 samples."
    )
