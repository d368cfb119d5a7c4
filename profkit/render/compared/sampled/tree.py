"""The difference of two flame graphs as rows of a tree: the calls that changed, and the way to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from profkit.model.comparison import SampledComparison
from profkit.model.profile import Frame, Node, Profile
from profkit.render.user_code import library_test
from profkit.transforms.simplify import fold_libraries
from profkit.transforms.trees import call_tree

_LEAST = 0.01
"""Calls whose share differs by less are left out, whatever their function does elsewhere."""


@dataclass(frozen=True, slots=True)
class DiffRow:
    """A call on both sides, parents before children; shares are with everything below."""

    name: str
    file: str
    line: int
    depth: int
    last: bool
    a: float
    b: float
    changed: bool
    """Its function changed, and so did this call."""
    through: int
    """Calls between it and the row above it that are left out, since each has but this one below."""

    @property
    def difference(self) -> float:
        """B's share less A's."""
        return self.b - self.a


@dataclass(slots=True)
class _Call:
    frame: Frame
    a: float
    b: float
    changed: bool
    children: list[_Call]


def diff_rows(comparison: SampledComparison, *, show_all: bool, most: int | None) -> tuple[DiffRow, ...]:
    """The calls that changed and their callers, at most so many changed ones, those that differ most.

    Library calls are folded unless all is to be shown. Nothing changed gives no rows.
    """
    changed = {(function.name, function.file) for function in comparison.changed}
    if not changed:
        return ()
    root = _joined(*_trees(comparison, show_all), changed)
    found = sorted(_differences(root), reverse=True)
    least = found[most - 1] if most is not None and len(found) > most else 0.0
    _cut(root, least)
    return _rows(root)


def _trees(comparison: SampledComparison, show_all: bool) -> tuple[Node, Node]:
    is_library = library_test(comparison.a.runs[0].region.file, comparison.both.frames)
    both = comparison.both if show_all else fold_libraries(comparison.both, is_library)
    return call_tree(_side(both, 0)), call_tree(_side(both, 1))


def _side(both: Profile, thread: int) -> Profile:
    return replace(both, samples=tuple(sample for sample in both.samples if sample.thread == thread))


def _joined(a: Node, b: Node, changed: set[tuple[str, str]]) -> _Call:
    """Both trees as one; calls of the same function below the same callers are one call."""
    totals = a.total_weight or 1, b.total_weight or 1
    root = _Call(a.frame, 1.0, 1.0, False, [])
    pending: list[tuple[_Call, Node | None, Node | None]] = [(root, a, b)]
    while pending:
        call, of_a, of_b = pending.pop()
        left, right = _children(of_a), _children(of_b)
        for key in dict.fromkeys((*left, *right)):
            child = _call(left.get(key), right.get(key), totals, key in changed)
            call.children.append(child)
            pending.append((child, left.get(key), right.get(key)))
    return root


def _children(node: Node | None) -> Mapping[tuple[str, str], Node]:
    return {} if node is None else {(child.frame.name, child.frame.file): child for child in node.children}


def _call(a: Node | None, b: Node | None, totals: tuple[int, int], changed: bool) -> _Call:
    of_a, of_b = (
        0.0 if node is None else node.total_weight / total for node, total in zip((a, b), totals, strict=True)
    )
    frame = next(node.frame for node in (a, b) if node is not None)
    return _Call(frame, of_a, of_b, changed and abs(of_b - of_a) >= _LEAST, [])


def _differences(root: _Call) -> list[float]:
    found, pending = [], [root]
    while pending:
        call = pending.pop()
        found += [abs(call.b - call.a)] if call.changed else []
        pending += call.children
    return found


def _cut(root: _Call, least: float) -> None:
    """Leave only what changed by at least so much, and the way to it."""
    order, pending = [], [root]
    while pending:
        order.append(call := pending.pop())
        call.changed = call.changed and abs(call.b - call.a) >= least
        pending += call.children
    for call in reversed(order):
        kept = [child for child in call.children if child.changed or child.children]
        call.children = sorted(kept, key=lambda child: (-abs(child.b - child.a), child.frame))


def _rows(root: _Call) -> tuple[DiffRow, ...]:
    rows = []
    pending = [(child, 0, number == 0) for number, child in enumerate(reversed(root.children))]
    while pending:
        call, depth, last = pending.pop()
        through = 0
        while not call.changed and len(call.children) == 1 and depth:
            call, through = call.children[0], through + 1
        frame = call.frame
        rows.append(DiffRow(*frame, depth, last, call.a, call.b, call.changed, through))
        pending += [(child, depth + 1, number == 0) for number, child in enumerate(reversed(call.children))]
    return tuple(rows)
