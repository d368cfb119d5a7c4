"""Notes and warnings of one cause are one text."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from profkit.model.measurement import MeasurementWarning, WarningCode
from profkit.model.notes import Note, NoteCode
from profkit.render.views.measured import RELATIVE, WARNED, headed_warnings
from profkit.render.views.measurement_warnings import CAUSES_OF_WARNINGS, by_cause, note_texts, warnings_text
from tests.support.example_measurements import BUSY, DIFFER, QUICK

IDLE = Note(NoteCode.NONBLOCKING_IDLE)
TORN = Note.of(NoteCode.TORN, torn=3, samples=100)
GRAPH = Note(NoteCode.CALL_GRAPH)
SPREAD = MeasurementWarning.of(WarningCode.SPREAD, fastest_s=1e-6, slowest_s=1.2e-6)


def test_notes_of_one_cause_are_one_text_with_one_fix() -> None:
    (text,) = note_texts([IDLE, TORN])
    assert text.startswith("Sampled without stopping the program")
    assert '3.0 % of the samples were inconsistent ("torn")' in text
    assert text.count("Pass blocking=True for exact stacks.") == 1
    assert text.endswith("Pass blocking=True for exact stacks.")


def test_other_notes_keep_their_texts_and_order() -> None:
    ended = Note(NoteCode.PROCESS_ENDED)
    texts = list(note_texts([GRAPH, ended, Note.of(NoteCode.TREE_APPROXIMATED, unit="samples")]))
    assert len(texts) == 2
    assert texts[0].startswith("The file is a call graph")
    assert "the call tree is an approximation" in texts[0]
    assert texts[1] == next(note_texts([ended]))


def test_warnings_of_one_cause_begin_with_it() -> None:
    assert warnings_text([BUSY, SPREAD]).startswith("the machine was busy: ")
    assert warnings_text([BUSY]) in warnings_text([BUSY, SPREAD])
    assert not warnings_text([BUSY]).startswith("the machine")


def test_headings_say_what_numbers_are_worth() -> None:
    found = list(headed_warnings([BUSY, QUICK, SPREAD, DIFFER]))
    assert [word for word, _ in found] == [WARNED, RELATIVE, WARNED]


def test_every_warning_has_a_cause_or_is_alone() -> None:
    assert set(WarningCode) - CAUSES_OF_WARNINGS.keys() == {WarningCode.QUICK}


@given(st.lists(st.sampled_from([BUSY, QUICK, SPREAD, DIFFER]), max_size=8))
def test_no_warning_is_lost(warnings: list[MeasurementWarning]) -> None:
    assert Counter(one for group in by_cause(warnings) for one in group) == Counter(warnings)
