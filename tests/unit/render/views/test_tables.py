"""The rows of a report, compared as data."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given

from profkit.model.profile import Profile
from profkit.model.run import Run
from profkit.render.options import ReportOptions, Sort
from profkit.render.views.sampled import build_report
from profkit.render.views.tables import HotRow, Tables, build_tables
from tests.support.example_runs import APP, DATA, TORCH, made_run
from tests.support.profile_strategies import USER, profiles


def shown(**options: object) -> Tables:
    return build_tables(build_report(made_run(), ReportOptions(**options)))  # type: ignore[arg-type]


def test_a_thread_has_rows_of_its_own() -> None:
    rows = shown(thread="loader-0").functions
    assert [(row.name, row.self_samples, row.self_share) for row in rows[:1]] == [("load_batch", 15, 1.0)]


def test_a_function_has_its_own_cost_and_that_of_its_callees() -> None:
    period_s = 1 / 97.4
    assert shown().functions[3] == HotRow(
        name="augment",
        file=DATA,
        line=18,
        self_samples=31,
        total_samples=149,
        self_share=31 / 291,
        total_share=149 / 291,
        self_s=pytest.approx(31 * period_s),  # type: ignore[arg-type]
        total_s=pytest.approx(149 * period_s),  # type: ignore[arg-type]
        waiting_samples=0,
        waiting_share=0.0,
        waiting_s=0.0,
    )


@pytest.mark.parametrize(
    ("sort", "first"),
    [
        (Sort.SELF, ["jitter.<locals>.pixel", "Linear.forward", "_engine_run_backward"]),
        (Sort.TOTAL, ["train_step", "load_batch", "augment"]),
        (Sort.NAME, ["Linear.forward", "Module._wrapped_call_impl", "Net.forward"]),
    ],
)
def test_functions_are_sorted_and_limited(sort: Sort, first: list[str]) -> None:
    limited = shown(sort=sort, limit=3)
    assert [row.name for row in limited.functions] == first
    assert (limited.functions_found, limited.lines_found) == (12, 12)


def test_library_calls_count_for_the_line_that_makes_them() -> None:
    own = {(row.file, row.line): row.self_samples for row in shown().lines}
    assert own[APP, 21] == 67
    assert own[APP, 49] == 53
    assert not any(TORCH in file for file, _ in own)


def test_show_all_gives_library_lines_their_own() -> None:
    own = {(row.file, row.line): row.self_samples for row in shown(show_all=True).lines}
    assert own[APP, 21] == 1
    assert own[f"{TORCH}/nn/modules/linear.py", 125] == 66


def test_the_file_of_the_region_is_no_library() -> None:
    run = made_run()
    library = f"{TORCH}/nn/modules/linear.py"
    own = replace(run, info=replace(run.info, region=replace(run.info.region, file=library)))
    rows = build_tables(build_report(own, ReportOptions())).lines
    assert (library, 125) in {(row.file, row.line) for row in rows}


@given(profiles())
def test_own_costs_sum_to_the_whole(profile: Profile) -> None:
    rows = build_tables(build_report(Run(made_run().info, profile), ReportOptions())).functions
    frameless = sum(sample.weight for sample in profile.samples if not profile.stacks[sample.stack])
    assert sum(row.self_samples for row in rows) + frameless == profile.total_weight
    assert all(row.self_samples <= row.total_samples <= profile.total_weight for row in rows)


@given(profiles())
def test_no_sample_is_lost_when_library_calls_count_for_their_callers(profile: Profile) -> None:
    known = [frame._replace(line=frame.line + 1) for frame in profile.frames]
    run = Run(made_run().info, replace(profile, frames=tuple(known)))
    folded, raw = (
        build_tables(build_report(run, ReportOptions(show_all=show_all))) for show_all in (False, True)
    )
    shown = sum(row.self_samples for row in folded.lines)
    assert shown + folded.lines_elsewhere == sum(row.self_samples for row in raw.lines)
    own = [row for row in folded.lines if row.file == USER]
    assert own == list(folded.lines) or not own
