"""The text report: golden files, every width, and names that try to do something to the terminal."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from profkit.model.histogram import histogram_of
from profkit.model.notes import Note, NoteCode
from profkit.model.profile import Frame, Profile, ProfileBuilder, Thread
from profkit.model.run import Run
from profkit.model.session import SessionState
from profkit.render.cells import left_cut, middle_cut
from profkit.render.escape import visible
from profkit.render.options import ReportOptions, Sort, Terminal
from profkit.render.registry import LISTED_RUNS, SAMPLED
from profkit.units import Unit
from tests.support.example_runs import (
    HOSTILE,
    hostile_run,
    labelled,
    made_profile,
    made_run,
    own,
    with_sources,
)
from tests.support.golden import check_golden
from tests.support.profile_strategies import profiles

STYLES = re.compile(r"\x1b\[[0-9;]*m")


pytestmark = pytest.mark.usefixtures("utc")


@pytest.mark.parametrize(
    ("name", "width", "options"),
    [
        ("pipe", None, ReportOptions()),
        ("width-120", 120, ReportOptions()),
        ("width-50", 50, ReportOptions()),
        ("show-all", None, ReportOptions(show_all=True, min_share=0.0)),
        ("total-limit-3", None, ReportOptions(sort=Sort.TOTAL, limit=3)),
        ("thread-loader-0", None, ReportOptions(thread="loader-0")),
    ],
)
def test_report(name: str, width: int | None, options: ReportOptions, tmp_path: Path) -> None:
    run = with_sources(made_run(notes=(Note(NoteCode.PROCESS_ENDED),)), tmp_path / "vision")
    rooted = replace(options, source_root=tmp_path)
    check_golden(f"report-{name}.txt", SAMPLED.text([run], rooted, Terminal(width)) + "\n")


def test_colours(tmp_path: Path) -> None:
    run = with_sources(made_run(torn=30, state=SessionState.RUNNING), tmp_path / "vision")
    options = ReportOptions(source_root=tmp_path)
    colored = SAMPLED.text([run], options, Terminal(100, color=True))
    check_golden("report-color.txt", colored.replace("\x1b", "␛") + "\n")
    assert STYLES.sub("", colored) == SAMPLED.text([run], options, Terminal(100))


def test_list() -> None:
    infos = [
        labelled("0a0a0a0a0a", "validate", state=SessionState.RUNNING).info,
        labelled("3f2a91c0de", "train_step", 60).info,
        labelled("77aa88bb99", "a label that is longer than anybody would like it to be", 7200).info,
        labelled("cccccccccc", "worker", 80000, state=SessionState.ENDED_EARLY).info,
        labelled("ffffffffff", "broken", 86400, state=SessionState.FAILED, samples=0).info,
    ]
    for name, width in (("pipe", None), ("width-80", 80), ("width-50", 50)):
        check_golden(f"list-{name}.txt", LISTED_RUNS.text(infos, terminal=Terminal(width)) + "\n")


def test_a_run_without_samples_says_why() -> None:
    text = SAMPLED.text([Run(made_run(samples=0, torn=0, durations=histogram_of([1000])).info)])
    assert "Profile longer or more calls, or raise `rate`.\n" in text
    assert "Hottest" not in text


def test_wide_characters_leave_the_figures_their_room() -> None:
    builder = ProfileBuilder()
    builder.add(
        (Frame("データを読み込む関数" * 4, "/srv/データ/読み込み/" * 3 + "x.py", 3),), Thread(1, 1, "m"), 3
    )
    text = SAMPLED.text([Run(made_run().info, builder.build(period_ns=1e7))], terminal=Terminal(80))
    assert re.search(r"100 % −56 +█+ +30.0 ms +100 %  デー.*…", text)
    assert all(cell_len(line) <= 80 for line in text.split("\n"))


@given(st.text(alphabet="aé漢\u0301b", max_size=30), st.integers(1, 20))
def test_cut_texts_fit_and_keep_their_ends(text: str, width: int) -> None:
    for cut in (left_cut(text, width), middle_cut(text, width)):
        assert cell_len(cut) <= width
        assert cut == visible(text) or "…" in cut or width == 1
        assert width < 4 or cut[-1:] == visible(text)[-1:]


def test_a_name_without_room_says_what_it_is_called_rather_than_that_it_is_local() -> None:
    builder = ProfileBuilder()
    frame = Frame("load_batch.<locals>.<listcomp>", "/opt/lib/python3.11/site-packages/torch/a/path.py", 3)
    builder.add((frame,), Thread(1, 1, "m"), 3)
    run = Run(made_run().info, builder.build(period_ns=1e7))
    table, _, _ = SAMPLED.text([run], terminal=Terminal(80)).partition("Call tree")
    assert "load_batch.<listcomp>  " in table
    assert "load_batch.<locals>.<listcomp>  " in SAMPLED.text([run], terminal=Terminal(120))


def test_of_hundreds_of_threads_the_first_are_listed() -> None:
    builder = ProfileBuilder()
    for number in range(300):
        builder.add((Frame("work", "/srv/x.py", 3),), Thread(1, number, f"pool-{number}"), 1 + number)
    run = Run(made_run().info, builder.build(period_ns=1e7))
    text = SAMPLED.text([run], ReportOptions(show_all=True))
    assert re.findall(r"pool-\d+", text) == [f"pool-{number}" for number in range(299, 284, -1)]
    assert "… and 285 more threads\n" in text
    grouped = SAMPLED.text([run]).split("Threads")[1]
    assert re.search(r"100.0 % +7.53 min +45,150 +100.0 % +300 threads +pool-\*\n", grouped)


def test_a_changed_file_is_reported_instead_of_its_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    run = own(with_sources(made_run(), tmp_path))
    (tmp_path / "train.py").write_text("changed\n" * 90)
    text = SAMPLED.text([run])
    assert "1 file changed after the run began" in text
    assert "rng.gauss(0, 8)" in text
    assert "changed\n" not in text


def test_weights_without_time_have_no_times() -> None:
    profile = replace(made_profile(), unit=Unit.INSTRUCTIONS, period_ns=0.0)
    text = SAMPLED.text([Run(made_run().info, profile)])
    assert "instructions" in text
    assert "±" not in text
    assert not re.search(r"\d (s|ms) ", text.split("Hottest functions")[1].split("Details")[0])


@pytest.mark.parametrize("width", [None, 40, 60, 80, 100, 140])
def test_hostile_names_are_shown_not_obeyed(width: int | None) -> None:
    text = SAMPLED.text([hostile_run()], ReportOptions(show_all=True), Terminal(width))
    assert all(line.isprintable() for line in text.split("\n"))
    colored = SAMPLED.text([hostile_run()], ReportOptions(show_all=True), Terminal(width, color=True))
    assert STYLES.sub("", colored) == text
    listed = LISTED_RUNS.text([hostile_run().info], terminal=Terminal(width))
    assert all(line.isprintable() for line in listed.split("\n"))


def test_hostile_names_are_all_there_on_a_wide_page() -> None:
    text = SAMPLED.text([hostile_run()])
    for name in HOSTILE:
        assert name.encode("unicode_escape").decode("ascii") in text
    assert "[bold]markup[/bold]" in text


@pytest.mark.parametrize("width", [40, 60, 76, 80, 96, 100, 110, 160])
def test_no_line_is_wider_than_the_page(width: int) -> None:
    for run in (made_run(), hostile_run(), labelled("0123456789", "漢字" * 40)):
        for line in SAMPLED.text([run], terminal=Terminal(width)).split("\n"):
            assert cell_len(line) <= width
            assert line == line.rstrip()


@given(profiles(max_depth=30), st.one_of(st.none(), st.integers(40, 200)), st.sampled_from(Sort))
def test_any_profile_has_a_report(profile: Profile, width: int | None, sort: Sort) -> None:
    text = SAMPLED.text([Run(made_run().info, profile)], ReportOptions(sort=sort), Terminal(width))
    assert all(cell_len(line) <= (width or 10_000) for line in text.split("\n"))


def test_a_very_deep_stack_has_a_report() -> None:
    profile = made_profile()
    deep = replace(profile, stacks=((0, 1) * 20_000,), samples=profile.samples[:1])
    text = SAMPLED.text([Run(made_run().info, deep)], terminal=Terminal(100))
    assert "⋮ 39,992 nested calls" in text


def test_a_tree_can_be_limited_in_depth() -> None:
    tree = SAMPLED.text([made_run()], ReportOptions(depth=2)).split("Call tree")[1].split("Hottest")[0]
    assert "load_batch" in tree
    assert "augment" not in tree
