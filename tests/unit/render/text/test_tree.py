"""The terminal's flame view: shares become widths, nothing overlaps, names stay harmless."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from profkit.model.profile import Frame, Profile, ProfileBuilder, Thread
from profkit.render.formatting import sparkline
from profkit.render.options import Terminal
from profkit.render.registry import SAMPLED
from profkit.render.text.flame import flame_rows
from profkit.transforms.trees import call_tree
from tests.support.example_runs import hostile_run, made_run
from tests.support.profile_strategies import profiles

THREAD = Thread(1, 1, "main")


def of_paths(*paths: tuple[str, int]) -> Profile:
    builder = ProfileBuilder()
    for path, weight in paths:
        builder.add(tuple(Frame(name, "f.py", 1) for name in path), THREAD, weight)
    return builder.build()


def test_calls_are_as_wide_as_their_shares_and_are_below_their_callers() -> None:
    root = call_tree(of_paths(("abc", 50), ("abd", 25), ("ae", 25)))
    rows = flame_rows(root, 80)
    assert [[(cell.node.frame.name, cell.start, cell.end) for cell in row] for row in rows] == [
        [("a", 0, 80)],
        [("b", 0, 60), ("e", 60, 80)],
        [("c", 0, 40), ("d", 40, 60)],
    ]


def test_what_all_samples_share_is_left_out_but_for_its_end() -> None:
    rows = flame_rows(call_tree(of_paths(("abcd", 1), ("abce", 1))), 80)
    assert [row[0].node.frame.name for row in rows] == ["c", "d"]


def test_deep_stacks_show_where_they_part() -> None:
    rows = flame_rows(call_tree(of_paths(("abcdefghijklmn", 6), ("abcdefghijkxyz", 3), ("v", 1))), 80)
    assert ["".join(cell.node.frame.name for cell in row) for row in rows] == ["av", "k", "nz"]


@given(profiles(), st.integers(60, 120))
def test_rows_never_overlap_and_lie_within_their_callers(profile: Profile, width: int) -> None:
    rows = flame_rows(call_tree(profile), width)
    for row in rows:
        edges = [edge for cell in row for edge in (cell.start, cell.end)]
        assert edges == sorted(edges)
        assert edges[0] >= 0
        assert edges[-1] <= width
        assert all(cell.end > cell.start for cell in row)


def test_the_report_has_the_view_where_there_is_room() -> None:
    assert "\nFlame  each call" in SAMPLED.text([made_run()], terminal=Terminal(80))
    assert "\nFlame  each call" not in SAMPLED.text([made_run()], terminal=Terminal(50))


def test_hostile_names_do_not_break_the_rows() -> None:
    text = SAMPLED.text([hostile_run()], terminal=Terminal(80))
    view = text.partition("\nFlame")[2].partition("\n\n")[0]
    assert all(cell_len(line) <= 80 for line in view.splitlines())
    assert "\x1b" not in view


@given(st.lists(st.floats(0, 1e12, allow_subnormal=False), max_size=50), st.integers(1, 20))
def test_a_sparkline_has_a_column_for_each_value_up_to_its_width(values: list[float], cells: int) -> None:
    drawn = sparkline(values, cells)
    assert len(drawn) == min(cells, len(values))
    if any(values):
        assert "█" in drawn


def test_a_sparkline_begins_at_zero() -> None:
    assert sparkline([0, 1, 4, 8], 4) == " ▁▄█"
    assert sparkline([4, 4, 8, 8], 2) == "▄█"
    assert sparkline([0, 0], 2) == "  "
