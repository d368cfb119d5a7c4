"""Reports of runs that were suspended: the lines at which, in each format."""

from __future__ import annotations

import json
from dataclasses import replace

from profkit.model.region import RegionKind
from profkit.model.run import Run
from profkit.model.session import AwaitTime
from profkit.render.html.sampled import sampled_html
from profkit.render.json.sampled import sampled_json
from profkit.render.options import ReportOptions
from profkit.render.registry import SAMPLED
from profkit.units import format_duration
from tests.support.example_runs import INFO, made_run
from tests.support.html_pages import read_page
from tests.support.html_pages import rows_of as rows_in

CWD, WALL_NS = INFO.process.cwd, INFO.durations.sum_ns
AWAITS = (
    AwaitTime(f"{CWD}/train.py", 6, "db", "sleep", WALL_NS // 2, 3),
    AwaitTime(f"{CWD}/train.py", 9, "Shop.\x1bserve", "Queue.get", WALL_NS // 10, 1200),
)
SUSPENDED = made_run(awaits=AWAITS, suspended_ns=WALL_NS * 6 // 10)
SECTION = "Suspended, by await"


def rows_of(text: str) -> list[list[str]]:
    """Return the words of the lines below the section's heading."""
    block = text.split(SECTION, 1)[1].split("\n\n", 1)[0]
    return [line.split() for line in block.splitlines()[1:]]


def test_text() -> None:
    heading, first, second = rows_of(SAMPLED.text([SUSPENDED]))
    assert heading == ["share", "time", "times", "awaiting", "function", "where"]
    assert first == ["50.0", "%", "1.49", "s", "3", "sleep", "db", "train.py:6"]
    assert second == ["10.0", "%", "297", "ms", "1,200", "Queue.get", "Shop.\\x1bserve", "train.py:9"]


def test_text_has_as_many_lines_as_requested() -> None:
    *_, more = rows_of(SAMPLED.text([SUSPENDED], ReportOptions(limit=1)))
    assert " ".join(more) == "… and 1 more line"


def test_markdown() -> None:
    assert "| 50.0 % | 1.49 s | 3 | sleep | `db` | `train.py:6` |" in SAMPLED.markdown([SUSPENDED])


def test_runs_without_samples_have_the_section_too() -> None:
    unsampled = Run(replace(SUSPENDED.info, samples=0))
    assert SECTION in SAMPLED.text([unsampled])
    assert SECTION in SAMPLED.markdown([unsampled])


def test_runs_that_were_not_suspended_have_no_section() -> None:
    for text in (SAMPLED.text([made_run()]), SAMPLED.markdown([made_run()])):
        assert SECTION not in text
    assert read_page(sampled_html([made_run()])).head["runs"][0]["tables"] == {}


def test_json() -> None:
    first, second = json.loads(sampled_json([SUSPENDED]))["run"]["awaits"]
    assert (first["file"], first["line"], first["awaited"]) == (f"{CWD}/train.py", 6, "sleep")
    assert (second["share"], second["times"]) == (0.1, 1200)


def test_html() -> None:
    section, table = read_page(sampled_html([SUSPENDED])).head["runs"][0]["tables"]["awaits"]
    assert section["title"] == SECTION
    assert [column["head"] for column in table["columns"]] == [
        "share", "time", "times", "awaiting", "function", "where",
    ]  # fmt: skip
    assert [tuple(row.values()) for row in rows_in(table)] == [
        ("50.0 %", format_duration(WALL_NS / 2e9), "3", "sleep", "db", "train.py:6"),
        ("10.0 %", format_duration(WALL_NS / 1e10), "1,200", "Queue.get", "Shop.\\x1bserve", "train.py:9"),
    ]
    assert table["columns"][0]["heats"] == [0.5, 0.1]


def test_tasks_of_a_program_have_their_mean_number() -> None:
    region = replace(INFO.region, kind=RegionKind.PROGRAM)
    awaits = (replace(AWAITS[0], suspended_ns=10 * WALL_NS), AWAITS[1])
    run = made_run(region=region, awaits=awaits)
    text = SAMPLED.text([run]).split("Suspended tasks, by await", 1)[1]
    assert [line.split()[:2] for line in text.splitlines()[2:4]] == [["10.0", "sleep"], ["0.10", "Queue.get"]]
    assert "| 10.0 | sleep | `db` | `train.py:6` |" in SAMPLED.markdown([run])
    _, table = read_page(sampled_html([run])).head["runs"][0]["tables"]["awaits"]
    assert [row["tasks"] for row in rows_in(table)] == ["10.0", "0.10"]
