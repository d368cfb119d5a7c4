"""What stands beside the samples: source, curves of resources, notes, what the page begins with."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from profkit.errors import UsageError
from profkit.model.profile import Frame, Profile, Sample, Thread
from profkit.model.run import Imported, Run
from profkit.model.session import ResourcePoint, SessionState
from profkit.render.html.runs import Seen, SourceBudget
from profkit.render.html.sampled import sampled_html
from profkit.render.html.samples import MAX_POINTS, resource_curves
from profkit.render.options import ReportOptions, Sort
from profkit.render.views.source import SourceLines
from tests.support.example_runs import LOADER, STARTED_NS, hostile_run, labelled, made_run, own, with_sources
from tests.support.html_pages import read_page

PROGRAM = '''import os


def first(items):
    """Text that looks like the end:
def nothing
    """
    return [
        item
        for item in items
    ]


class Shop:
    async def first(self):
        return 1

    def second(self): return lambda: 2


first([])
'''


def excerpt(tmp_path: Path, name: str, *lines: int, most: int = 10_000) -> tuple[int, list[str]] | None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    os.utime(path, ns=(1, 1))
    found = SourceBudget(SourceLines(2, str(tmp_path)), most).excerpts([Seen(7, name, str(path), lines)])
    if not found:
        return None
    first, text = found["7"]["first"], found["7"]["lines"]
    assert isinstance(first, int)
    assert isinstance(text, list)
    return first, text


def test_a_function_is_shown_from_its_def_to_its_end(tmp_path: Path) -> None:
    lines = PROGRAM.splitlines()
    assert excerpt(tmp_path, "first", 10, 9) == (4, lines[3:11])
    assert excerpt(tmp_path, "Shop.first", 16) == (15, lines[14:16])


def test_around_what_has_no_def_some_lines_are_shown(tmp_path: Path) -> None:
    lines = PROGRAM.splitlines()
    assert excerpt(tmp_path, "Shop.second.<locals>.<lambda>", 18) == (14, [*lines[13:], ""])
    assert excerpt(tmp_path, "<module>", 1) == (1, lines[:5])
    assert excerpt(tmp_path, "second", 16) == (12, lines[11:20])


def test_lines_that_the_file_does_not_have_are_not_shown(tmp_path: Path) -> None:
    assert excerpt(tmp_path, "first", 0) is None
    assert excerpt(tmp_path, "first", 100) is None


@pytest.mark.usefixtures("own_key")
def test_there_is_a_bound_for_all_source(tmp_path: Path) -> None:
    run = own(with_sources(made_run(), tmp_path))

    def size(most: int) -> int:
        head = read_page(sampled_html([run], source_bytes=most)).head
        return sum(len(line) for one in head["runs"][0]["source"].values() for line in one["lines"])

    assert size(0) == 0
    assert 0 < size(300) <= 300 < size(10_000)


@pytest.mark.usefixtures("own_key")
def test_an_imported_profile_shows_no_file(tmp_path: Path) -> None:
    run = own(with_sources(made_run(), tmp_path))
    (tmp_path / "secret").write_text("password\n")
    os.utime(tmp_path / "secret", ns=(1, 1))
    assert run.profile is not None
    frames = (Frame("f", str(tmp_path / "secret"), 1), Frame("train_step", str(tmp_path / "train.py"), 45))
    profile = Profile(frames=frames, stacks=((0, 1),), threads=(LOADER,), samples=(Sample(0, 0),))
    imported = Imported("collapsed", "py-spy", "x", profile.unit, 1)

    def shown(root: Path | None = None, **changes: object) -> list[str]:
        info = replace(run.info, **changes)
        page = sampled_html([Run(info, profile)], ReportOptions(source_root=root))
        return list(read_page(page).head["runs"][0]["source"])

    assert shown() == ["0", "1"]
    assert shown(imported=imported) == []
    assert shown(tmp_path, imported=imported) == ["1"]
    assert shown(process=replace(run.info.process, seal="")) == []
    assert shown(process=replace(run.info.process, cwd="/")) == []
    assert shown(process=replace(run.info.process, host="elsewhere")) == []


@pytest.mark.usefixtures("own_key")
def test_a_page_says_why_a_run_of_this_machine_has_no_source(tmp_path: Path) -> None:
    run = own(with_sources(made_run(), tmp_path))
    foreign = replace(run, info=replace(run.info, process=replace(run.info.process, seal="")))
    (note,) = read_page(sampled_html([foreign])).head["runs"][0]["notes"]
    assert note.startswith("Source is not shown: it cannot be verified that you recorded this run")
    assert read_page(sampled_html([foreign, run])).head["runs"][1]["source"] == {}


def test_a_long_function_is_shown_around_its_hottest_line(tmp_path: Path) -> None:
    path = tmp_path / "long.py"
    path.write_text("def long():\n" + "    x = 1\n" * 5000)
    os.utime(path, ns=(1, 1))
    source = SourceBudget(SourceLines(2, str(tmp_path)), 100_000)
    (found,) = source.excerpts([Seen(0, "long", str(path), (3000, 20, 4990))]).values()
    first, lines = found["first"], found["lines"]
    assert isinstance(first, int)
    assert isinstance(lines, list)
    assert first < 3000 < first + len(lines)
    assert len(lines) == 400


@pytest.mark.usefixtures("own_key")
def test_source_is_at_its_function(tmp_path: Path) -> None:
    head = read_page(sampled_html([own(with_sources(made_run(), tmp_path))])).head
    source = head["runs"][0]["source"]
    names = {head["functions"]["name"][int(number)] for number in source}
    assert {"train_step", "jitter.<locals>.pixel", "Net.forward"} <= names
    step = source[str(head["functions"]["name"].index("train_step"))]
    assert "loss.backward()" in step["lines"][49 - step["first"]]
    assert head["runs"][0]["notes"] == []


@pytest.mark.usefixtures("own_key")
def test_source_that_changed_since_is_not_shown_and_the_page_says_so(tmp_path: Path) -> None:
    run = own(with_sources(made_run(), tmp_path))
    os.utime(tmp_path / "train.py", ns=(STARTED_NS + 1, STARTED_NS + 1))
    head = read_page(sampled_html([run])).head
    assert head["functions"]["name"].index("train_step") not in map(int, head["runs"][0]["source"])
    (note,) = head["runs"][0]["notes"]
    assert note == f"Changed after the run, so their source is not shown: {tmp_path}/train.py"


def test_curves_of_resources() -> None:
    assert resource_curves(made_run().resources) == {
        "at_s": [0.0, 1.0, 2.0],
        "cpu_share": [0.9, 1.0],
        "rss_bytes": [300 * 2**20, 512 * 2**20, 480 * 2**20],
        "threads": [6, 8, 8],
    }
    assert resource_curves(()) is None


def test_many_points_become_fewer_and_lose_no_peak() -> None:
    points = [
        ResourcePoint(n * 10**9, n * 0.5, 10**9 if n == 4321 else n, 3 + (n == 777)) for n in range(10_000)
    ]
    curves = resource_curves(points)
    assert curves is not None
    assert MAX_POINTS / 2 < len(curves["at_s"]) <= MAX_POINTS
    assert len(curves["cpu_share"]) == len(curves["at_s"]) - 1
    assert (max(curves["rss_bytes"]), max(curves["threads"])) == (10**9, 4)
    assert (curves["at_s"][0], curves["at_s"][-1]) == (0, 9999)
    assert set(curves["cpu_share"]) == {0.5}


def test_clocks_that_stand_still_or_run_backwards() -> None:
    points = [ResourcePoint(5, 2.0, 1, 1), ResourcePoint(5, 3.0, 1, 1), ResourcePoint(10, 1.0, 1, 1)]
    curves = resource_curves(points)
    assert curves is not None
    assert curves["cpu_share"] == [0.0, 0.0]


FAILED = made_run(state=SessionState.FAILED, error="No such\x1b process").info
REMOTE = made_run(links=(("all", "https://example.org/1"),), samples=0).info


@pytest.mark.parametrize(
    ("run", "words"),
    [
        (made_run(state=SessionState.RUNNING), ["still being recorded"]),
        (made_run(state=SessionState.PROCESSING), ["still being recorded"]),
        (made_run(state=SessionState.FAILED), ["The sampler failed."]),
        (Run(FAILED), ["There are no samples: the sampler failed."]),
        (Run(REMOTE), ["pyspy stores the samples itself", "all: https://example.org/1"]),
        (Run(made_run(samples=0, torn=0).info, Profile()), ["There are no samples"]),
    ],
    ids=["recording", "processing", "ended early", "failed", "remote", "empty"],
)
def test_a_run_that_is_not_whole_says_so(run: Run, words: list[str]) -> None:
    (shown,) = read_page(sampled_html([run])).head["runs"]
    assert len(shown["notes"]) == len(words)
    assert all(word in note for word, note in zip(words, shown["notes"], strict=True))
    assert shown["facts"]


def test_the_other_regions_follow() -> None:
    head = read_page(sampled_html([made_run(), labelled("aa", "other"), hostile_run()])).head
    assert [run["label"] for run in head["runs"]][:2] == ["train_step", "other"]
    assert head["functions"]["name"].count("train_step") == 1
    assert "r2.shared" in head["columns"]


def test_what_the_page_begins_with() -> None:
    def initial(options: ReportOptions) -> dict[str, object]:
        found: dict[str, object] = read_page(sampled_html([made_run()], options)).head["initial"]
        return found

    assert initial(ReportOptions()) == {"thread": "all", "sort": "self", "activity": "all"}
    assert initial(ReportOptions(thread="loader-0", sort=Sort.NAME)) == {
        "thread": 1,
        "sort": "name",
        "activity": "all",
    }
    assert initial(ReportOptions(thread="4242"))["thread"] == 0


def test_a_thread_that_is_not_there_or_not_the_only_one() -> None:
    run = made_run()
    assert run.profile is not None
    two = replace(run, profile=replace(run.profile, threads=(LOADER, Thread(1, 2, "loader-0"))))
    with pytest.raises(UsageError, match="no samples of a thread 'nope'; the run has samples of: MainThread"):
        sampled_html([run], ReportOptions(thread="nope"))
    with pytest.raises(UsageError, match="2 threads are named 'loader-0'"):
        sampled_html([two], ReportOptions(thread="loader-0"))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (ReportOptions(limit=3), "--limit"),
        (ReportOptions(min_share=0.0, show_all=True), "--min-share, --show-all"),
    ],
)
def test_a_page_leaves_nothing_out(options: ReportOptions, words: str) -> None:
    with pytest.raises(UsageError, match=f"{words} cannot be combined with HTML"):
        sampled_html([made_run()], options)
