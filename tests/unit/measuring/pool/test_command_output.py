"""Files in memory for what other processes print."""

from __future__ import annotations

import os

import pytest

from profkit.measuring.pool import command as outputs
from profkit.measuring.pool.command import KEPT_BYTES, Output


@pytest.fixture
def output():
    made = Output()
    yield made
    made.close()


def test_all_of_little(output):
    os.write(output.descriptor, "a line\nzwölf".encode())
    assert output.text() == "a line\nzwölf"


def test_the_end_of_much_in_whole_lines(output):
    line = b"0123456789\n"
    os.write(output.descriptor, line * KEPT_BYTES)
    text = output.text()
    assert KEPT_BYTES - len(line) < len(text) <= KEPT_BYTES
    assert set(text.splitlines()) == {"0123456789"}


def test_one_endless_line_is_cut_anywhere(output):
    os.write(output.descriptor, b"x" * (2 * KEPT_BYTES))
    assert output.text() == "x" * KEPT_BYTES


def test_bytes_that_are_no_text(output):
    os.write(output.descriptor, b"\xff\n")
    assert output.text() == "\N{REPLACEMENT CHARACTER}\n"


def test_what_has_grown_large_shrinks_and_goes_on(output, monkeypatch):
    monkeypatch.setattr(outputs, "_GROWN_BYTES", 2 * KEPT_BYTES)
    writer = os.dup(output.descriptor)
    os.write(writer, b"early\n" * KEPT_BYTES)
    output.shrink()
    assert os.fstat(output.descriptor).st_size == KEPT_BYTES
    os.write(writer, b"late\n")
    os.close(writer)
    assert output.text().endswith("early\nlate\n")
    output.shrink()
    assert os.fstat(output.descriptor).st_size == KEPT_BYTES + len("late\n")


def test_tracebacks_of_workers_have_no_frames_of_the_worker_and_count_repeated_ones():
    own = f'  File "{outputs.PROGRAM.parent}/child.py", line 3 in work\n'
    frame = '  File "mine.py", line 4 in recur\n'
    other = '  File "b.py", line 1 in f\n'
    dump = "printed\nThread 0x1 (most recent call first):\n" + frame * 9 + other + own * 2
    assert outputs.without_own_frames(dump) == (
        "printed\nThread 0x1 (most recent call first):\n"
        + frame * 3
        + "  [Previous line repeated 6 more times]\n"
        + other
    )
    assert outputs.without_own_frames("flood\n" * 9) == "flood\n" * 9
