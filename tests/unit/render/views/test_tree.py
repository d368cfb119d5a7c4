"""The tree's rows: nothing is lost by summing up small calls or shortening chains, and guides fit."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from profkit.model.profile import Profile
from profkit.render.cells import guides
from profkit.render.views.costs import scale_of
from profkit.render.views.tables import TreeKind, TreeRow, shorten_chains, tree_rows
from profkit.transforms.origin import is_library_file
from profkit.transforms.trees import call_tree
from tests.support.profile_strategies import profile_of, profiles


def rows_of(profile: Profile, min_share: float = 0.0) -> tuple[TreeRow, ...]:
    return tree_rows(call_tree(profile), scale_of(profile), min_share, is_library_file)


def shape(rows: tuple[TreeRow, ...]) -> list[tuple[int, str, int]]:
    return [(row.depth, row.name or row.kind.value, row.total_samples) for row in rows]


def test_parents_are_before_their_children_heaviest_first() -> None:
    rows = rows_of(profile_of(("f:1 g:2", 1), ("f:1 h:3", 4), ("f:1", 2)))
    assert shape(rows) == [(0, "f", 7), (1, "h", 4), (1, "g", 1)]
    assert [row.last for row in rows] == [True, False, True]


def test_small_calls_are_summed_up() -> None:
    rows = rows_of(profile_of(("f g", 90), ("f h", 4), ("f k x", 3), ("f m", 3)), min_share=0.05)
    assert shape(rows) == [(0, "f", 100), (1, "g", 90), (1, "small", 10)]
    assert rows[-1].hidden == 3


def test_a_library_frame_is_marked() -> None:
    kinds = [row.kind for row in rows_of(profile_of(("f g@lib", 1)))]
    assert kinds == [TreeKind.CALL, TreeKind.LIBRARY]


def chain(length: int, *branches: str) -> Profile:
    names = " ".join(f"f{n}" for n in range(length))
    return profile_of(*((f"{names} {branch}", 5) for branch in branches or ("leaf",)))


def test_a_short_chain_stays_whole() -> None:
    rows = rows_of(chain(11))
    assert shorten_chains(rows) == rows


def test_a_long_chain_loses_its_middle_and_what_is_below_moves_left() -> None:
    rows = shorten_chains(rows_of(chain(30, "x", "y z")))
    names = [row.name or row.hidden for row in rows]
    assert names == ["f0", "f1", "f2", "f3", 22, "f26", "f27", "f28", "f29", "x", "y", "z"]
    assert [row.depth for row in rows] == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 10]


def test_a_chain_below_a_branch_is_shortened() -> None:
    long = " ".join(f"g{n}" for n in range(20))
    rows = shorten_chains(
        rows_of(profile_of((f"{' '.join(f'f{n}' for n in range(20))} {long}", 5), ("f0 x", 5)))
    )
    assert [row.hidden for row in rows if row.kind is TreeKind.CHAIN] == [31]
    assert [row.depth for row in rows] == [0, *range(1, 10), 1]


def test_deep_recursion_takes_few_rows() -> None:
    rows = rows_of(profile_of((" ".join(["f"] * 3000), 7)))
    assert len(rows) == 3000
    assert len(shorten_chains(rows)) == 9


def test_recursion_that_gets_lighter_takes_few_rows_too() -> None:
    paths = [(" ".join(["main", *["a", "b"] * depth]), 3) for depth in range(1, 60)]
    rows = rows_of(profile_of(*paths))
    shown = shorten_chains(rows)
    assert len(rows) == 119
    assert [row.name or row.hidden for row in shown] == ["main", "a", "b", "a", 111, "a", "b", "a", "b"]


@given(profiles(max_depth=25), st.floats(0, 0.5))
def test_shares_of_siblings_sum_to_their_parent(profile: Profile, min_share: float) -> None:
    rows = rows_of(profile, min_share)
    for number, row in enumerate(rows):
        below = []
        for other in rows[number + 1 :]:
            if other.depth <= row.depth:
                break
            if other.depth == row.depth + 1:
                below.append(other)
        if row.kind is not TreeKind.SMALL:
            assert row.self_samples + sum(other.total_samples for other in below) == row.total_samples
        assert [other.last for other in below] == [False] * (len(below) - 1) + [True] * bool(below)


@given(profiles(max_depth=40))
def test_shortening_keeps_all_samples_and_the_order_of_depths(profile: Profile) -> None:
    rows = rows_of(profile)
    short = shorten_chains(rows)
    assert sum(row.self_samples for row in short) == sum(row.self_samples for row in rows)
    assert sum(max(1, row.hidden) for row in short) == len(rows)
    depths = [-1, *(row.depth for row in short)]
    assert all(below <= above + 1 for above, below in pairwise(depths))


def test_guides_show_whose_child_a_row_is() -> None:
    rows = rows_of(profile_of(("f g h", 4), ("f g k", 3), ("f m h", 2), ("z", 1)))
    drawn = [guide + row.name for guide, row in zip(guides(rows, 60), rows, strict=True)]
    assert drawn == ["f", "├ g", "│ ├ h", "│ └ k", "└ m", "  └ h", "z"]


@given(profiles(max_depth=40), st.integers(10, 60))
def test_guides_leave_room_for_names(profile: Profile, room: int) -> None:
    rows = rows_of(profile)
    assert all(len(guide) <= room // 2 for guide in guides(rows, room))
