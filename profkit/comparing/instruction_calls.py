"""Through which calls B executes more, or less, than A: the difference of two call graphs as a tree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from profkit.model.comparison import CallDelta
from profkit.model.measurement import InstructionCounts
from profkit.model.profile import Frame, Node
from profkit.transforms.call_graphs import unfold_counts
from profkit.transforms.counts import is_allocator
from profkit.transforms.origin import standard_file
from profkit.transforms.trees import call_tree

_LEAST = 0.1
"""Of the largest difference: calls that differ by less are left out."""

_Key = Callable[[Frame], tuple[str, str]]


@dataclass(slots=True)
class _Call:
    frame: Frame
    a: int
    b: int
    children: list[_Call] = field(default_factory=list)

    @property
    def delta(self) -> int:
        return self.b - self.a


def call_deltas(a: InstructionCounts, b: InstructionCounts, *, standardized: bool) -> tuple[CallDelta, ...]:
    """The calls whose instructions differ, with all that they call and without memory allocators.

    Callers stand before callees, of siblings first what differs most. Where each of several calls has but the
    next one below it, and the same difference, the last one stands for all. Empty where no calls are known.
    """
    if not (a.calls and b.calls):
        return ()
    root = _joined(_tree(a), _tree(b), _standard if standardized else _exact)
    _prune(root)
    return tuple(_rows(root))


def _tree(counts: InstructionCounts) -> Node:
    functions = (
        replace(row, exclusive=0.0) if is_allocator(row.name, row.object) else row for row in counts.functions
    )
    return call_tree(unfold_counts(replace(counts, functions=tuple(functions))))


def _exact(frame: Frame) -> tuple[str, str]:
    return frame.name, frame.file


def _standard(frame: Frame) -> tuple[str, str]:
    return frame.name, standard_file(frame.file)


def _joined(a: Node, b: Node, key: _Key) -> _Call:
    """Both trees as one: calls of the same function below the same callers are one call."""
    root = _Call(a.frame, a.total_weight, b.total_weight)
    pending: list[tuple[_Call, Node | None, Node | None]] = [(root, a, b)]
    while pending:
        call, *sides = pending.pop()
        left, right = (
            {key(child.frame): child for child in (side.children if side else ())} for side in sides
        )
        for name in dict.fromkeys((*left, *right)):
            of_a, of_b = left.get(name), right.get(name)
            frame = (of_b or of_a or a).frame
            child = _Call(frame, of_a.total_weight if of_a else 0, of_b.total_weight if of_b else 0)
            call.children.append(child)
            pending.append((child, of_a, of_b))
    return root


def _prune(root: _Call) -> None:
    """Leave what differs enough, and the way to it."""
    order, pending = list[_Call](), [root]
    while pending:
        order.append(call := pending.pop())
        pending += call.children
    least = max(1.0, _LEAST * max(abs(call.delta) for call in order))
    for call in reversed(order):
        kept = [child for child in call.children if child.children or abs(child.delta) >= least]
        call.children = sorted(kept, key=lambda child: (-abs(child.delta), child.frame))


def _rows(root: _Call) -> Sequence[CallDelta]:
    rows = list[CallDelta]()
    pending = [(child, 0, number == 0) for number, child in enumerate(reversed(root.children))]
    while pending:
        call, depth, last = pending.pop()
        through = 0
        while len(call.children) == 1 and abs(call.delta - call.children[0].delta) < _LEAST * abs(call.delta):
            call, through = call.children[0], through + 1
        rows.append(CallDelta(call.frame.name, call.frame.file, depth, last, call.a, call.b, through))
        pending += [(child, depth + 1, number == 0) for number, child in enumerate(reversed(call.children))]
    return rows
