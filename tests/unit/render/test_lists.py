"""Lists of sampled and measured runs, for people and for programs."""

from __future__ import annotations

import json

import pytest
from rich.cells import cell_len

from profkit.model.measurement import AnyInfo
from profkit.model.notes import Note, NoteCode
from profkit.model.session import SessionState
from profkit.render.json.sampled import removed_json_parts, runs_json
from profkit.render.options import Terminal
from profkit.render.registry import LISTED_RUNS
from tests.support.example_measured_runs import counted_run, failed_run, measured_run, timed_run
from tests.support.example_measurements import hostile
from tests.support.example_runs import hostile_run, labelled, made_run
from tests.support.golden import check_golden

BOTH_KINDS: list[AnyInfo] = [
    labelled("0a0a0a0a0a", "validate", state=SessionState.RUNNING).info,
    timed_run(id="b100000000").info,
    counted_run(id="b200000000").info,
    measured_run("a label that is longer than anybody would like it to be", id="b300000000").info,
    failed_run(id="b400000000").info,
    labelled("3f2a91c0de", "train_step", 60).info,
]
WIDTHS = (40, 50, 64, 80, 100, 110, 120, 160)


@pytest.mark.usefixtures("utc")
@pytest.mark.parametrize("width", [None, *WIDTHS])
def test_both_kinds(width: int | None) -> None:
    name = f"width-{width}" if width else "pipe"
    text = LISTED_RUNS.text(BOTH_KINDS, terminal=Terminal(width)) + "\n"
    if width in (None, 50, 120):
        check_golden(f"list-measured-{name}.txt", text)
    assert all(cell_len(line) <= (width or 1000) for line in text.split("\n"))
    for info in BOTH_KINDS:
        assert info.id in text


def test_measured_runs_alone_have_no_columns_of_samples() -> None:
    (head, *_) = LISTED_RUNS.text([timed_run().info], terminal=Terminal()).split("\n")
    assert head.split() == ["run", "started", "label", "mode", "median", "state", "where"]


@pytest.mark.parametrize("width", [None, *WIDTHS])
def test_hostile_names_are_shown_not_obeyed(width: int | None) -> None:
    listed = LISTED_RUNS.text([hostile().info, hostile_run().info], terminal=Terminal(width))
    assert all(line.isprintable() for line in listed.split("\n"))


@pytest.mark.parametrize(
    ("note", "state"),
    [
        (Note.of(NoteCode.ROUNDS_DROPPED, dropped=5, rounds=100, functions=""), "warnings"),
        (Note.of(NoteCode.SAMPLED_INSIDE, kind="thread", gil=1, detail=""), "warnings"),
        (Note.of(NoteCode.SAMPLED_INSIDE, kind="interpreter", gil=1, detail=""), "kept"),
        (Note.of(NoteCode.BLOCKING_COST, share=0.1), "kept"),
    ],
)
def test_a_sampled_run_with_losses_or_bias_has_warnings(note: Note, state: str) -> None:
    _, row = LISTED_RUNS.text([made_run(notes=(note,)).info], terminal=Terminal()).split("\n")
    assert row.split()[-2] == state


def test_a_measured_run_as_json() -> None:
    note = Note.of(NoteCode.IN_PROCESS, detail="argument 'lock' cannot be sent to another process")
    (run,) = json.loads(runs_json([measured_run(notes=(note,)).info]))["runs"]
    check_golden("list-measured.json", json.dumps(run, indent=1) + "\n")


def test_a_failed_run_as_json() -> None:
    (run,) = json.loads(runs_json([failed_run().info]))["runs"]
    assert (run["state"], run["median_s"], run["instructions"]) == ("FAILED", None, None)
    assert run["quality"] == {"trusted": False, "warnings": []}
    assert "ZeroDivisionError" in run["error"]


def test_removed_runs_of_both_kinds() -> None:
    document = json.loads("".join(removed_json_parts([made_run().info, timed_run().info], dry_run=True)))
    assert [run["mode"] for run in document["removed"]] == ["sampled", "timer"]
