"""Files whose stacks share their callers: many nested calls are read in memory that grows with the file."""

from __future__ import annotations

import json
import tracemalloc
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from profkit.errors import LimitExceeded
from profkit.formats import firefox, limits
from profkit.formats.limits import LEFT_OUT, SHORTENED_DEPTH, BoundedBuilder, Budget, ImportLimits, shorten
from profkit.formats.registry import read_any
from profkit.model.notes import Note, NoteCode
from profkit.model.profile import Frame, Profile
from tests.support.cli_runs import Profkit
from tests.unit.formats.test_limits import chain, cpu_profile, deep, dump

DEPTH = 600
HALF = SHORTENED_DEPTH // 2


def names(depth: int) -> list[str]:
    return [f"f{n}" for n in range(depth)]


def speedscope(depth: int) -> bytes:
    """Calls that begin one after the other, and end in the reverse order."""
    opened = [{"type": "O", "frame": n, "at": n} for n in range(depth)]
    closed = [{"type": "C", "frame": n, "at": 2 * depth - n} for n in reversed(range(depth))]
    recorded = {
        "type": "evented", "name": "t", "unit": "microseconds", "startValue": 0, "endValue": 2 * depth,
        "events": opened + closed,
    }  # fmt: skip
    return json.dumps(
        {
            "$schema": "https://www.speedscope.app/file-format-schema.json",
            "shared": {"frames": [{"name": name} for name in names(depth)]},
            "profiles": [recorded],
        }
    ).encode()


def trace(depth: int) -> bytes:
    def event(phase: str, n: int, at: int) -> dict[str, object]:
        return {"ph": phase, "name": f"f{n}", "pid": 1, "tid": 1, "ts": at}

    opened = [event("B", n, n) for n in range(depth)]
    return json.dumps(opened + [event("E", n, 2 * depth - n) for n in reversed(range(depth))]).encode()


def sampled_trace(depth: int) -> bytes:
    frames = {str(n): {"name": f"f{n}"} | ({"parent": n - 1} if n else {}) for n in range(depth)}
    samples = [{"tid": 1, "ts": n, "sf": n} for n in range(depth)]
    return json.dumps({"traceEvents": [], "stackFrames": frames, "samples": samples}).encode()


def cpu_profile_file(depth: int) -> bytes:
    return json.dumps(cpu_profile(range(depth), [*range(depth)])).encode()


def firefox_profile(depth: int) -> bytes:
    thread = {
        "name": "t", "pid": "1", "tid": 1, "stringArray": names(depth),
        "funcTable": {"length": depth, "name": [*range(depth)], "fileName": [None] * depth},
        "frameTable": {"length": depth, "func": [*range(depth)], "line": [1] * depth},
        "stackTable": {"length": depth, "frame": [*range(depth)], "prefix": [None, *range(depth - 1)]},
        "samples": {"length": depth, "stack": [*range(depth)]},
    }  # fmt: skip
    meta = {"preprocessedProfileVersion": 50, "interval": 1}
    return json.dumps({"meta": meta, "threads": [thread]}).encode()


FILES: dict[str, Callable[[int], bytes]] = {
    "speedscope": speedscope,
    "trace": trace,
    "sampled trace": sampled_trace,
    "cpuprofile": cpu_profile_file,
    "firefox": firefox_profile,
    "pstats": chain,
    "callgrind": dump,
}


def own(profile: Profile) -> Counter[str]:
    found = Counter[str]()
    for sample in profile.samples:
        found[profile.frames[profile.stacks[sample.stack][-1]].name] += sample.weight
    return found


def named(profile: Profile) -> set[tuple[str, ...]]:
    return {tuple(profile.frames[frame].name for frame in stack) for stack in profile.stacks}


@pytest.mark.parametrize("name", FILES)
def test_deep_stacks_are_shortened_where_there_is_no_room(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data = FILES[name](DEPTH)
    whole = read_any(data)
    note = Note.of(NoteCode.STACKS_SHORTENED, frames=SHORTENED_DEPTH)
    assert note not in whole.origin.notes
    assert tuple(names(DEPTH - 1)) in named(whole.profile)
    monkeypatch.setattr(limits, "_LEAST_ROOM", 0)
    monkeypatch.setattr(limits, "_FRAMES_PER_BYTE", 0)
    shortened = read_any(data)
    assert note in shortened.origin.notes
    assert own(shortened.profile) == own(whole.profile)
    expected = (*names(DEPTH)[:HALF], LEFT_OUT.name, *names(DEPTH - 1)[-HALF:])
    assert expected in named(shortened.profile)
    assert max(map(len, shortened.profile.stacks)) == SHORTENED_DEPTH + 1


@pytest.mark.parametrize("name", ["speedscope", "trace", "sampled trace", "cpuprofile", "firefox"])
def test_memory_grows_with_the_file(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_LEAST_ROOM", 1 << 16)

    def peak(depth: int) -> int:
        data = FILES[name](depth)
        tracemalloc.start()
        try:
            read_any(data)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert peak(8000) < 1.5 * 4 * peak(2000)


@pytest.fixture
def no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """No memory for stacks but what the file's own bytes allow."""
    monkeypatch.setattr(limits, "_LEAST_ROOM", 0)
    monkeypatch.setattr(limits, "_FRAMES_PER_BYTE", 0)


@pytest.mark.usefixtures("no_room")
@pytest.mark.parametrize("name", [name for name in FILES if name not in ("pstats", "callgrind")])
def test_the_limit_is_one_of_the_depth_in_the_file(name: str) -> None:
    data = FILES[name](DEPTH)
    read_any(data, limits=ImportLimits(max_depth=DEPTH))
    with pytest.raises(LimitExceeded, match="more than 500 frames"):
        read_any(data, limits=ImportLimits(max_depth=500))


def test_a_stack_is_the_same_on_the_way_back(no_room: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_LEAST_ROOM", DEPTH * DEPTH // 4)
    profile = read_any(speedscope(DEPTH)).profile
    # Some stacks were stored whole, and are met again when there is no more room.
    assert SHORTENED_DEPTH + 1 < max(map(len, profile.stacks)) < DEPTH - 1
    assert len(profile.stacks) == DEPTH


@pytest.mark.usefixtures("no_room")
def test_files_of_profkit_keep_all_frames() -> None:
    assert firefox.decode(firefox.encode(deep(DEPTH)), Path("x")) == deep(DEPTH)


def test_stacks_that_are_written_out_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_LEAST_ROOM", 0)
    lines = b"".join(b";".join([b"f"] * depth) + b" 1\n" for depth in range(1, DEPTH))
    read = read_any(lines)
    assert max(map(len, read.profile.stacks)) == DEPTH - 1
    assert not any(note.code is NoteCode.STACKS_SHORTENED for note in read.origin.notes)


def test_the_deepest_stacks_are_always_shortened() -> None:
    assert len(read_any(b";".join([b"f"] * 5000) + b" 1\n").profile.stacks[0]) == SHORTENED_DEPTH + 1


STACKS = st.lists(st.integers(0, 9), min_size=SHORTENED_DEPTH + 2, max_size=SHORTENED_DEPTH + 60)


@settings(suppress_health_check=[HealthCheck.large_base_example, HealthCheck.data_too_large], max_examples=30)
@given(STACKS, st.lists(st.integers(0, 9), max_size=300))
def test_a_stack_that_continues_a_shortened_one(callers: list[int], calls: list[int]) -> None:
    assert shorten((*shorten(callers, -1), *calls), -1) == shorten((*callers, *calls), -1)


def test_the_limit_holds_for_stacks_that_are_shortened() -> None:
    builder = BoundedBuilder(Budget(ImportLimits(max_depth=5000)))
    frame = builder.frame(Frame("f", ""))
    assert len(builder.fitted([frame] * 5000)) == SHORTENED_DEPTH + 1
    with pytest.raises(LimitExceeded, match="more than 5,000 frames"):
        builder.fitted([frame] * 5001)


def test_the_command_says_so(profkit: Profkit, tmp_path: Path) -> None:
    (file := tmp_path / "deep.speedscope.json").write_bytes(speedscope(5000))
    assert "Some stacks are too deep to be stored whole" in profkit("import", str(file)).err
    assert "their 128 outermost and innermost calls" in profkit("report", "deep").out.replace("\n", " ")
