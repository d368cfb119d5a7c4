"""The reports for programs."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given

from profkit.model.notes import Note, NoteCode
from profkit.model.profile import Frame, Profile, ProfileBuilder, Thread
from profkit.model.run import Run
from profkit.render.json.run_parts import MAX_DEPTH
from profkit.render.json.sampled import removed_json_parts, runs_json, sampled_json, sampled_json_parts
from profkit.render.options import ReportOptions, Terminal
from profkit.render.registry import SAMPLED
from profkit.units import Unit
from tests.support.example_runs import HOSTILE, hostile_run, made_profile, made_run
from tests.support.golden import check_golden
from tests.support.profile_strategies import profiles


def test_report() -> None:
    note = Note.of(NoteCode.DURATION_REACHED, max_duration_s=600.0)
    document = json.loads(sampled_json([made_run(notes=(note,))]))
    check_golden("report.json", json.dumps(document, indent=1) + "\n")


def test_list() -> None:
    document = json.loads(runs_json([made_run().info]))
    assert document["schema"] == "profkit.runs/1"
    assert [run["id"] for run in document["runs"]] == ["3f2a91c0de"]


def test_removed() -> None:
    document = json.loads("".join(removed_json_parts([made_run().info], dry_run=True)))
    assert (document["schema"], document["dry_run"]) == ("profkit.removed/1", True)
    assert document["removed"][0]["label"] == "train_step"


def test_functions_have_the_promised_fields() -> None:
    functions = json.loads(sampled_json([made_run()]))["functions"]
    assert {tuple(row) for row in functions} == {
        ("name", "file", "line", "self_samples", "total_samples", "self_share", "total_share", "self_s",
         "total_s", "waiting_samples", "waiting_share", "waiting_s")
    }  # fmt: skip


def test_programs_get_everything_unless_they_ask_for_less() -> None:
    everything = json.loads(sampled_json([made_run()]))
    limited = json.loads(sampled_json([made_run()], ReportOptions(limit=2, min_share=0.3)))
    assert (len(everything["functions"]), len(everything["lines"])) == (12, 12)
    assert (len(limited["functions"]), len(limited["lines"])) == (2, 2)
    assert [child["name"] for child in limited["tree"]["children"][0]["children"]] == ["load_batch"]


def test_a_run_without_samples_or_times() -> None:
    empty = json.loads(sampled_json([Run(made_run().info)]))
    assert (empty["functions"], empty["tree"]["children"], empty["resources"]) == ([], [], None)
    counted = replace(made_profile(), unit=Unit.INSTRUCTIONS, period_ns=0.0)
    row = json.loads(sampled_json([Run(made_run().info, counted)]))["functions"][0]
    assert (row["self_samples"], row["self_s"]) == (118, None)


def test_hostile_names_are_whole_and_in_ascii() -> None:
    text = sampled_json([hostile_run()])
    assert text.isascii()
    assert all(line.isprintable() for line in text.split("\n"))
    assert {row["name"] for row in json.loads(text)["threads"]} == set(HOSTILE)


@pytest.mark.parametrize("depth", [MAX_DEPTH, MAX_DEPTH + 1, 30_000])
def test_a_deep_tree_can_be_read_back(depth: int) -> None:
    deep = replace(made_profile(), stacks=((0,) * depth,), samples=made_profile().samples[:1])
    node = json.loads(sampled_json([Run(made_run().info, deep)]))["tree"]
    levels = 0
    while node["children"]:
        node, levels = node["children"][0], levels + 1
    assert levels == min(depth, MAX_DEPTH)
    assert node["cut"] == (118 if depth > MAX_DEPTH else 0)
    assert node["total_samples"] == 118


def test_a_tree_can_be_limited_in_depth() -> None:
    tree = json.loads(sampled_json([made_run()], ReportOptions(depth=1)))["tree"]
    (top,) = tree["children"]
    assert (top["children"], top["cut"]) == ([], top["total_samples"] - top["self_samples"])


def test_a_large_report_comes_in_pieces() -> None:
    builder = ProfileBuilder()
    for number in range(3000):
        builder.add((Frame("f" * 40, "a.py", 1), Frame(f"g{number}", "a.py", 1)), Thread(1, 1, "t"))
    run = Run(made_run().info, builder.build(period_ns=1e6))
    parts = list(sampled_json_parts([run]))
    assert len(parts) > 3
    assert len(json.loads("".join(parts))["tree"]["children"][0]["children"]) == 3000


@given(profiles())
def test_children_sum_to_their_parent(profile: Profile) -> None:
    pending = [json.loads(sampled_json([Run(made_run().info, profile)]))["tree"]]
    while pending:
        node = pending.pop()
        below = sum(child["total_samples"] for child in node["children"])
        assert node["self_samples"] + below == node["total_samples"]
        pending += node["children"]


@pytest.mark.parametrize("name", SAMPLED.formats)
def test_every_renderer_takes_every_run(name: str) -> None:
    for run in (made_run(), hostile_run(), Run(made_run(samples=0).info)):
        assert "3f2a91c0de" in SAMPLED.renderer(name)([run], ReportOptions(), Terminal())
