"""`profkit report` into files: where they go, what they are called, and what cannot be asked for."""

from __future__ import annotations

import os
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from profkit.config import Config
from profkit.ingest.read import run_id
from tests.support.cli_runs import Profkit, finished_session, keep, live_session
from tests.support.example_measured_runs import measured_run, timed_run
from tests.support.example_runs import hostile_run, labelled, made_run
from tests.support.example_sessions import F
from tests.support.html_pages import HtmlPage, blocks_of, read_page, rows_of


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")


def page_in(path: str | Path) -> HtmlPage:
    return read_page(Path(path).read_text("utf-8"))


def test_an_html_report_is_a_file_named_after_its_run(profkit: Profkit, config: Config) -> None:
    keep(config, made_run())
    for asked in (("--html",), ("--format", "html")):
        said = profkit("report", *asked)
        name = "profkit-train_step-3f2a91c0de.html"
        assert (said.code, said.out, said.err) == (0, "", f"profkit: note: the report is in {name}\n")
        assert page_in(name).head["runs"][0]["id"] == "3f2a91c0de"
        assert os.listdir() == [name]
        Path(name).unlink()


def test_names_of_files_are_harmless(profkit: Profkit, config: Config) -> None:
    run = hostile_run()
    region = replace(run.info.region, key=replace(run.info.region.key, label="../../etc/\x1b[31m $(rm) -é"))
    keep(config, replace(run, info=replace(run.info, region=region)))
    assert profkit("report", "--html").code == 0
    assert os.listdir() == ["profkit-etc-31m-rm-3f2a91c0de.html"]


def test_without_a_usable_label_the_id_is_the_name(profkit: Profkit, config: Config) -> None:
    keep(config, labelled("aa00", "…/"))
    assert profkit("report", "--html").code == 0
    assert os.listdir() == ["profkit-aa00.html"]


def test_a_measured_batch_is_named_after_it(profkit: Profkit, config: Config) -> None:
    keep(config, measured_run("a", id="a1"), timed_run("b", id="b1"))
    assert profkit("report", "--html").code == 0
    assert os.listdir() == ["profkit-2-orders-b7c0ffee01.html"]
    page = page_in("profkit-2-orders-b7c0ffee01.html")
    assert [order["label"] for order in page.head["orders"]] == ["a", "b"]
    assert profkit("report", "a1", "--html").code == 0
    assert page_in("profkit-a-a1.html").head["kind"] == "measured"


@pytest.mark.parametrize("options", [(), ("--json",), ("--html",), ("--format", "markdown")])
def test_every_format_goes_where_it_is_sent(
    profkit: Profkit, config: Config, options: tuple[str, ...]
) -> None:
    keep(config, made_run())
    printed = profkit("report", *options, "-o", "-")
    said = profkit("report", *options, "--output", "out")
    assert (said.code, said.out, said.err) == (0, "", "")
    assert (printed.code, printed.err) == (0, "")
    assert Path("out").read_text("utf-8").strip() == printed.out.strip()
    assert Path("out").read_bytes().endswith(b"\n")


@pytest.mark.parametrize(
    ("name", "options", "begins"),
    [
        ("a.html", (), "<!doctype html>"),
        ("a.HTML", (), "<!doctype html>"),
        ("a.json", (), '{"schema"'),
        ("a.md", (), "#"),
        ("a.txt", (), "train_step"),
        ("a.html", ("--format", "text"), "train_step"),
        ("a.html", ("--json",), '{"schema"'),
    ],
)
def test_the_ending_shows_the_format(
    profkit: Profkit, config: Config, name: str, options: tuple[str, ...], begins: str
) -> None:
    keep(config, made_run())
    assert profkit("report", *options, "-o", name).code == 0
    assert Path(name).read_text("utf-8").startswith(begins)


def test_a_file_is_replaced_whole_and_for_its_owner_alone(profkit: Profkit, config: Config) -> None:
    keep(config, made_run())
    Path("old").write_text("old")
    os.link("old", "other name of it")
    os.symlink("old", "link")
    assert profkit("report", "-o", "link").code == 0
    assert Path("link").is_symlink()
    assert "train_step" in Path("old").read_text("utf-8")
    assert Path("other name of it").read_text() == "old"
    assert Path("old").stat().st_mode & 0o777 == 0o600
    assert sorted(os.listdir()) == ["link", "old", "other name of it"]


def test_files_follow_the_umask_where_that_is_requested(
    profkit: Profkit, config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROFKIT_FILES", "umask")
    keep(config, made_run())
    before = os.umask(0o027)
    try:
        assert profkit("report", "-o", "x.txt").code == 0
        assert profkit("export", "-o", "x.profkit.json").code == 0
    finally:
        os.umask(before)
    assert [Path(name).stat().st_mode & 0o777 for name in ("x.txt", "x.profkit.json")] == [0o640, 0o640]


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        (".", "Is a directory"),
        ("no/such/folder.html", "No such file or directory"),
        ("x" * 300, "File name too long"),
    ],
)
def test_a_place_that_cannot_be_written(profkit: Profkit, config: Config, place: str, reason: str) -> None:
    keep(config, made_run())
    said = profkit("report", "--html", "-o", place)
    assert (said.code, said.out) == (2, "")
    assert (
        said.err
        == f"profkit: error: {place} cannot be written: {reason}; choose another place with -o FILE\n"
    )
    assert os.listdir() == []


def test_what_is_no_file_is_written_to(profkit: Profkit, config: Config) -> None:
    keep(config, made_run())
    assert profkit("report", "-o", os.devnull).code == 0
    assert not Path(os.devnull).is_file()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--html", "--json"), "json and html are different formats; choose one"),
        (("--open", "--json"), "json and html are different formats; choose one"),
        (("--open", "-o", "-"), "--open needs a file"),
        (("--html", "--limit", "3"), "--limit cannot be combined with HTML"),
        (("--html", "--show-all"), "--show-all cannot be combined with HTML"),
        (("--html", "--min-share", "2"), "--min-share cannot be combined with HTML"),
        (("--html", "--thread", "nope"), "no samples of a thread 'nope'"),
    ],
)
def test_what_cannot_be_requested(
    profkit: Profkit, config: Config, arguments: tuple[str, ...], words: str
) -> None:
    keep(config, made_run())
    said = profkit("report", *arguments)
    assert (said.code, said.out) == (2, "")
    assert words in said.err
    assert os.listdir() == []


def test_options_reach_the_page(profkit: Profkit, config: Config) -> None:
    keep(config, made_run(), measured_run())
    assert (
        profkit("report", "train_step", "--thread", "loader-0", "--sort", "total", "-o", "a", "--html").code
        == 0
    )
    assert page_in("a").head["initial"] == {"thread": 1, "sort": "total", "activity": "all"}
    assert profkit("report", "sort", "--html", "--sort", "name", "-o", "b").code == 0
    *_, functions = blocks_of(page_in("b").head["blocks"], "table")
    assert rows_of(functions)[0]["function"] == "0x12af0"


def test_the_other_regions_of_the_session_are_there(profkit: Profkit, config: Config) -> None:
    keep(
        config, made_run(), labelled("aa", "outer"), labelled("bb", "few", samples=5),
        labelled("cc", "none", samples=0), labelled("dd", "elsewhere", session="another"), measured_run(),
    )  # fmt: skip
    assert profkit("report", "train_step", "--html", "-o", "a").code == 0
    assert [run["label"] for run in page_in("a").head["runs"]] == ["train_step", "outer", "few"]
    assert profkit("report", "elsewhere", "--html", "-o", "a").code == 0
    assert [run["label"] for run in page_in("a").head["runs"]] == ["elsewhere"]


def test_regions_that_would_make_it_large_are_left_out(profkit: Profkit, config: Config) -> None:
    keep(config, made_run(samples=400_000), labelled("aa", "large", samples=200_000), labelled("bb", "small"))
    said = profkit("report", "train_step", "--html", "-o", "a")
    assert (said.code, said.out) == (0, "")
    assert said.err.startswith("profkit: note: 2 more of the session's regions are left out")
    assert [run["label"] for run in page_in("a").head["runs"]] == ["train_step"]


def test_what_is_being_recorded_has_a_page(profkit: Profkit, config: Config) -> None:
    live_session(config, "s-live")
    assert profkit("report", "--html", "-o", "a").code == 0
    (run,) = page_in("a").head["runs"]
    assert "still being recorded" in run["notes"][0]
    assert run["id"] == run_id("s-live", F.id)


def test_damage_is_reported_after_the_page_was_written(profkit: Profkit, config: Config) -> None:
    (finished_session(config, "s-1") / "segment-000.speedscope.json").write_text("{")
    said = profkit("report", "--html", "-o", "a")
    assert said.code == 7
    assert "segment-000.speedscope.json cannot be read" in said.err
    assert "There are no samples" in page_in("a").head["runs"][0]["notes"][-1]


def test_another_region_that_is_damaged_is_left_out(profkit: Profkit, config: Config) -> None:
    keep(config, made_run(), labelled("aa", "broken"))
    with sqlite3.connect(config.store_url.removeprefix("sqlite:///")) as database:
        database.execute("INSERT INTO profkit_contents VALUES ('other', x'00')")
        database.execute("UPDATE profkit_runs SET profile = 'other' WHERE id = 'aa'")
    said = profkit("report", "train_step", "--html", "-o", "a")
    assert (said.code, said.out) == (0, "")
    assert said.err.startswith("profkit: warning: the profile of run aa cannot be read")
    assert [run["label"] for run in page_in("a").head["runs"]] == ["train_step"]
