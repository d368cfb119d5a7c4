"""Dumps as text: what is added up where, and that damage is named."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.errors import DamagedFile, UsageError
from profkit.formats.callgrind import decode, parse_callgrind, select
from profkit.model.function_counts import CallCount, FunctionCount
from profkit.model.notes import Note, NoteCode
from profkit.model.profile import Profile
from profkit.transforms.tables import function_rows
from profkit.units import Unit
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
        ("+1 1 3\n", "+1 1 x\n", 14, "'+1 1 x'"),
        ("\nfi=(2)", "\nfi=(9)", 20, "(9) has no name"),
        ("\nfi=(2)", "\nfy=(2)", 20, "'fy=(2)' is not a line of a dump"),
        ("calls=4 10\n* 2 30", "calls=4 10", 19, "4 calls"),
        ("cfn=(2) operator()(int, char)\n", "", 18, "4 calls"),
        ("calls=4", "calls=", 18, "'calls= 10' has a count that is not a whole number"),
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


def own(profile: Profile) -> dict[str, int]:
    return {row.name: row.self_weight for row in function_rows(profile) if row.self_weight}


EVENTS = DUMP.replace("totals: 5 41", "totals: 6 41")
"""A dump whose costs of each event add up."""


def test_instructions_are_imported_unless_another_event_is_named() -> None:
    source = Path("x.out")
    instructions, value, notes = select(EVENTS.encode(), source)
    assert (instructions.unit, instructions.total_weight, value) == (Unit.INSTRUCTIONS, 41, "")
    assert instructions == decode(EVENTS.encode())
    assert Note.of(NoteCode.VALUES_LEFT_OUT, kept="Ir", left_out="Dr, Dw") in notes
    assert Note.of(NoteCode.TREE_APPROXIMATED, unit="instructions") in notes
    reads, value, notes = select(EVENTS.encode(), source, None, "Dr")
    assert (reads.unit, own(reads), value) == (Unit.SAMPLES, {"main": 3, "operator()(int, char)": 3}, "Dr")
    assert Note.of(NoteCode.EVENT_COUNTED, event="Dr") in notes
    assert Note.of(NoteCode.VALUES_LEFT_OUT, kept="Dr", left_out="Ir, Dw") in notes
    with pytest.raises(UsageError, match=r"x\.out has no value 'Cy'; give one .* --value: Dr, Ir, Dw"):
        select(EVENTS.encode(), source, None, "Cy")


def test_without_instructions_the_first_event_is_imported() -> None:
    text = EVENTS.replace("Dr Ir Dw", "Dr Cy Dw").encode()
    profile, _, notes = select(text, Path("x"))
    assert own(profile) == {"main": 3, "operator()(int, char)": 3}
    assert Note.of(NoteCode.EVENT_COUNTED, event="Dr") in notes


@pytest.mark.parametrize(
    ("event", "unit", "weight"),
    [
        ("ns", Unit.NANOSECONDS, 7),
        ("Time_(10ns)", Unit.NANOSECONDS, 70),
        ("Time_(µs)", Unit.NANOSECONDS, 7000),
        ("cpu(ms)", Unit.NANOSECONDS, 7_000_000),
        ("Memory_(bytes)", Unit.BYTES, 7),
        ("inuse_space(kB)", Unit.BYTES, 7168),
        ("samples(count)", Unit.SAMPLES, 7),
        ("Bc", Unit.SAMPLES, 7),
        ("(((", Unit.SAMPLES, 7),
    ],
)
def test_events_of_other_programs_have_their_unit_in_their_name(event: str, unit: Unit, weight: int) -> None:
    profile = decode(f"events: {event}\nfn=f\n1 7\n".encode())
    assert (profile.unit, profile.total_weight) == (unit, weight)


def test_only_files_of_valgrind_need_totals() -> None:
    text = b"creator: other 1.0\nevents: ns\nfn=f\n1 7\ncfn=g\ncalls=1 2\n1 5\nfn=g\n2 5\n"
    assert own(decode(text)) == {"f": 7, "g": 5}
    with pytest.raises(DamagedFile, match="ends without its totals"):
        decode(text.replace(b"other", b"callgrind-3.22"))


def test_an_object_of_a_callee_may_never_be_named() -> None:
    text = DUMP.replace("cob=(2) /lib/other.so", "cob=(7)").replace("ob=(2)\n", "ob=(2) /lib/other.so\n")
    assert parse_callgrind(text) == parse_callgrind(DUMP)


COUNTS = st.lists(st.tuples(st.sampled_from("fgh"), st.integers(0, 9), st.integers(0, 9)), max_size=8)


@given(COUNTS, st.permutations(["Ir", "Dr"]))
def test_each_event_has_its_own_column(counts: list[tuple[str, int, int]], events: list[str]) -> None:
    lines = [f"events: {' '.join(events)}"]
    costs: dict[str, Counter[str]] = {"Ir": Counter(), "Dr": Counter()}
    for name, instructions, reads in counts:
        of_call = {"Ir": instructions, "Dr": reads}
        lines += [f"fn={name}", " ".join(["1", *[str(of_call[event]) for event in events]])]
        for event in events:
            costs[event][name] += of_call[event]
    data = "\n".join(lines).encode()
    for event in events:
        assert own(select(data, Path("x"), None, event).profile) == +costs[event]


def test_an_object_may_have_no_name() -> None:
    """callgrind_annotate reads such dumps: a name that was given in a part that is cut off."""
    text = "positions: line\nevents: Ir\nob=(8)\nfl=(1) vector.c\nfn=(2) grow\n7 5\ntotals: 5\n"
    (row,) = function_rows(decode(text.encode()))
    assert (row.name, row.file, row.self_weight) == ("grow", "vector.c", 5)


def test_counts_are_no_differences() -> None:
    """Positions may be relative to those of the line before, counts may not."""
    text = "events: Ir\nfl=a.c\nfn=main\n16 20\n+2 *\n"
    with pytest.raises(DamagedFile, match=r"line 5: '\+2 \*' has a count that is not a whole number"):
        decode(text.encode())
