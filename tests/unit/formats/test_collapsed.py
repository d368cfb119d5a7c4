from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from profkit.errors import DamagedFile
from profkit.formats.collapsed import (
    decode,
    encode,
    escape,
    read_process,
    read_thread,
    sniff,
    unescape,
    write_frame,
)
from profkit.formats.registry import Origin, read_any
from profkit.model.profile import Frame, Profile, ProfileBuilder, Thread
from profkit.units import Unit
from tests.support.profile_strategies import profiles

# What the format's own marks are made of, and every character that there is, lone surrogates included.
PIECES = st.sampled_from(
    [
        "f", "a.py", ";", " ", " (", "(", ")", ":", "12", ":3)", "\\", "x3b", "udc80", "\n", "\r", "\x85",
        '"', "#", "\u2028", "thread (", "process ", 'process 1:"c"', "thread (0x1f): t", "tid:7",
        "a.py(3):_f", "<frozen>", "ü", "\ud800", "🔥",
    ]
)  # fmt: skip
TEXT = st.lists(PIECES | st.characters(exclude_categories=[]), max_size=6).map("".join)
FRAMES = st.builds(Frame, TEXT, TEXT, st.sampled_from([0, 1, 12, 10**9]))


def weights(profile: Profile, *, pids: bool = True) -> Counter[tuple[object, ...]]:
    """Weight by thread and stack."""
    found: Counter[tuple[object, ...]] = Counter()
    for stack, thread, weight in profile.samples:
        frames = tuple(profile.frames[frame] for frame in profile.stacks[stack])
        pid, tid, name = profile.threads[thread]
        found[pid if pids else 0, tid, name, frames] += weight
    return found


@given(TEXT)
def test_escapes_are_read_back(text: str) -> None:
    assert unescape(escape(text)) == text
    assert not any(char in ";\n\r" or "\ud800" <= char <= "\udfff" for char in escape(text))


@given(FRAMES)
def test_a_frame_is_read_back_and_is_no_thread(frame: Frame) -> None:
    text = write_frame(frame)
    assert not {";", "\n"}.intersection(text)
    assert (read_thread(text), read_process(text)) == (None, None)
    assert weights(decode(f"{text} 3\n".encode())) == {(0, 0, "", (frame,)): 3}


@settings(max_examples=40)
@given(profiles(FRAMES), st.lists(TEXT, min_size=1, max_size=3))
def test_stacks_and_threads_survive(profile: Profile, names: list[str]) -> None:
    builder = ProfileBuilder()
    for stack, thread, weight in profile.samples:
        name = names[thread % len(names)]
        builder.add_indexed(
            tuple(builder.frame(profile.frames[frame]) for frame in profile.stacks[stack]),
            builder.thread(Thread(7 + thread, thread, name)),
            weight,
        )
    written = builder.build(period_ns=1e6)
    read = decode(encode(written))
    assert weights(read, pids=len(written.threads) > 1) == weights(written, pids=len(written.threads) > 1)
    assert (read.unit, read.ordered, read.total_weight) == (Unit.SAMPLES, False, written.total_weight)
    assert encode(read) == encode(written)


def test_frames_read_as_py_spy_writes_them() -> None:
    builder = ProfileBuilder()
    frames = Frame("f", "a.py", 3), Frame("<module>", "lib/b.py", 1), Frame("std::sort", "libc.so.6")
    builder.add((*frames, Frame("clone", "")), Thread(4, 12, "loader-0"), 5)
    assert encode(builder.build()) == (
        b"thread (12): loader-0;f (a.py:3);<module> (lib/b.py:1);std::sort (libc.so.6);clone 5\n"
    )


def test_processes_and_threads_of_py_spy() -> None:
    text = (
        'process 10:"python x.py";thread (0x7F00AB): MainThread;f (a.py:1) 2\n'
        'process 10:"python x.py";process 11:"python -c \'a\'";thread (12);f (a.py:1) 3\r\n'
        "\n# a comment\n"
        "thread (09): t; g 4\n"
        "7"
    )
    f = Frame("f", "a.py", 1)
    assert weights(decode(text.encode())) == {
        (10, 0x7F00AB, "MainThread", (f,)): 2,
        (11, 12, "", (f,)): 3,
        (0, 9, "t", (Frame(" g", ""),)): 4,
        (0, 0, "", ()): 7,
    }


@pytest.mark.parametrize(
    ("text", "frame"),
    [
        ("std::vector<int> (anonymous namespace)::f", Frame("std::vector<int> (anonymous namespace)::f", "")),
        ("f (anonymous namespace)", Frame("f (anonymous namespace)", "")),
        ("C:\\new\\u", Frame("C:\\new\\u", "")),
        ("a [unknown]", Frame("a [unknown]", "")),
        ("f (<frozen importlib._bootstrap>:3)", Frame("f", "<frozen importlib._bootstrap>", 3)),
        ("main_[k]", Frame("main_[k]", "")),
        ("f (x)", Frame("f (x)", "")),
        ("a b c", Frame("a b c", "")),
    ],
)
def test_what_other_tools_write_means_what_it_says(text: str, frame: Frame) -> None:
    profile = decode(f"{text} 1".encode())
    assert profile.frames == (frame,)


def test_bytes_that_are_no_utf_8_survive() -> None:
    profile = decode(b"f\xff;g 1\n")
    assert profile.frames[0].name == "f\udcff"
    assert decode(encode(profile)) == profile


@pytest.mark.parametrize("line", ["a;b", "a;b 1.5", "a;b -3", "a;b 1e3"])
def test_a_line_without_a_count_is_named(line: str) -> None:
    with pytest.raises(DamagedFile, match=r"x\.txt.*line 2"):
        decode(f"a 1\n{line}\n".encode(), Path("x.txt"))


def test_sniffing() -> None:
    assert sniff(b"# comment\na;b c 12\na 3\n")
    assert not sniff(b"")
    assert not sniff(b"# comment\n")
    assert not sniff(b"goroutine profile: total 1\n1 @ 0x42d796 0x45d9e5\n")
    assert sniff(b"a;b 12\n" * 200_000)
    assert sniff(b"recur (a.py:1);" * 10_000 + b"b 3\n")
    assert not sniff(b"Dear reader,\nthere were 3\n")
    assert not sniff(b"\x00\x01 12\n")


TORCH = b"""\
ts.py(7):_<module> 2
ts.py(7):_<module>;ts.py(2):_inner;<built-in_method_mm_of_type_object_at_0x7fad804cea40> 25366
ts.py(7):_<module>;ts.py(2):_inner;<built-in_method_mm_of_type_object_at_0x7fad804cff00> 15
ts.py(7):_<module>;nn.Module:_Linear_0;torch/nn/modules/module.py(1782):__call_impl 5
"""


def test_stacks_of_torch_have_microseconds() -> None:
    read = read_any(TORCH)
    profile = read.profile
    assert (read.format.name, read.origin) == ("collapsed", Origin("torch.profiler"))
    module = Frame("<module>", "ts.py", 7)
    assert profile.unit is Unit.NANOSECONDS
    assert weights(profile) == {
        (0, 0, "", (module,)): 2_000,
        (0, 0, "", (module, Frame("inner", "ts.py", 2), Frame("<built-in_method_mm_of_type_object>", ""))):
            25_381_000,
        (0, 0, "", (module, Frame("nn.Module:_Linear_0", ""),
                    Frame("_call_impl", "torch/nn/modules/module.py", 1782))): 5_000,
    }  # fmt: skip


WORDS = st.text(st.characters(exclude_characters=";", exclude_categories=["C", "Z"]), min_size=1, max_size=5)
PLACES = st.builds(Frame, WORDS, WORDS.map("{}.py".format), st.integers(0, 10**6))


@example([Frame("0", "#.py", 0)], 0)
@given(st.lists(PLACES, min_size=1, max_size=5), st.integers(0, 10**6))
def test_frames_of_torch_are_read_back(frames: list[Frame], time_us: int) -> None:
    texts = [f"{frame.file}({frame.line}):_{frame.name}" for frame in frames]
    profile = decode(f"{';'.join(texts)} {time_us}\n".encode())
    assert weights(profile) == {(0, 0, "", tuple(frames)): 1000 * time_us}
