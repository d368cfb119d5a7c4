from __future__ import annotations

from pathlib import Path

import pytest

from profkit.errors import DamagedFile, UsageError
from profkit.formats.austin import decode, origin_of, sniff
from profkit.model.notes import Note, NoteCode
from profkit.model.profile import Frame, Thread
from profkit.units import Unit

WALL = b"""# austin: 3.7.0
# interval: 100
# mode: wall

P42;T0:43;/app/a.py:<module>:9;/app/a.py:f:3 100
P42;T0:43;/app/a.py:<module>:9;/app/a.py:f:3 250
P42;T0:43;/app/a.py:<module>:9;C:\\b.py:g:1;:GC: 50
P42;T0:0x2c;/app/a.py:run:2 7
P42;T0:worker one;/app/a.py:run:2 7
P41;T9 1
# duration: 383010
"""
FULL = b"# mode: full\nP1;T0:2;a.py:f:1 100,1,-4096\nP1;T0:2;a.py:f:1 50,0,0\n"
MEMORY = b"# austin: 3.6.0\n# mode: memory\nP1;T0:2;a.py:f:1 4096\nP1;T0:2;a.py:g:1 -4096\n"


def test_wall_clock() -> None:
    profile = decode(WALL)
    assert (profile.unit, profile.ordered, profile.total_weight) == (Unit.NANOSECONDS, True, 415_000)
    assert profile.threads == (
        Thread(42, 43, ""),
        Thread(42, 44, ""),
        Thread(42, 0, "worker one"),
        Thread(41, 9, ""),
    )
    module, f = Frame("<module>", "/app/a.py", 9), Frame("f", "/app/a.py", 3)
    g, gc, run = Frame("g", "C:\\b.py", 1), Frame("GC", ""), Frame("run", "/app/a.py", 2)
    assert [[profile.frames[frame] for frame in stack] for stack in profile.stacks] == [
        [module, f], [module, g, gc], [run], [],
    ]  # fmt: skip
    assert [sample.weight for sample in profile.samples] == [350_000, 50_000, 7000, 7000, 1000]
    assert origin_of(WALL).tool == "austin 3.7.0"


def test_frames_before_austin_3() -> None:
    line = b"P4317;T7ffb811a0740;f (<frozen importlib._bootstrap>);L219;<module> (/usr/re.py);L346 10108\n"
    profile = decode(line + b"P4317;T7ffb811a0740;f (/usr/re.py:4) 1\n")
    assert profile.threads == (Thread(4317, 0, "7ffb811a0740"),)
    assert profile.frames == (
        Frame("f", "<frozen importlib._bootstrap>", 219),
        Frame("<module>", "/usr/re.py", 346),
        Frame("f", "/usr/re.py", 4),
    )


def test_full_metrics_give_time_and_memory_gives_what_was_taken() -> None:
    assert (decode(FULL).unit, decode(FULL).total_weight) == (Unit.NANOSECONDS, 150_000)
    assert (decode(MEMORY).unit, decode(MEMORY).total_weight) == (Unit.BYTES, 4096)
    assert origin_of(FULL).notes == (Note(NoteCode.TIME_ONLY),)
    assert origin_of(MEMORY).notes == (Note(NoteCode.FREED_MEMORY_LEFT_OUT),)


def test_other_lines_are_named() -> None:
    with pytest.raises(DamagedFile, match=r"x\.austin.*line 2"):
        decode(b"P1;T0:2;a.py:f:1 100\na;b 3\n", Path("x.austin"))
    with pytest.raises(UsageError, match="mojo2austin"):
        decode(b"MOJ\x03", Path("x.mojo"))


@pytest.mark.parametrize("data", [WALL, FULL, MEMORY, b"P1;T2 1\n", b"MOJ\x03"])
def test_sniffed(data: bytes) -> None:
    assert sniff(data)


@pytest.mark.parametrize("data", [b"", b"# a comment\na;b 1\n", b"Python;Thread 1\n", b"{}"])
def test_not_sniffed(data: bytes) -> None:
    assert not sniff(data)
