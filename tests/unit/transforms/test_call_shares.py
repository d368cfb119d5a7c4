"""Shares of calls on two sides are those of the call trees of both sides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from profkit.model.profile import Node, Profile
from profkit.transforms.call_shares import SharedCall, shared_calls
from profkit.transforms.combine import side_by_side
from profkit.transforms.simplify import fold_libraries
from profkit.transforms.trees import call_tree
from tests.support.profile_strategies import LIBRARY, profiles

_Key = tuple[str, str]


def trees(both: Profile) -> list[Node]:
    """The call tree of each side."""
    return [
        call_tree(replace(both, samples=tuple(one for one in both.samples if one.thread == side), starts=()))
        for side in (0, 1)
    ]


def by_function(node: Node | None) -> dict[_Key, Node]:
    return {} if node is None else {child.frame[:2]: child for child in node.children}


def share(node: Node | None, root: Node) -> float:
    return 0.0 if node is None else node.total_weight / (root.total_weight or 1)


def check_equal(found: SharedCall, both: Profile, least: float) -> None:
    """Fail unless calls, shares and lines are those of both trees, without small calls."""
    roots = trees(both)
    pending: list[tuple[SharedCall, list[Node | None]]] = [(found, [*roots])]
    while pending:
        call, nodes = pending.pop()
        of_a, of_b = map(by_function, nodes)
        expected = {
            key: (share(of_a.get(key), roots[0]), share(of_b.get(key), roots[1])) for key in {**of_a, **of_b}
        }
        large = {key: shares for key, shares in expected.items() if not least or max(shares) >= least}
        assert {child.frame[:2]: (child.a, child.b) for child in call.children} == large
        for child in call.children:
            below = [of_a.get(child.frame[:2]), of_b.get(child.frame[:2])]
            assert child.frame == next(node.frame for node in below if node is not None)
            pending.append((child, below))


libraries: st.SearchStrategy[Callable[[str], bool] | None] = st.sampled_from(
    [None, LIBRARY.__eq__, lambda _: True]
)


@settings(max_examples=150)
@given(profiles(), profiles(), st.sampled_from([0.0, 0.01, 0.3]), libraries)
def test_calls_are_those_of_both_trees(
    a: Profile, b: Profile, least: float, is_library: Callable[[str], bool] | None
) -> None:
    both = side_by_side([a], [b])
    folded = both if is_library is None else fold_libraries(both, is_library)
    check_equal(shared_calls(both, least, is_library), folded, least)
