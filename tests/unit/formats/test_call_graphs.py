"""What a call graph states of its functions is what profkit says of them, however they recurse."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.cli.files import runs_of_file
from profkit.comparing.sampled import compare_sampled
from profkit.comparing.shares import whole
from profkit.formats import callgrind, pprof
from profkit.formats.pstats import decode
from profkit.model.notes import Note, NoteCode
from profkit.model.profile import Frame, Profile, Thread
from profkit.model.region import Region, RegionKey, RegionKind
from profkit.model.run import Run
from profkit.render.html.comparisons import sampled_comparison_html
from profkit.render.html.sampled import sampled_html
from profkit.render.json.sampled import sampled_json
from profkit.render.options import ReportOptions, Terminal
from profkit.render.registry import SAMPLED
from profkit.render.views.sampled import build_report
from profkit.render.views.tables import build_tables
from profkit.transforms.attribution import cut_regions
from profkit.transforms.combine import merge_profiles
from profkit.transforms.simplify import fold_addresses, keep_leaf_end, keep_threads, prune
from profkit.transforms.tables import Selection, function_table, line_table
from profkit.transforms.trees import call_tree, number_functions
from tests.support import call_traces as traces
from tests.support.call_traces import FUNCTIONS, MAIN, TRACES, Call
from tests.support.example_runs import made_run
from tests.support.html_pages import read_page
from tests.support.profile_strategies import LIBRARY

Costs = Mapping[Frame, tuple[int, int]]
"""Self and total of functions."""

MAIN_FILE, LOAD, FIND, SMALL = FUNCTIONS[0], FUNCTIONS[3], FUNCTIONS[4], FUNCTIONS[1]
NESTED = Call(
    MAIN_FILE,
    10_000,
    (Call(FIND, 20_000, (Call(LOAD, 30_000, (Call(FIND, 40_000, (Call(SMALL, 900_000),)),)),)),),
)
"""`main` is called once, and all is below it; `find` is called again inside itself."""


def table_of(profile: Profile) -> Costs:
    rows = function_table(profile, functions=number_functions(profile.frames, by_line=True)).rows
    return {Frame(row.name, row.file, row.line): (row.self_weight, row.total_weight) for row in rows}


def costs(own: Mapping[Frame, int], total: Mapping[Frame, int]) -> Costs:
    return {function: (own[function], total[function]) for function in total if total[function]}


def run_of(data: bytes, folder: Path, name: str = "made.prof") -> Run:
    (folder / name).write_bytes(data)
    (run,) = runs_of_file(folder / name)
    assert isinstance(run, Run)
    return run


@given(TRACES)
def test_statistics_keep_self_and_cumulative_times(trace: tuple[Call, ...]) -> None:
    profile = decode(traces.statistics_of(trace))
    own = traces.own_costs(trace)
    assert profile.total_weight == sum(own.values())
    assert table_of(profile) == costs(own, traces.costs_once(trace))


@given(TRACES)
def test_dumps_keep_exclusive_and_inclusive_costs(trace: tuple[Call, ...]) -> None:
    program = Call(MAIN, 5, trace)
    profile = callgrind.decode(traces.dump_of(program))
    own, total = traces.own_costs([program]), traces.costs_by_call([program])
    assert profile.total_weight == sum(own.values())
    found = {
        (name.partition(" ")[0], file): figures for (name, file, _), figures in table_of(profile).items()
    }
    assert found["start", "app.py"] == (5, sum(own.values()))
    assert sorted(table_of(profile).values()) == sorted(costs(own, total).values())


@given(TRACES)
def test_stacks_begin_where_the_program_did(trace: tuple[Call, ...]) -> None:
    called_first = {(call.function.name, call.function.file) for call in trace}
    tree = call_tree(decode(traces.statistics_of(trace)))
    assert {(node.frame.name, node.frame.file) for node in tree.children} <= called_first
    assert tree.total_weight == sum(traces.own_costs(trace).values())


@given(TRACES)
def test_the_first_function_of_a_program_has_all_of_the_tree(trace: tuple[Call, ...]) -> None:
    program = Call(MAIN, 5, trace)
    for profile in (decode(traces.statistics_of([program])), callgrind.decode(traces.dump_of(program))):
        (root,) = call_tree(profile).children
        assert root.frame.name.split()[0] == MAIN.name
        assert root.total_weight == profile.total_weight


@given(TRACES.map(traces.without_recursion))
def test_without_recursion_the_stacks_say_the_same(trace: tuple[Call, ...]) -> None:
    profile = decode(traces.statistics_of(trace))
    counted = Profile(frames=profile.frames, stacks=profile.stacks, samples=profile.samples)
    # Weights are whole on each path, and paths below a 100,000th of the whole are given up.
    slack = len(profile.stacks) + 2e-3 * profile.total_weight
    found = table_of(counted)
    for function, (own, total) in table_of(profile).items():
        if total > slack:
            assert found[function] == (own, pytest.approx(total, abs=slack))


@given(TRACES, TRACES)
def test_totals_of_merged_files_are_added_up(one: tuple[Call, ...], other: tuple[Call, ...]) -> None:
    merged = merge_profiles([decode(traces.statistics_of(trace)) for trace in (one, other)])
    if sum(traces.own_costs(one).values()) and sum(traces.own_costs(other).values()):
        own = traces.own_costs(one) + traces.own_costs(other)
        assert table_of(merged) == costs(own, traces.costs_once(one) + traces.costs_once(other))


@given(TRACES, st.integers(1, 4))
def test_the_hottest_rows_are_those_of_the_whole_table(trace: tuple[Call, ...], most: int) -> None:
    profile = decode(traces.statistics_of(trace))
    named = number_functions(profile.frames, by_line=True)
    every, some = (function_table(profile, Selection(limit), named) for limit in (None, most))
    assert some.rows[:most] == every.rows[:most]
    assert some.found == every.found


@given(TRACES)
def test_totals_are_kept_by_pprof(trace: tuple[Call, ...]) -> None:
    profile = decode(traces.statistics_of(trace))
    read = pprof.decode(pprof.encode(profile))
    assert (read.totals, read.frames) == (profile.totals, profile.frames)


def test_functions_of_one_name_are_distinguished_by_their_lines() -> None:
    one, other = FUNCTIONS[1], FUNCTIONS[2]
    profile = decode(traces.statistics_of([Call(one, 3000, (Call(other, 4000),))]))
    assert table_of(profile) == {one: (3000, 7000), other: (4000, 4000)}
    # As one function, they cost at least as much as the larger of them.
    (row,) = function_table(profile).rows
    assert (row.self_weight, row.total_weight) == (7000, 7000)


def test_lines_have_the_totals_of_their_functions() -> None:
    rows = {row.line: row.total_weight for row in line_table(decode(traces.statistics_of([NESTED]))).rows}
    assert rows == {1: 1_000_000, 5: 990_000, 20: 970_000, 3: 900_000}


def test_every_report_shows_the_files_own_figures(tmp_path: Path) -> None:
    run = run_of(traces.statistics_of([NESTED]), tmp_path)
    document = json.loads(sampled_json([run]))
    assert document["stated_totals"] is True
    assert {row["name"]: row["total_share"] for row in document["functions"]} == {
        "main": 1.0, "find": 0.99, "load": 0.97, "__init__": 0.9,
    }  # fmt: skip
    text = SAMPLED.text([run], terminal=Terminal(100))
    assert "99.0 %" in next(line for line in text.splitlines() if "find" in line)
    assert "an approximation: the file has no stacks" in text
    assert "| 97.0 % | `load` |" in SAMPLED.markdown([run])
    page = read_page(sampled_html([run]))
    stated = dict(zip(page.column("r0.totals.function"), page.column("r0.totals.weight"), strict=True))
    names = page.head["functions"]["name"]
    assert {names[function]: total for function, total in stated.items()} == {
        "main": 1_000_000, "find": 990_000, "load": 970_000, "__init__": 900_000,
    }  # fmt: skip


def test_the_notes_say_what_is_exact_and_what_is_not(tmp_path: Path) -> None:
    assert run_of(traces.statistics_of([NESTED]), tmp_path).info.notes == (
        Note(NoteCode.CALL_GRAPH),
        Note.of(NoteCode.TREE_APPROXIMATED, unit="nanoseconds"),
    )
    assert run_of(traces.dump_of(NESTED), tmp_path, "made.out").info.notes == (
        Note(NoteCode.CALL_GRAPH_RECURSION),
        Note.of(NoteCode.TREE_APPROXIMATED, unit="instructions"),
    )


def two_threads() -> Profile:
    profile = decode(traces.statistics_of([NESTED]))
    other = tuple(sample._replace(thread=1) for sample in profile.samples[:2])
    threads = (Thread(7, 8, "main"), Thread(7, 9, "loader"))
    return replace(profile, threads=threads, samples=(*profile.samples, *other))


def test_parts_of_a_profile_have_no_stated_totals() -> None:
    profile = two_threads()
    assert keep_threads(profile, [9]).totals == ()
    assert keep_leaf_end(profile, 1).totals == ()
    assert keep_leaf_end(profile, 9) is profile
    region = Region(RegionKey("app", "find", 5, "x"), RegionKind.FUNCTION, "lib.py")
    assert cut_regions(profile, [region])[region.id].profile.totals == ()


def test_a_report_of_one_thread_has_no_stated_totals(tmp_path: Path) -> None:
    run = run_of(traces.statistics_of([NESTED]), tmp_path)
    several = replace(run, profile=two_threads())
    of_all, of_one = (
        json.loads(sampled_json([several], ReportOptions(thread=thread))) for thread in (None, "loader")
    )
    assert (of_all["stated_totals"], of_one["stated_totals"]) == (True, False)
    assert all(row["total_share"] <= 1 for row in of_one["functions"])
    # One that is alone is the whole.
    assert json.loads(sampled_json([run], ReportOptions(thread="0")))["stated_totals"] is True


def test_small_calls_that_are_left_out_leave_the_totals() -> None:
    pruned = prune(decode(traces.statistics_of([NESTED])), 0.95)
    assert {name: total for (name, _, _), (_, total) in table_of(pruned).items()} == {
        "main": 1_000_000, "find": 990_000, "load": 970_000, "__init__": 900_000, "smaller calls": 930_000,
    }  # fmt: skip


def test_calls_within_a_recursion_are_below_those_that_led_there() -> None:
    profile = decode(traces.statistics_of([NESTED]))
    (stack,) = (stack for stack in profile.stacks if len(stack) == 4)
    assert [profile.frames[number].name for number in stack] == ["main", "find", "load", "__init__"]
    counted = {name: total for (name, _, _), (_, total) in table_of(replace(profile, totals=())).items()}
    # What `find` costs itself within `load` counts where `find` is on the stack.
    assert counted == {"main": 1_000_000, "find": 990_000, "load": 930_000, "__init__": 900_000}


@given(TRACES)
def test_functions_cost_no_more_on_stacks_than_the_whole(trace: tuple[Call, ...]) -> None:
    profile = decode(traces.statistics_of(trace))
    assert all(len(set(stack)) == len(stack) for stack in profile.stacks)
    own = traces.own_costs(trace)
    for function, (self_ns, total_ns) in table_of(replace(profile, totals=())).items():
        assert self_ns == own[function]
        assert self_ns <= total_ns <= profile.total_weight


def test_machine_code_without_symbols_keeps_its_rows_in_reports() -> None:
    dump = traces.dump_of(Call(MAIN, 1, (Call(Frame("0x4c", "", 0), 2, (Call(LOAD, 3),)),)))
    profile = replace(
        callgrind.decode(dump),
        frames=tuple(f._replace(name=f.name.split()[0]) for f in callgrind.decode(dump).frames),
    )
    assert fold_addresses(profile) is profile
    # Where functions must be folded, those that are keep no total, the others do.
    folded = fold_addresses(profile, stated=True)
    totals = {frame.name: total for frame, total in zip(folded.frames, folded.totals, strict=True)}
    assert totals == {"start": 6, "[native code]": None, "load": 3}


def test_shares_of_a_comparison_never_exceed_the_whole() -> None:
    again = Call(FIND, 10, (Call(FIND, 10, (Call(FIND, 10),)),))
    dump = traces.dump_of(Call(MAIN, 1, (again,)))
    profile = callgrind.decode(dump)
    assert max(total for _, total in table_of(profile).values()) == 60
    assert max(whole(profile).total.values()) == 1.0


def test_a_comparisons_page_has_the_totals_of_each_side(tmp_path: Path) -> None:
    slower = NESTED._replace(own=510_000)
    runs = [
        run_of(traces.statistics_of([call]), tmp_path, f"{n}.prof") for n, call in enumerate((NESTED, slower))
    ]
    comparison = compare_sampled(runs[:1], runs[1:])
    page = read_page(sampled_comparison_html(comparison, ReportOptions()))
    names = page.head["functions"]["name"]
    for side, whole_ns in ((0, 1_000_000), (1, 1_500_000)):
        columns = (page.column(f"r0.{side}.totals.{name}") for name in ("function", "weight"))
        assert {names[function]: total for function, total in zip(*columns, strict=True)} == {
            "main": whole_ns, "find": 990_000, "load": 970_000, "__init__": 900_000,
        }  # fmt: skip


@given(TRACES)
def test_lines_never_cost_more_by_themselves_than_in_total(trace: tuple[Call, ...]) -> None:
    paths = {"app.py": "/home/ann/app.py", "lib.py": LIBRARY, "": ""}
    profile = decode(traces.statistics_of(trace))
    frames = tuple(frame._replace(file=paths[frame.file]) for frame in profile.frames)
    report = build_report(replace(made_run(), profile=replace(profile, frames=frames)), ReportOptions())
    lines = build_tables(report).lines
    assert all(row.self_samples <= row.total_samples for row in lines)
    totals = {(frame.file, frame.line): total for frame, total in zip(frames, profile.totals, strict=True)}
    assert all(row.total_samples == totals[row.file, row.line] for row in lines if row.file != LIBRARY)
