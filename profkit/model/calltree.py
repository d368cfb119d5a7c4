"""The call tree: each frame's place in it, with its own and its total weight."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from profkit.model.frame import Frame


@dataclass(frozen=True, slots=True)
class Node:
    """A frame's place in the call tree; children stand heaviest first, and may be found only when asked for.

    A function has one node under each distinct caller; `frame.line` is then the line that weighs
    most. The root's frame has an empty name.
    """

    frame: Frame
    self_weight: int
    total_weight: int
    children: Sequence[Node] = ()

    def walk(self) -> Iterator[tuple[int, Node]]:
        """Every node with its depth, parents before children, without recursion."""
        pending = [(0, self)]
        while pending:
            depth, node = pending.pop()
            yield depth, node
            pending.extend((depth + 1, child) for child in reversed(node.children))
