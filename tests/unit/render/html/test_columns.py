"""The columns of a page say what the profile says."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import groupby

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profkit.model.profile import Frame, Profile, ProfileBuilder, Sample, Thread
from profkit.model.run import Run
from profkit.render.html.document import Columns
from profkit.render.html.sampled import sampled_html
from profkit.units import Unit
from tests.support.example_runs import INFO, made_profile, made_run
from tests.support.html_pages import HtmlPage, Stack, order_of, read_page, weights_of
from tests.support.profile_strategies import USER, profile_of, profiles

STACKED = replace(INFO, process=replace(INFO.process, cwd=""))
"""Whose short paths are whole ones, but for libraries."""


def page_of(*given: Profile) -> HtmlPage:
    return read_page(sampled_html([Run(STACKED, profile) for profile in given]))


def named(profile: Profile, stack: int) -> Stack:
    frames = [profile.frames[frame] for frame in profile.stacks[stack]]
    return tuple((frame.name, frame.file.removeprefix("/usr/lib/python3.11/")) for frame in frames)


def expected_order(profile: Profile, thread: int) -> list[tuple[Stack, int]]:
    samples = [(named(profile, one.stack), one.weight) for one in profile.samples if one.thread == thread]
    groups = groupby(samples, key=lambda sample: sample[0])
    return [(stack, sum(weight for _, weight in group)) for stack, group in groups]


@settings(max_examples=60)
@given(st.lists(profiles(), min_size=1, max_size=3))
def test_what_was_sampled_can_be_read_back(given: list[Profile]) -> None:
    page = page_of(*given)
    for run, profile in enumerate(given):
        weights: Counter[tuple[Stack, int]] = Counter()
        for stack, thread, weight in profile.samples:
            weights[named(profile, stack), thread] += weight
        assert weights_of(page, run) == weights
        assert page.head["runs"][run]["total"] == profile.total_weight
        assert order_of(page, run) == [expected_order(profile, n) for n in range(len(profile.threads))]


def test_functions_say_where_most_of_them_was_and_whose_they_are() -> None:
    head = read_page(sampled_html([made_run()])).head
    functions = list(zip(*(head["functions"][name] for name in ("name", "file", "line")), strict=True))
    assert functions[0] == ("train_step", "train.py", 45)
    assert ("Tensor.backward", "torch/_tensor.py", 630) in functions
    packages = [tuple(head["packages"][number].values()) for number in head["functions"]["package"]]
    assert packages[0] == ("train", "user")
    assert set(packages) == {("train", "user"), ("vision", "user"), ("torch", "library")}


@pytest.mark.parametrize(
    ("file", "package"),
    [
        ("", ("", "none")),
        ("/usr/lib/x86_64-linux-gnu/libc.so.6", ("libc.so.6", "native")),
        ("/opt/v/lib/python3.11/site-packages/torch/lib/libtorch.so", ("torch", "native")),
        ("<frozen importlib._bootstrap>", ("importlib._bootstrap", "library")),
        ("/srv/elsewhere/job.py", ("elsewhere", "user")),
        ("/job.py", ("job", "user")),
        ("./Objects/listobject.c", ("Objects", "native")),
        ("???", ("", "none")),
    ],
)
def test_packages_of_files(file: str, package: tuple[str, str]) -> None:
    profile = Profile(frames=(Frame("f", file, 1),), stacks=((0,),), threads=made_profile().threads[:1],
                      samples=(Sample(0, 0),))  # fmt: skip
    (found,) = page_of(profile).head["packages"]
    assert (found["name"], found["kind"]) == package


def test_lines_that_are_not_known_or_cannot_be_are_left_out() -> None:
    page = page_of(profile_of(("f:0 g:3", 3), ("f:-1 g:3", 1), (f"f:{2**40} g:3", 1)))
    assert page.column("r0.lines.line") == [3]
    assert page.column("r0.lines.total") == [5]


def test_a_column_is_as_wide_as_its_numbers() -> None:
    def kinds(profile: Profile) -> dict[str, str]:
        columns = page_of(profile).head["columns"]
        return {name.removeprefix("r0."): column["kind"] for name, column in columns.items()}

    small, large = profile_of(("f:1 g:2", 1)), profile_of(("f:1 g:2", 2**40))
    assert kinds(small)["pair.weight"] == kinds(small)["lines.total"] == "u32"
    assert kinds(large)["pair.weight"] == kinds(large)["order.weight"] == kinds(large)["lines.self"] == "f64"
    deep = Profile(
        frames=(Frame("f", ""),), stacks=((0,) * 70_000,), threads=small.threads, samples=(Sample(0, 0),)
    )
    assert (kinds(small)["length"], kinds(deep)["length"]) == ("u16", "u32")
    assert page_of(large).column("r0.order.weight") == [2.0**40]


def test_waiting_is_a_part_of_the_weights() -> None:
    page = page_of(profile_of(("f:1 wait@other:4", 3), ("f:1", 2), ("f:1 wait@other:4", 1)))
    run = page.head["runs"][0]
    assert (run["total"], run["waiting"]) == (6, 4)
    assert sorted(zip(page.column("r0.pair.weight"), page.column("r0.pair.waiting"), strict=True)) == [
        (2, 0),
        (4, 4),
    ]
    assert page.column("r0.order.weight") == [3, 2, 1]
    assert page.column("r0.order.waiting") == [3, 0, 1]
    assert page.column("r0.lines.self") == [2, 4]
    assert page.column("r0.lines.waiting") == [0, 4]
    assert page.column("r0.lines.waiting_total") == [4, 4]


def test_without_waiting_there_are_no_columns_of_it() -> None:
    page = page_of(made_profile())
    assert not [name for name in page.head["columns"] if "waiting" in name]
    assert page.head["runs"][0]["waiting"] == 0


def test_without_order_there_are_no_columns_of_it() -> None:
    page = page_of(replace(made_profile(), ordered=False))
    assert not [name for name in page.head["columns"] if "order" in name]
    assert page.head["runs"][0]["ordered"] is False


def test_units_and_time() -> None:
    profile = profile_of(("f:1", 3))
    runs = page_of(profile, replace(profile, unit=Unit.NANOSECONDS), replace(profile, unit=Unit.BYTES)).head[
        "runs"
    ]
    assert [(run["unit"], run["weight_s"]) for run in runs] == [
        ("samples", 0.001), ("nanoseconds", 1e-9), ("bytes", None),
    ]  # fmt: skip


def test_numbers_that_do_not_fit_are_refused() -> None:
    with pytest.raises(OverflowError):
        Columns().add("small", "u8", [256])


def test_columns_begin_at_multiples_of_eight() -> None:
    columns = Columns()
    columns.add("a", "u8", [1, 2, 3])
    columns.add("b", "f64", [0.5])
    columns.add("c", "u16", [])
    columns.add("d", "u32", [7])
    assert [place["offset"] for place in columns.directory().values()] == [0, 8, 16, 16]


def test_starts_are_relative_to_the_first_sample() -> None:
    builder = ProfileBuilder()
    f, g = Frame("f", USER, 1), Frame("g", USER, 1)
    samples = [(f, 1, 2, 100), (g, 2, 1, 101), (f, 1, 1, 102), (f, 1, 1, 104), (g, 1, 2, 105), (g, 2, 3, 104)]
    for frame, tid, weight, start in samples:
        thread = builder.thread(Thread(7, tid, "t"))
        builder.add_indexed((builder.frame(frame),), thread, weight, start)
    page = page_of(builder.build(period_ns=1e6))
    assert page.column("r0.order.at") == [0, 4, 5, 1, 4]
    assert page.column("r0.order.weight") == [3, 1, 2, 1, 3]
    assert "r0.order.at" not in page_of(profile_of(("f:1", 3))).head["columns"]
