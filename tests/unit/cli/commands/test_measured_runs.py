"""`profkit report`, `list`, `rm` and `gc` where runs were measured."""

from __future__ import annotations

import json
import re

import pytest

from profkit.cli.commands.report import report_command
from profkit.cli.workspace import complete_run, complete_thread
from profkit.config import Config
from profkit.store.measured import keep_measured
from profkit.store.runs import open_store
from tests.support.cli_runs import Profkit, Said, finished_session, keep
from tests.support.example_measured_runs import counted_run, failed_run, measured_run, timed_run
from tests.support.example_runs import STARTED_NS, labelled, made_run

MINUTE_NS = 60 * 10**9
FIRST = "b-1"
"""A batch of four, in which one failed."""
SECOND = "b-2"
"""A later batch of two."""


@pytest.fixture
def measured(config: Config) -> None:
    """Two batches, and a sampled run before them that has the label of some of their orders."""
    keep(
        config,
        labelled("aaaa000000", "sort", 60),
        timed_run(id="b100000000", batch=FIRST, started_ns=STARTED_NS + 1),
        counted_run(id="b200000000", batch=FIRST, started_ns=STARTED_NS + 2),
        measured_run("add", id="b300000000", batch=FIRST, started_ns=STARTED_NS + 3),
        failed_run(id="b400000000", batch=FIRST, started_ns=STARTED_NS + 4),
        measured_run("add", id="c100000000", batch=SECOND, started_ns=STARTED_NS + MINUTE_NS),
        timed_run("mul", id="c200000000", batch=SECOND, started_ns=STARTED_NS + MINUTE_NS + 1),
    )


def ids(said: Said, key: str) -> list[str]:
    runs = said.json()[key]
    assert isinstance(runs, list)
    return [run["id"] for run in runs]


@pytest.mark.usefixtures("measured")
@pytest.mark.parametrize(
    ("wanted", "shown"),
    [
        ((), ["c100000000", "c200000000"]),
        (("sort",), ["b100000000", "b200000000"]),
        (("add",), ["c100000000"]),
        (("mul",), ["c200000000"]),
        (("b100000000",), ["b100000000"]),
        (("b3",), ["b300000000"]),
        (("broken",), ["b400000000"]),
    ],
)
def test_which_measured_runs_are_shown(profkit: Profkit, wanted: tuple[str, ...], shown: list[str]) -> None:
    said = profkit("report", *wanted, "--json")
    assert (said.code, said.err) == (0, "")
    assert ids(said, "orders") == shown


@pytest.mark.usefixtures("measured")
def test_a_sampled_run_beside_them_is_shown_alone(profkit: Profkit, config: Config) -> None:
    assert "run aaaa000000" in profkit("report", "aa").out
    keep(config, labelled("dddd000000", "sort", -3600))
    for wanted in ((), ("sort",)):
        assert "run dddd000000" in profkit("report", *wanted).out


@pytest.mark.usefixtures("measured")
def test_the_report_is_for_people_unless_json_is_requested(profkit: Profkit) -> None:
    said = profkit("report", "b1")
    assert (said.code, said.err) == (0, "")
    assert "x + y" in said.out
    with pytest.raises(json.JSONDecodeError):
        said.json()


@pytest.mark.usefixtures("measured")
@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--thread", "loader-0"), "--thread"),
        (("--show-all",), "--show-all"),
        (("--min-share", "0"), "--min-share"),
        (("--show-all", "--min-share", "5"), "--min-share, --show-all"),
    ],
)
def test_options_about_samples_are_refused(profkit: Profkit, options: tuple[str, ...], named: str) -> None:
    for form in ((), ("--json",)):
        said = profkit("report", "b1", *options, *form)
        assert (said.code, said.out) == (2, "")
        assert f"run b100000000 (sort) was measured, and {named} applies only to samples" in said.err


@pytest.mark.usefixtures("measured")
def test_options_about_functions_reach_the_report(profkit: Profkit) -> None:
    def functions(*options: str) -> list[str]:
        (order,) = json.loads(profkit("report", "b2", "--json", *options).out)["orders"]
        return [row["name"] for row in order["instructions"]["functions"]]

    assert len(functions()) > 2
    assert functions("--limit", "1", "--sort", "total") == functions("--sort", "total")[:1]
    assert functions("--sort", "total") != functions("--sort", "self")


def test_measured_runs_are_ingested_first(profkit: Profkit, config: Config) -> None:
    file = keep_measured(config.spool, measured_run(id="b100000000"))
    assert ids(profkit("report", "--json"), "orders") == ["b100000000"]
    assert not file.exists()
    assert ids(profkit("list", "--json"), "runs") == ["b100000000"]


def test_a_damaged_file_may_be_what_was_requested(profkit: Profkit, config: Config) -> None:
    finished_session(config, "s-1")
    file = keep_measured(config.spool, measured_run(id="b100000000"))
    file.write_text("{")
    said = profkit("report", "sort")
    assert (said.code, said.out) == (7, "")
    assert said.err.count("b100000000.measured.json cannot be read") == 1
    assert "it was moved to" in said.err
    assert profkit("report", "sort").code == 6


def test_damage_elsewhere_is_a_warning(profkit: Profkit, config: Config) -> None:
    keep_measured(config.spool, measured_run(id="b100000000", batch=FIRST))
    keep_measured(config.spool, measured_run(id="b200000000", batch=FIRST)).write_text("{")
    said = profkit("report", "--json")
    assert (said.code, ids(said, "orders")) == (0, ["b100000000"])
    assert said.err.startswith("profkit: warning: ")


@pytest.mark.usefixtures("measured")
def test_lists_distinguish_the_kinds(profkit: Profkit) -> None:
    lines = [re.split(r"\s{2,}", line) for line in profkit("list").out.splitlines()]
    assert lines[0] == [
        "run", "started", "label", "mode", "calls", "wall time", "samples", "median", "instructions", "state",
        "where",
    ]  # fmt: skip
    told = {line[0]: line[3:] for line in lines[1:]}
    assert list(told) == [
        "c200000000", "c100000000", "b400000000", "b300000000", "b200000000", "b100000000", "aaaa000000",
    ]  # fmt: skip
    assert told["b100000000"] == ["timer", "2.050 µs", "kept", "x + y (2 threads, autograd forward)"]
    assert told["b200000000"] == ["callgrind", "4,999", "kept", "train.py:42"]
    assert told["b300000000"][:4] == ["timer+callgrind", "2.050 µs", "4,999", "warnings"]
    assert told["b400000000"] == ["timer", "failed", "1 / 0"]
    assert told["aaaa000000"] == ["sampled", "40", "2.97 s", "291", "kept", "train.py:42"]


@pytest.mark.usefixtures("measured")
def test_lists_as_json_say_what_each_run_is(profkit: Profkit) -> None:
    runs = json.loads(profkit("list", "--label", "sort", "--json").out)["runs"]
    assert [(run["id"], run["mode"]) for run in runs] == [
        ("b200000000", "callgrind"), ("b100000000", "timer"), ("aaaa000000", "sampled"),
    ]  # fmt: skip
    assert [run.get("instructions") for run in runs] == [4998.75, None, None]


@pytest.mark.usefixtures("measured")
def test_rm_and_gc_remove_both_kinds(profkit: Profkit, config: Config) -> None:
    said = profkit("rm", "sort", "aaaa", "--json")
    assert ids(said, "removed") == ["b200000000", "aaaa000000"]
    gone = profkit("gc", "--keep", "1", "--json")
    assert ids(gone, "removed") == ["b300000000"]
    with open_store(config.store_url) as store:
        assert [info.id for info in store.runs()] == ["c200000000", "c100000000", "b400000000", "b100000000"]
    assert profkit("gc", "--keep", "0").code == 0
    assert profkit("list").code == 6


@pytest.mark.usefixtures("measured")
def test_labels_and_ids_of_both_kinds_are_completed(config: Config) -> None:
    with report_command.make_context("report", ["x"], obj=config) as context:
        assert complete_run(context, report_command.params[0], "m") == ["mul"]
        assert complete_run(context, report_command.params[0], "a") == ["add", "aaaa000000"]


def test_threads_of_a_run_are_completed(config: Config) -> None:
    with open_store(config.store_url) as store:
        store.add([made_run()])
    with report_command.make_context("report", [], obj=config) as context:
        thread = next(option for option in report_command.params if option.name == "thread")
        assert complete_thread(context, thread, "") == ["MainThread", "loader-0"]
        assert complete_thread(context, thread, "M") == ["MainThread"]
    with report_command.make_context("report", ["nothing"], obj=config) as context:
        assert complete_thread(context, thread, "") == []
