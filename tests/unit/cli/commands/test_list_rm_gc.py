"""`profkit list`, `rm` and `gc`."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.clock import SYSTEM_CLOCK
from profkit.config import Config
from profkit.model.session import Unprofiled, UnprofiledReason
from profkit.store.runs import open_store
from profkit.store.spool_files import append_unprofiled
from tests.support.cli_runs import Profkit, Said, keep, live_session
from tests.support.example_runs import STARTED_NS, labelled

DAY_S = 86400.0
AGE_S = (SYSTEM_CLOCK.unix_ns() - STARTED_NS) / 1e9
"""How old a made run is by now."""


def kept_ids(config: Config) -> list[str]:
    with open_store(config.store_url) as store:
        return [info.id for info in store.runs()]


def ids(said: Said, key: str) -> list[str]:
    runs = said.json()[key]
    assert isinstance(runs, list)
    return [run["id"] for run in runs]


@pytest.fixture
def five(config: Config) -> None:
    keep(
        config,
        labelled("a100000000", "train", 1 * DAY_S - AGE_S),
        labelled("a200000000", "train", 20 * DAY_S - AGE_S),
        labelled("a300000000", "train", 40 * DAY_S - AGE_S),
        labelled("b100000000", "load", 35 * DAY_S - AGE_S),
        labelled("b200000000", "load", 50 * DAY_S - AGE_S),
    )


@pytest.mark.usefixtures("five")
def test_list_is_newest_first(profkit: Profkit) -> None:
    said = profkit("list")
    assert (said.code, said.err) == (0, "")
    assert [line.split()[0] for line in said.out.splitlines()] == [
        "run", "a100000000", "a200000000", "b100000000", "a300000000", "b200000000",
    ]  # fmt: skip


@pytest.mark.usefixtures("five")
def test_list_of_a_label_and_a_length(profkit: Profkit) -> None:
    assert ids(profkit("list", "--label", "load", "--json"), "runs") == ["b100000000", "b200000000"]
    said = profkit("list", "--limit", "2", "--json")
    assert ids(said, "runs") == ["a100000000", "a200000000"]
    assert said.err == "profkit: note: there are older runs; raise --limit to list them\n"
    assert profkit("list", "--limit", "5").err == ""


@pytest.mark.usefixtures("five")
def test_list_of_an_unknown_label(profkit: Profkit) -> None:
    said = profkit("list", "--label", "nope")
    assert (said.code, said.out) == (6, "")


def test_people_get_the_newest_runs_and_programs_all(profkit: Profkit, config: Config) -> None:
    keep(config, *(labelled(f"{n:010x}", "many", n) for n in range(25)))
    assert len(profkit("list").out.splitlines()) == 1 + 20
    assert len(ids(profkit("list", "--json"), "runs")) == 25


def test_list_shows_what_is_recording_first(profkit: Profkit, config: Config) -> None:
    keep(config, labelled("a100000000", "train", -1000.0))
    live_session(config, "s-live")
    lines = profkit("list").out.splitlines()
    assert "recording" in lines[1]
    assert "kept" in lines[2]


@pytest.mark.usefixtures("five")
def test_rm_removes_what_is_named(profkit: Profkit, config: Config) -> None:
    said = profkit("rm", "a2", "load", "a200000000")
    assert (said.code, said.err) == (0, "profkit: note: 2 runs removed\n")
    assert [line.split()[0] for line in said.out.splitlines()[1:]] == ["a200000000", "b100000000"]
    assert kept_ids(config) == ["a100000000", "a300000000", "b200000000"]


@pytest.mark.usefixtures("five")
def test_rm_as_json(profkit: Profkit) -> None:
    said = profkit("rm", "b2", "--json")
    assert said.json()["schema"] == "profkit.removed/1"
    assert said.json()["dry_run"] is False
    assert ids(said, "removed") == ["b200000000"]


@pytest.mark.usefixtures("five")
def test_rm_removes_all_or_nothing(profkit: Profkit, config: Config) -> None:
    said = profkit("rm", "a1", "nope")
    assert (said.code, said.out) == (6, "")
    assert len(kept_ids(config)) == 5
    assert profkit("rm").code == 2


def test_rm_leaves_what_is_recording(profkit: Profkit, config: Config) -> None:
    folder = live_session(config, "s-live")
    said = profkit("rm", "f")
    assert (said.code, said.out) == (2, "")
    assert "still being recorded by process" in said.err
    assert folder.exists()


@pytest.mark.usefixtures("five")
@pytest.mark.parametrize(
    ("options", "gone"),
    [
        ((), ["b100000000", "a300000000", "b200000000"]),
        (("--older-than", "45d"), ["b200000000"]),
        (("--older-than", "12h"), ["a100000000", "a200000000", "b100000000", "a300000000", "b200000000"]),
        (("--keep", "1"), ["a200000000", "a300000000", "b200000000"]),
        (("--keep", "0"), ["a100000000", "a200000000", "b100000000", "a300000000", "b200000000"]),
        (("--older-than", "30d", "--keep", "1"), ["a300000000", "b200000000"]),
        (("--older-than", "1000d"), []),
    ],
)
def test_gc(profkit: Profkit, config: Config, options: tuple[str, ...], gone: list[str]) -> None:
    tried = profkit("gc", "--dry-run", "--json", *options)
    assert ids(tried, "removed") == gone
    assert tried.json()["dry_run"] is True
    assert len(kept_ids(config)) == 5
    done = profkit("gc", "--json", *options)
    assert (done.code, ids(done, "removed")) == (0, gone)
    assert set(kept_ids(config)).isdisjoint(gone)
    assert len(kept_ids(config)) == 5 - len(gone)


@pytest.mark.usefixtures("five")
def test_gc_says_in_words_what_it_removed(profkit: Profkit) -> None:
    said = profkit("gc", "--older-than", "45d")
    assert said.out.splitlines()[1].split()[0] == "b200000000"
    assert said.err == "profkit: note: 1 run removed\n"
    again = profkit("gc", "--older-than", "45d")
    assert (again.code, again.out, again.err) == (0, "", "profkit: note: 0 runs removed\n")


@pytest.mark.usefixtures("five")
@pytest.mark.parametrize("age", ["3 weeks", "", "-1d"])
def test_an_age_must_be_one(profkit: Profkit, config: Config, age: str) -> None:
    said = profkit("gc", "--older-than", age)
    assert (said.code, said.out) == (2, "")
    assert "is not a duration such as 30d" in said.err
    assert len(kept_ids(config)) == 5


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 20))),
    st.one_of(st.none(), st.integers(0, 20)),
    st.integers(0, 4),
)
def test_expiry_keeps_the_newest_of_each_label(
    made: list[tuple[str, int]], age_s: int | None, keep_n: int
) -> None:
    runs = [labelled(f"{n:010x}", label, age) for n, (label, age) in enumerate(made)]
    before_ns = None if age_s is None else STARTED_NS - age_s * 10**9
    with open_store("sqlite://") as store:
        store.add(runs)
        gone = list(store.infos(store.expired(before_ns, keep_n)))
        infos = store.runs()
    assert [info for info in infos if info in gone] == gone
    left = Counter(info.label for info in infos if info not in gone)
    there = Counter(info.label for info in infos)
    assert all(left[label] >= min(keep_n, count) for label, count in there.items())
    assert all(before_ns is None or info.started_ns < before_ns for info in gone)
    if before_ns is None:
        assert all(left[label] == min(keep_n, count) for label, count in there.items())


def test_gc_lists_the_newest_for_people_and_all_for_programs(profkit: Profkit, config: Config) -> None:
    keep(config, *(labelled(f"{n:010x}", "many", n) for n in range(1005)))
    tried = profkit("gc", "--keep", "1", "--dry-run")
    assert len(tried.out.splitlines()) == 1 + 1000
    assert tried.err == (
        "profkit: note: 1,004 runs would be removed\n"
        "profkit: note: these are the newest 1,000; --json lists all\n"
    )
    assert len(ids(profkit("gc", "--keep", "1", "--dry-run", "--json"), "removed")) == 1004
    assert profkit("gc", "--keep", "1").out == tried.out
    assert kept_ids(config) == [f"{0:010x}"]


UNPROFILED = Unprofiled(SYSTEM_CLOCK.unix_ns(), 4242, "web-1", UnprofiledReason.CHILDREN_OFF, "handler")


@pytest.mark.usefixtures("five")
def test_list_says_what_was_not_profiled(profkit: Profkit, config: Config) -> None:
    for pid in (4242, 4243, 4243):
        append_unprofiled(config.spool, replace(UNPROFILED, pid=pid))
    said = profkit("list")
    assert said.code == 0
    (note,) = said.err.splitlines()
    assert note.startswith("profkit: note: 2 processes were not profiled (handler), last at ")
    assert note.endswith(": PROFKIT_CHILDREN=0 is set; unset it to profile forked and spawned workers")
    listed = profkit("list", "--json").json()["unprofiled"]
    assert isinstance(listed, list)
    assert [(one["reason"], one["processes"], one["labels"]) for one in listed] == [
        ("children-off", 2, ["handler"])
    ]


def test_what_was_not_profiled_is_said_if_there_is_nothing_else(profkit: Profkit, config: Config) -> None:
    append_unprofiled(config.spool, UNPROFILED)
    said = profkit("list")
    assert said.code == 6
    assert "1 process was not profiled (handler), last at " in said.err


def test_old_notes_are_not_shown(profkit: Profkit, config: Config) -> None:
    append_unprofiled(config.spool, replace(UNPROFILED, at_ns=SYSTEM_CLOCK.unix_ns() - 8 * 86400 * 10**9))
    assert "not profiled" not in profkit("list").err
