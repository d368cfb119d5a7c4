"""Layout of a call tree as a flame graph in cells: which calls have room; calls beside or below. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from profkit.model.profile import Node

Path = tuple[tuple[str, str], ...]
"""Functions (name and file) from the root to a call, without the root itself."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A call in the graph: columns from `left` to `right`, which is excluded."""

    path: Path
    node: Node
    left: int
    right: int

    @property
    def width(self) -> int:
        """Number of columns."""
        return self.right - self.left


def child_of(node: Node, key: tuple[str, str]) -> Node | None:
    """Return the call of a function by a node; None if there is none."""
    return next((child for child in node.children if child.frame[:2] == key), None)


def existing(root: Node, path: Path) -> Path:
    """Return the longest beginning of a path that the tree has."""
    node = root
    for depth, key in enumerate(path):
        child = child_of(node, key)
        if child is None:
            return path[:depth]
        node = child
    return path


def node_at(root: Node, path: Path) -> Node:
    """Return the call at a path that exists."""
    node = root
    for key in path:
        child = child_of(node, key)
        if child is None:
            raise KeyError(key)
        node = child
    return node


def lay_out(root: Node, width: int, zoom: Path = (), rows: int = 200) -> list[list[Cell]]:
    """Return the cells of each row; the zoomed call and its callers are as wide as the graph.

    A call that is narrower than a cell is left out. There are at most so many rows below the zoomed call.
    """
    zoom = existing(root, zoom)
    found: list[list[Cell]] = []
    node = root
    for depth in range(len(zoom) + 1):
        node = node_at(root, zoom[:depth])
        found.append([Cell(zoom[:depth], node, 0, width)])
    if width < 1 or not node.total_weight:
        return found
    row = found[-1]
    while row and len(found) <= len(zoom) + rows:
        row = [cell for parent in row for cell in _callees(parent)]
        if row:
            found.append(row)
    return found


def _callees(parent: Cell) -> list[Cell]:
    """Return the cells below a call: edges are rounded from exact places, so that no error adds up."""
    scale = parent.width / parent.node.total_weight
    before, cells = 0, []
    for child in parent.node.children:
        left = parent.left + round(before * scale)
        before += child.total_weight
        right = parent.left + round(before * scale)
        if right > left:
            cells.append(Cell((*parent.path, child.frame[:2]), child, left, right))
    return cells


def next_to(rows: Sequence[Sequence[Cell]], path: Path, step: int) -> Path:
    """Return the call beside a call in its row, `step` cells to the right; the same if there is none."""
    row = next((row for row in rows if any(cell.path == path for cell in row)), ())
    place = next((place for place, cell in enumerate(row) if cell.path == path), 0) + step
    return row[place].path if 0 <= place < len(row) else path


def below(rows: Sequence[Sequence[Cell]], path: Path) -> Path:
    """Return the widest call that a call makes; the same if it has none that is shown."""
    callees = [cell for row in rows for cell in row if len(cell.path) == len(path) + 1]
    of_path = [cell for cell in callees if cell.path[: len(path)] == path]
    return max(of_path, key=lambda cell: cell.width).path if of_path else path
