from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.errors import DamagedFile
from profkit.formats.speedscope import parse_thread_name, read_speedscope
from profkit.model.profile import Frame, Profile, Sample, Thread
from tests.support.documents import DELETED, replaced

Document = dict[str, Any]


def recorded(name: str, *samples: list[int], weight: float = 0.01) -> Document:
    return {
        "type": "sampled",
        "name": name,
        "unit": "seconds",
        "startValue": 0.0,
        "endValue": len(samples) * weight,
        "samples": list(samples),
        "weights": [weight] * len(samples),
    }


def document(*profiles: Document, frames: int = 4) -> Document:
    """As py-spy 0.4 writes it: it lists a frame twice where the two differ in what it does not write."""
    listed = [{"name": f"f{n % 3}", "file": "/a/app.py", "line": n % 3, "col": None} for n in range(frames)]
    return {
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "profiles": list(profiles),
        "shared": {"frames": listed},
        "activeProfileIndex": None,
        "exporter": "py-spy@0.4.3",
        "name": "py-spy profile",
    }


def read(content: object, pid: int = 0) -> Profile:
    return read_speedscope(json.dumps(content).encode(), pid)


def test_the_first_thread_of_a_process_has_its_name() -> None:
    first, other = 'Process 12 Thread 12 ""', 'Process 12 Thread 13 ""'
    profile = read(document(recorded(first, [0]), recorded('Process 12 Thread 12 "MainThread"', [1])))
    assert profile.threads == (Thread(12, 12, "MainThread"),)
    assert read(document(recorded(other, [0]))).threads == (Thread(12, 13, ""),)


def test_samples_come_in_order_per_thread_with_repeats_joined() -> None:
    profile = read(
        document(
            recorded('Thread 12 "main"', [0, 1], [0, 1], [0], [0, 1]),
            recorded('Thread 13 ""', [2], []),
        )
    )
    assert profile.samples == (
        Sample(0, 0, 2), Sample(1, 0, 1), Sample(0, 0, 1), Sample(2, 1, 1), Sample(3, 1, 1),
    )  # fmt: skip
    assert profile.stacks == ((0, 1), (0,), (2,), ())
    assert profile.threads == (Thread(0, 12, "main"), Thread(0, 13, ""))
    assert profile.period_ns == pytest.approx(1e7)
    assert profile.ordered


def test_frames_that_are_listed_twice_are_one() -> None:
    profile = read(document(recorded('Thread 1 "t"', [0, 1], [3, 1]), frames=4))
    assert profile.frames == (
        Frame("f0", "/a/app.py", 0),
        Frame("f1", "/a/app.py", 1),
        Frame("f2", "/a/app.py", 2),
    )
    assert profile.samples == (Sample(0, 0, 2),)


def test_no_profiles_are_a_profile_without_samples() -> None:
    profile = read(document(frames=0))
    assert profile == Profile()


def test_a_profile_without_samples_has_a_thread_and_no_period() -> None:
    profile = read(document(recorded('Thread 1 "t"')))
    assert (profile.threads, profile.samples, profile.period_ns) == ((Thread(0, 1, "t"),), (), 0.0)


def test_missing_files_and_lines_are_empty() -> None:
    content = document(recorded('Thread 1 "t"', [0]))
    content["shared"]["frames"] = [{"name": "f", "file": None, "line": None}, {"name": "g"}]
    assert read(content).frames == (Frame("f", "", 0), Frame("g", "", 0))


@pytest.mark.parametrize(
    ("name", "thread"),
    [
        ('Thread 4853 "MainThread"', Thread(5, 4853, "MainThread")),
        ('Thread 4853 ""', Thread(5, 4853, "")),
        ('Thread 0x7F0a2B "worker"', Thread(5, 0x7F0A2B, "worker")),
        ('Process 7 Thread 8 "t"', Thread(7, 8, "t")),
        ('Thread 9 "we"ird; na\nme "x\\ \0"', Thread(5, 9, 'we"ird; na\nme "x\\ \0')),
        ('Thread 9 "Thread 1 "2""', Thread(5, 9, 'Thread 1 "2"')),
        ('Thread 9 "\udc80"', Thread(5, 9, "\udc80")),
        ("py-spy", Thread(5, 0, "py-spy")),
        ("Thread nine", Thread(5, 0, "Thread nine")),
    ],
)
def test_thread_names(name: str, thread: Thread) -> None:
    assert parse_thread_name(name, 5) == thread


@given(st.integers(0, 2**31), st.integers(0, 2**63), st.text())
def test_any_thread_name_is_read_back(pid: int, tid: int, name: str) -> None:
    assert parse_thread_name(f'Process {pid} Thread {tid} "{name}"') == Thread(pid, tid, name)
    assert parse_thread_name(f'Thread {tid} "{name}"', pid) == Thread(pid, tid, name)


def _with(value: object, *path: str | int) -> Callable[[Document], object]:
    return lambda content: replaced(content, path, value)


def _without(*path: str | int) -> Callable[[Document], object]:
    return _with(DELETED, *path)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (_without("profiles"), "the file has no 'profiles'"),
        (_without("shared"), "the file has no 'shared'"),
        (_without("shared", "frames"), "shared has no 'frames'"),
        (_without("shared", "frames", 0, "name"), r"shared.frames\[0\] has no 'name'"),
        (_without("profiles", 0, "name"), r"profiles\[0\] has no 'name'"),
        (_without("profiles", 0, "samples"), r"profiles\[0\] has no 'samples'"),
        (_without("profiles", 0, "weights"), r"profiles\[0\] has no 'weights'"),
        (_without("profiles", 0, "unit"), r"profiles\[0\] has no 'unit'"),
        (_without("profiles", 0, "weights", 0), r"profiles\[0\] has 2 samples, but 1 weights"),
        (_with([], "shared"), "the file.shared is of type list, not dict"),
        (_with({}, "profiles"), "the file.profiles is of type dict, not list"),
        (_with(7, "profiles", 0), r"profiles\[0\] is not a JSON object"),
        (_with(7, "profiles", 0, "name"), r"profiles\[0\].name is of type int, not str"),
        (_with("3", "shared", "frames", 0, "line"), r"shared.frames\[0\].line is of type str, not int"),
        (_with([7], "shared", "frames", 0, "file"), r"shared.frames\[0\].file is of type list, not str"),
        (_with("none", "profiles", 0, "unit"), r"profiles\[0\].unit is 'none', not one of seconds"),
        (_with([0.01, 0.02], "profiles", 0, "weights"), "not all the same positive number"),
        (_with([0.0, 0.0], "profiles", 0, "weights"), "not all the same positive number"),
        (_with(["a", "a"], "profiles", 0, "weights"), "not all the same positive number"),
        (_with([1e999, 1e999], "profiles", 0, "weights"), "not all the same positive number"),
        (_with([0.02, 0.02], "profiles", 0, "weights"), r"weights of profiles\[0\] and profiles\[1\] differ"),
        (_with([0, 9], "profiles", 1, "samples", 1), r"profiles\[1\].samples\[1\] has a frame"),
        (_with([-1], "profiles", 1, "samples", 1), r"profiles\[1\].samples\[1\] has a frame"),
        (_with(["f0"], "profiles", 1, "samples", 0), r"profiles\[1\].samples\[0\] has a frame"),
        (_with([[0]], "profiles", 1, "samples", 0), r"profiles\[1\].samples\[0\] has a frame"),
        (_with("", "profiles", 1, "samples", 0), r"profiles\[1\].samples\[0\] is not a list"),
    ],
)
def test_the_first_wrong_part_is_named(change: Callable[[Document], object], problem: str) -> None:
    content = document(recorded('Thread 1 "a"', [0], [1]), recorded('Thread 2 "b"', [0], [1]))
    with pytest.raises(DamagedFile, match=problem):
        read(change(content))


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"profiles": []', "[" * 200_000, "\0"])
def test_what_is_no_speedscope_file_is_reported(text: str, tmp_path: Path) -> None:
    path = tmp_path / "segment-000.speedscope.json"
    path.write_text(text)
    with pytest.raises(DamagedFile) as told:
        read_speedscope(path)
    assert told.value.path == path


def test_every_cut_of_a_file_is_reported(tmp_path: Path) -> None:
    """A disk that fills up while the sampler writes leaves the beginning of a file."""
    text = json.dumps(document(recorded('Thread 1 "a"', [0])))
    for end in range(len(text)):
        with pytest.raises(DamagedFile):
            read_speedscope(text[:end].encode())


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(DamagedFile, match="No such file"):
        read_speedscope(tmp_path / "none.json")


def test_bytes_that_are_no_text_are_reported(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_bytes(b'{"profiles": "\xff"}')
    with pytest.raises(DamagedFile, match="it is not JSON: byte 14 is not valid utf-8"):
        read_speedscope(tmp_path / "x.json")
