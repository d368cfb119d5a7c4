"""Dumps as text: what is added up where, and that damage is named."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.errors import DamagedFile
from profkit.formats.callgrind import parse_callgrind
from profkit.model.measurement import CallCount, FunctionCount
from tests.support.callgrind_files import read_callgrind

DUMP = """\
# callgrind format
version: 1
creator: callgrind-3.19.0
cmd:  ./program with
a second line
positions: line
events: Dr Ir Dw
summary: 6 41 0

ob=(1) /lib/own.so
fl=(1) main.c
fn=(1) main
3 1 2 3
+1 1 3
cob=(2) /lib/other.so
cfi=(2) other.h
cfn=(2) operator()(int, char)
calls=4 10
* 2 30
fi=(2)
7 0 5
fe=(1)
* 1
jcnd=1/2 +3
*

jfi=(3) far.c
jfn=(3) far
jump=2 +1
*
ob=(2)
fl=(2)
fn=(2)
# a comment
10 3 31
cfi=(3)
cfn=(3)
calls=0 1
11 0 7

totals: 5 41
"""


def test_rows_are_titled_by_file_and_function() -> None:
    dump = parse_callgrind(DUMP)
    assert set(dump.functions) == {
        FunctionCount("main.c:main", 5, 35, 0, "/lib/own.so"),
        FunctionCount("other.h:main", 5, 5, 0, ""),
        FunctionCount("other.h:operator()(int, char)", 31, 30, 4, "/lib/other.so"),
        FunctionCount("far.c:far", 0, 7, 0, ""),
    }
    assert set(dump.calls) == {
        CallCount("main.c:main", "other.h:operator()(int, char)", 4, 30),
        CallCount("other.h:operator()(int, char)", "far.c:far", 0, 7),
    }
    assert dump.events == ("Dr", "Ir", "Dw")
    assert dump.totals == (6, 41, 0)
    assert dump.instructions == 41


def test_totals_stand_in_for_a_summary_of_nothing() -> None:
    assert parse_callgrind(DUMP.replace("summary: 6 41 0", "summary: 0")).totals == (5, 41, 0)


def test_a_dump_in_which_nothing_was_collected() -> None:
    dump = parse_callgrind("positions: line\nevents: Ir\nsummary: 0\n\ntotals: 0\n")
    assert (dump.totals, dump.functions, dump.calls) == ((0,), (), ())


def test_a_file_of_odd_bytes(tmp_path: Path) -> None:
    (path := tmp_path / "dump").write_bytes(DUMP.encode().replace(b"far.c", b"f\xff\x85r\x0c.c"))
    [far] = [row for row in read_callgrind(path).functions if row.name.endswith(":far")]
    assert far.name.encode("utf-8", "surrogateescape") == b"f\xff\x85r\x0c.c:far"


@pytest.mark.parametrize(
    ("old", "new", "line", "why"),
    [
        ("events: Dr Ir Dw", "", 42, "without a line of events"),
        ("Dr Ir Dw", "Dr Dw", 7, "without Ir"),
        ("+1 1 3\n", "+1 1 3 4 5\n", 14, "more than 3 counts"),
        ("+1 1 3\n", "+1 1 x\n", 14, "'x'"),
        ("\nfi=(2)", "\nfi=(9)", 20, "(9) has no name"),
        ("\nfi=(2)", "\nfy=(2)", 20, "'fy=(2)' is not a line of a dump"),
        ("calls=4 10\n* 2 30", "calls=4 10", 19, "4 calls"),
        ("cfn=(2) operator()(int, char)\n", "", 18, "4 calls"),
        ("calls=4", "calls=", 18, "invalid literal"),
        ("fn=(1) main\n", "", 18, "4 calls"),
        ("+1 1 3\n", "+1 1 4\n", 42, "add up to 42 instructions, its totals say 41"),
        ("totals: 5 41", "totals: 5 41 1 1", 41, "more than 3 counts"),
        ("totals: 5 41\n", "", 41, "without its totals"),
        ("far.c", "fa\nr.c", 28, "is not a line of a dump"),
    ],
)
def test_damage_is_named_with_its_line(old: str, new: str, line: int, why: str) -> None:
    assert old in DUMP
    with pytest.raises(DamagedFile) as caught:
        parse_callgrind(DUMP.replace(old, new, 1), Path("place/of.dump"))
    assert f"line {line}: " in str(caught.value)
    assert why in str(caught.value)
    assert "place/of.dump" in str(caught.value)


def test_a_part_with_other_events_is_damage() -> None:
    with pytest.raises(DamagedFile, match="other events"):
        parse_callgrind(f"{DUMP}\npart: 2\nevents: Ir\ntotals: 0\n")


@given(st.integers(0, len(DUMP) - 2))
def test_a_dump_that_ends_early_is_damage(end: int) -> None:
    if "totals: 5 41".startswith(DUMP[end:].strip()):
        end -= len("1\n")
    with pytest.raises(DamagedFile):
        parse_callgrind(DUMP[:end])
