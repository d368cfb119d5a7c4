"""Text of `perf script`: heads, frames, threads, events."""

from __future__ import annotations

from pathlib import Path

import pytest

from profkit.errors import DamagedFile, UsageError
from profkit.formats.perf_script import decode, select, sniff
from profkit.model.profile import Frame, Thread
from tests.support.documents import format_named, weights_by_name

SOURCE = Path("x.perf.txt")
TEXT = b"""# ========
python 4242/4243 [001]  1234.567890:   10101010 cpu-clock:P:
\t    7f1c5a3b2c1d memcpy+0x1d (/usr/lib/libc.so.6)
\t          5d6e7f py::work:/app/a.py+0xb (/tmp/perf-4242.map)
\t    55d0c0ffee00 _PyEval_EvalFrameDefault+0x2a (/usr/bin/python3.12)

my program 17  1234.577991:   10101010 cpu-clock:P:
\t    7f1c5a3b2c1d [unknown] ([unknown])
\t    7f1c5a3b2c1d operator new(unsigned long) (inlined)

"""


def test_samples_have_threads_and_frames() -> None:
    profile = decode(TEXT, SOURCE)
    assert profile.threads == (Thread(4242, 4243, "python"), Thread(0, 17, "my program"))
    assert set(profile.frames) == {
        Frame("memcpy", "/usr/lib/libc.so.6"),
        Frame("work", "/app/a.py"),
        Frame("_PyEval_EvalFrameDefault", "/usr/bin/python3.12"),
        Frame("[unknown]", ""),
        Frame("operator new(unsigned long)", ""),
    }
    rows = weights_by_name(profile)
    assert rows["memcpy"] == (1, 1)
    assert rows["work"] == (0, 1)
    assert rows["[unknown]"] == (1, 1)
    assert profile.period_ns == 10101010


def test_only_a_clock_has_a_period() -> None:
    assert decode(TEXT.replace(b"cpu-clock", b"cycles"), SOURCE).period_ns == 0


def test_of_several_events_the_first_is_kept_and_the_others_are_named() -> None:
    text = TEXT + TEXT.replace(b"cpu-clock:P", b"page-faults:u")
    profile, value, (note,) = select(text, SOURCE)
    assert (profile.total_weight, value) == (2, "")
    assert dict(note.figures) == {"kept": "cpu-clock:P", "left_out": "page-faults:u"}
    profile, value, (note,) = select(text + TEXT, SOURCE, None, "page-faults:u")
    assert (profile.total_weight, profile.period_ns, value) == (2, 0, "page-faults:u")
    with pytest.raises(UsageError, match=r"no value 'cycles'; give one .*: cpu-clock:P, page-faults:u"):
        select(text, SOURCE, None, "cycles")
    assert select(b"", SOURCE, None, "samples").profile.samples == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"nonsense\n", "line 1 is not the first line of a sample"),
        (TEXT + b"x 1 1.0: c:\nf\n", "is not a frame"),
    ],
)
def test_damage_is_named(text: bytes, said: str) -> None:
    with pytest.raises(DamagedFile, match=said):
        decode(text, SOURCE)


def test_it_is_recognized() -> None:
    assert sniff(TEXT)
    assert format_named(TEXT) == "perf-script"
    assert not sniff(b"main;f 3\n  g 4\n")


def test_times_may_be_missing_as_in_old_versions() -> None:
    text = b"app  1896 cycles: \n\t        b75613c3 work (/bin/app)\n\t         804ca9f main (/bin/app)\n\n"
    assert sniff(text)
    profile = decode(text * 3, SOURCE)
    assert profile.threads == (Thread(0, 1896, "app"),)
    assert weights_by_name(profile) == {"work": (3, 3), "main": (0, 3)}


def test_lines_of_the_source_are_passed_over() -> None:
    text = TEXT.replace(b"(/usr/lib/libc.so.6)\n", b"(/usr/lib/libc.so.6)\n  memcpy.c:31\n")
    text = text.replace(b"(/usr/bin/python3.12)\n", b"(/usr/bin/python3.12)\n  python3.12[2a]\n")
    assert text.count(b"\n") == TEXT.count(b"\n") + 2
    assert decode(text, SOURCE) == decode(TEXT, SOURCE)


def test_a_time_is_no_event() -> None:
    assert not sniff(b"app 1896 1234.567890:\n\t b75613c3 work (/usr/bin/app)\n\n")
