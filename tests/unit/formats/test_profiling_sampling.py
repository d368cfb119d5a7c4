"""Files of CPython's profiling.sampling: statistics, collapsed stacks, Firefox profiles."""

from __future__ import annotations

import marshal
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.formats import collapsed, pstats
from profkit.formats.firefox import decode as decode_firefox
from profkit.formats.registry import PROFILING_SAMPLING, read_any
from profkit.formats.unsupported import recognize
from profkit.model.notes import Note, NoteCode
from profkit.model.profile import Frame, Profile, Thread
from profkit.transforms.tables import function_rows
from profkit.units import Unit
from tests.support.folders import SAMPLES

SHARES = {
    "spin": (61, 61),
    "Condition.wait": (1, 1),
    "work": (0, 61),
    "<module>": (0, 31),
    "Thread._bootstrap": (0, 31),
    "Thread._bootstrap_inner": (0, 31),
    "Thread.run": (0, 31),
    "_run_code": (0, 31),
    "_run_module_as_main": (0, 31),
    "main": (0, 31),
    "Event.wait": (0, 1),
    "Thread.start": (0, 1),
}
"""Samples on top of the stack and anywhere on it: of one recording, which was converted to each format."""
FILES = {"pstats": "pstats", "collapsed": "collapsed", "gecko.json": "firefox"}


def sample_file(ending: str) -> bytes:
    return (SAMPLES / f"profiling-sampling.{ending}").read_bytes()


@pytest.mark.parametrize("ending", FILES)
def test_each_file_of_a_recording_has_the_same_functions(ending: str) -> None:
    read = read_any(sample_file(ending))
    assert (read.format.name, read.origin.tool) == (FILES[ending], PROFILING_SAMPLING)
    profile = read.profile
    assert (profile.unit, profile.total_weight) == (Unit.SAMPLES, 62)
    rows = {row.name: row for row in function_rows(profile)}
    assert {name: row.self_weight for name, row in rows.items()} == {n: own for n, (own, _) in SHARES.items()}
    # Statistics have no stacks, which are approximated in whole samples.
    near = 1 if ending == "pstats" else 0
    assert {name: row.total_weight for name, row in rows.items()} == {
        name: pytest.approx(total, abs=near) for name, (_, total) in SHARES.items()
    }
    lines = {frame.line for frame in profile.frames if frame.name == "spin"}
    assert lines == {5, 6, 7}
    files = {frame.name: Path(frame.file).name for frame in profile.frames}
    assert (files["spin"], files["Thread.run"], files["_run_code"]) == (
        "p.py",
        "threading.py",
        "<frozen runpy>",
    )


@pytest.mark.parametrize("ending", ["collapsed", "gecko.json"])
def test_threads_are_not_functions(ending: str) -> None:
    profile = read_any(sample_file(ending)).profile
    assert {(thread.pid, thread.tid) for thread in profile.threads} == {(0, 17995), (0, 17996)}


def test_the_time_between_samples() -> None:
    assert read_any(sample_file("pstats")).profile.period_ns == 25_000_000
    # The interval in the file is that between samples of any thread.
    assert decode_firefox(sample_file("gecko.json")).period_ns == pytest.approx(25_000_000, rel=0.01)


def test_the_start_of_a_firefox_profile_is_unknown() -> None:
    assert read_any(sample_file("gecko.json")).origin.started_ns is None


def test_statistics_have_no_stacks() -> None:
    assert pstats.origin_of(sample_file("pstats")).notes == (
        Note.of(NoteCode.TREE_APPROXIMATED, unit="samples"),
    )


def test_json_lines_are_named() -> None:
    known = recognize(sample_file("jsonl"))
    assert known is not None
    assert "no stacks" in known.what
    assert "--gecko" in known.fix


def test_frames_without_code_have_no_file() -> None:
    text = b"tid:7;<native>;a.py:f:3;<GC> 4\ntid:7;<task>:Task-1:0 1\ntid:8 2\na:b:3;tid:9 5\n"
    profile = collapsed.decode(text)
    assert profile.frames == (
        Frame("<native>", ""), Frame("f", "a.py", 3), Frame("<GC>", ""), Frame("Task-1", "<task>", 0),
        # Without a thread in front, these are names.
        Frame("a:b:3", ""), Frame("tid:9", ""),
    )  # fmt: skip
    assert profile.threads == (Thread(0, 7, ""), Thread(0, 8, ""), Thread(0, 0, ""))


WORDS = st.text(st.characters(exclude_characters=":;", exclude_categories=["C", "Z"]), min_size=1, max_size=5)
LINES = st.builds(Frame, WORDS, WORDS, st.integers(0, 10**6))


@given(st.lists(LINES, max_size=5), st.integers(0, 10**6), st.integers(0, 10**6))
def test_collapsed_frames_are_read_back(frames: list[Frame], tid: int, count: int) -> None:
    places = [f"{frame.file}:{frame.name}:{frame.line}" for frame in frames]
    profile = collapsed.decode(f"{';'.join([f'tid:{tid}', *places])} {count}".encode())
    assert [profile.frames[place] for place in profile.stacks[0]] == frames
    assert (profile.threads, profile.total_weight) == ((Thread(0, tid, ""),), count)


def statistics(stacks: list[list[Frame]]) -> bytes:
    """Statistics of samples, as profiling.sampling counts them; stacks begin at the root."""
    anywhere, on_top = Counter[Frame](), Counter[Frame]()
    callers: defaultdict[Frame, Counter[Frame]] = defaultdict(Counter)
    for stack in stacks:
        anywhere.update(set(stack))
        on_top[stack[-1]] += 1
        for caller, line in pairwise(stack):
            callers[line][caller] += 1

    def key(line: Frame) -> tuple[str, int, str]:
        return line.file, line.line, line.name

    found: dict[object, object] = {
        key(line): (
            on_top[line],
            count,
            on_top[line] * 0.5,
            count * 0.5,
            {key(caller): n for caller, n in callers[line].items()},
        )
        for line, count in anywhere.items()
    }
    return marshal.dumps(found | {("__sampled__",): True})


def own_lines(profile: Profile) -> Counter[Frame]:
    found = Counter[Frame]()
    for sample in profile.samples:
        found[profile.frames[profile.stacks[sample.stack][-1]]] += sample.weight
    return found


def lines_anywhere(profile: Profile) -> Counter[Frame]:
    found = Counter[Frame]()
    for sample in profile.samples:
        for place in set(profile.stacks[sample.stack]):
            found[profile.frames[place]] += sample.weight
    return found


FEW = [Frame(name, f"{name}.py", line) for name in "fgh" for line in (1, 2)]


@given(st.lists(st.lists(st.sampled_from(FEW), min_size=1, max_size=6), min_size=1, max_size=20))
def test_statistics_keep_the_lines_on_top(stacks: list[list[Frame]]) -> None:
    profile = pstats.decode(statistics(stacks))
    assert own_lines(profile) == Counter(stack[-1] for stack in stacks)
    assert (profile.unit, profile.period_ns) == (Unit.SAMPLES, 5e8)


@given(st.lists(st.sets(st.sampled_from(FEW), min_size=1).map(sorted), min_size=1, max_size=20))
def test_statistics_without_recursion_keep_all_lines(stacks: list[list[Frame]]) -> None:
    """Each of the paths through a line, at most 2 ** 5, is rounded to whole samples."""
    found = lines_anywhere(pstats.decode(statistics(stacks * 100)))
    for line, count in Counter(line for stack in stacks for line in stack).items():
        assert found[line] == pytest.approx(100 * count, abs=16)
