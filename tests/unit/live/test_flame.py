"""Layout of flame graphs: widths are shares, and calls are inside their callers."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from profkit.live.flame import below, existing, lay_out, next_to, node_at
from profkit.model.profile import Profile
from profkit.transforms.trees import call_tree
from tests.support.profile_strategies import USER, profile_of, profiles

TREE = call_tree(profile_of(("a b", 6), ("a c", 3), ("d", 3)))
A, B, C, D = (("a", USER), ("b", USER), ("c", USER), ("d", USER))


@settings(max_examples=40)
@given(profile=profiles(), width=st.integers(1, 120), data=st.data())
def test_calls_are_inside_their_callers_as_wide_as_their_shares_and_may_be_zoomed(
    profile: Profile, width: int, data: st.DataObject
) -> None:
    tree = call_tree(profile)
    rows = lay_out(tree, width)
    assert [(cell.left, cell.right) for cell in rows[0]] == [(0, width)]
    for callers, row in pairwise(rows):
        edges = {cell.path: cell for cell in callers}
        assert all(one.right <= other.left for one, other in pairwise(row))
        for cell in row:
            caller = edges[cell.path[:-1]]
            assert caller.left <= cell.left < cell.right <= caller.right
            share = cell.node.total_weight / max(1, tree.total_weight)
            assert abs(cell.width - share * width) <= len(cell.path) + 1
    zoom = data.draw(st.sampled_from([cell.path for row in lay_out(tree, 10_000) for cell in row]))
    callers_and_call = lay_out(tree, width, zoom)[: len(zoom) + 1]
    assert [row[0].path for row in callers_and_call] == [zoom[:depth] for depth in range(len(zoom) + 1)]
    assert all(len(row) == 1 and row[0].width == width for row in callers_and_call)


def test_places() -> None:
    rows = lay_out(TREE, 12)
    assert [[(cell.left, cell.right) for cell in row] for row in rows] == [
        [(0, 12)], [(0, 9), (9, 12)], [(0, 6), (6, 9)]
    ]  # fmt: skip
    zoomed = lay_out(TREE, 12, (A, C))
    assert [[cell.node.frame.name for cell in row] for row in zoomed] == [[""], ["a"], ["c"]]
    assert len(lay_out(TREE, 12, rows=1)) == 2


def test_a_call_that_is_gone_is_not_zoomed() -> None:
    assert existing(TREE, (A, D, B)) == (A,)
    assert node_at(TREE, (A, C)).total_weight == 3
    assert lay_out(TREE, 12, (D, A))[1][0].path == (D,)
    assert lay_out(call_tree(Profile()), 12, (A,)) == [lay_out(call_tree(Profile()), 12)[0]]


def test_moves() -> None:
    rows = lay_out(TREE, 12)
    assert (below(rows, ()), below(rows, (A,)), below(rows, (A, B))) == ((A,), (A, B), (A, B))
    assert (next_to(rows, (A,), 1), next_to(rows, (A,), -1)) == ((D,), (A,))
    assert next_to(rows, (A, B), 1) == (A, C)
