"""Weights of source lines in a page: those of the samples, by thread and waiting, and few enough."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profkit.model.profile import Frame, Profile, Sample, Thread
from profkit.render.html import lines
from profkit.render.html.document import Columns
from profkit.render.html.lines import add_lines, line_weights
from profkit.transforms.trees import sum_samples
from tests.support.profile_strategies import profiles

THREADS = tuple(Thread(1, number, f"thread-{number}") for number in range(3))


def numbers_of(profile: Profile) -> list[int]:
    return [0 if frame.name == "f" else 1 for frame in profile.frames]


@settings(max_examples=80)
@given(profiles(), st.sets(st.integers(0, 5)))
def test_lines_weigh_what_samples_have_there(profile: Profile, waiting: set[int]) -> None:
    found = line_weights(sum_samples(profile), numbers_of(profile), waiting).rows
    expected: dict[str, Counter[tuple[int, int, int]]] = {
        name: Counter() for name in ("own", "total", "waiting", "waiting_total")
    }
    for stack, thread, weight in profile.samples:
        frames = [profile.frames[frame] for frame in profile.stacks[stack]]
        places = [(int(frame.name != "f"), frame.line, thread) for frame in frames]
        prefixes = ("", "waiting") if stack in waiting else ("",)
        for prefix in prefixes:
            expected[prefix or "own"].update(dict.fromkeys(places[-1:], weight))
            expected[f"{prefix}_total".lstrip("_")].update(dict.fromkeys(set(places), weight))
    for name, weights in expected.items():
        known = {place: weight for place, weight in weights.items() if place[1] > 0}
        assert {row[:3]: getattr(row, name) for row in found if getattr(row, name)} == known
    assert list(found) == sorted(found)


def many_lines(functions: int, per_function: int) -> Profile:
    """Each line is on the stack of one thread, the last ones for longest, below a line of all threads."""
    frames = [Frame("main", "/srv/main.py", 1)]
    frames += [
        Frame(f"f{n}", "/srv/app.py", 1 + line) for n in range(functions) for line in range(per_function)
    ]
    samples = (Sample(number - 1, number % 3, number) for number in range(1, len(frames)))
    stacks = tuple((0, number) for number in range(1, len(frames)))
    return Profile(
        frames=tuple(frames), stacks=stacks, threads=THREADS, samples=tuple(samples), ordered=False
    )


def test_only_the_heaviest_lines_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    profile = many_lines(functions=10, per_function=10)
    monkeypatch.setattr(lines, "MAX_LINES", 5)
    found = line_weights(profile, range(101))
    assert [row.function for row in found.rows] == [0, 0, 0, 97, 98, 99, 100]
    assert found.by_function[1] == [1], "lines that are left out still say where their function is"
    monkeypatch.setattr(lines, "MAX_ROWS", 4)
    rows = line_weights(profile, range(101)).rows
    assert [row.function for row in rows] == [0, 0, 0, 100], "a line is there with all its threads"


@settings(max_examples=60)
@given(profiles(), st.sets(st.integers(0, 5)), st.integers(0, 30))
def test_of_many_threads_the_lines_are_the_same(profile: Profile, waiting: set[int], most_rows: int) -> None:
    def rows() -> object:
        return line_weights(sum_samples(profile), numbers_of(profile), waiting)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "MAX_ROWS", most_rows)
        few_threads = rows()
        patch.setattr(lines, "_TOGETHER", 1)
        assert rows() == few_threads


def test_a_page_has_a_bound_for_lines() -> None:
    columns = Columns()
    add_lines(columns, "r0.", line_weights(many_lines(400, 250), range(100_001)).rows)
    assert columns.directory()["r0.lines.line"]["count"] == lines.MAX_LINES + 2
    assert len(columns.packed()) < 300_000


def test_a_single_thread_has_no_column_of_threads() -> None:
    single = Profile(
        frames=(Frame("f", "a.py", 1),), stacks=((0,),), threads=THREADS[:1], samples=(Sample(0, 0),)
    )
    columns = Columns()
    add_lines(columns, "", line_weights(single, [0]).rows)
    assert set(columns.directory()) == {f"lines.{name}" for name in ("function", "line", "self", "total")}


def test_stated_totals_replace_those_of_the_stacks() -> None:
    stated = Profile(
        frames=(Frame("f", "a.py", 1), Frame("g", "a.py", 9)),
        stacks=((0, 1),),
        threads=THREADS[:1],
        samples=(Sample(0, 0, 4),),
        ordered=False,
        totals=(None, 6),
    )
    assert [row.total for row in line_weights(stated, [0, 1]).rows] == [4, 6]
