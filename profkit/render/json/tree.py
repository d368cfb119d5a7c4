"""JSON of a call tree, in pieces: a tree of millions of calls is never in memory as a whole."""

from __future__ import annotations

import json
from collections.abc import Iterator

from profkit.model.profile import Frame, Node
from profkit.render.views.sampled import IsLibrary
from profkit.transforms.trees import children_once

MAX_DEPTH = 200
"""Maximum number of levels of the tree: JSON readers recurse and fail at some depth."""
_PIECE = 1 << 16
"""Number of characters from which on a piece is yielded."""


def tree_parts(root: Node, is_library: IsLibrary, least: float, depth: int = MAX_DEPTH) -> Iterator[str]:
    """Yield the JSON of the calls with at least this weight, down to a depth, parents before children.

    Each call has the weights of its samples; `cut` is the weight of callees below the depth.
    """
    names = _Names(is_library)
    written: list[str] = []
    size = 0
    pending: list[tuple[Node | None, int, str]] = [(root, 0, "")]
    while pending:
        node, level, before = pending.pop()
        if node is None:
            text = before
        else:
            shown = _shown(node, least) if level < depth else []
            cut = 0 if level < depth else node.total_weight - node.self_weight
            text = (
                f'{before}{{{names.text(node.frame)}, "line": {node.frame.line}, '
                f'"self_samples": {node.self_weight}, "total_samples": {node.total_weight}, '
                f'"cut": {cut}, "children": ['
            )
            pending.append((None, level, "]}"))
            pending += [(child, level + 1, ", ") for child in reversed(shown[1:])]
            pending += [(child, level + 1, "") for child in shown[:1]]
        written.append(text)
        size += len(text)
        if size >= _PIECE:
            yield "".join(written)
            written.clear()
            size = 0
    yield "".join(written)


def _shown(node: Node, least: float) -> list[Node]:
    return [child for child in children_once(node) if child.total_weight >= least]


class _Names:
    """JSON of functions, each made once."""

    def __init__(self, is_library: IsLibrary) -> None:
        self._is_library = is_library
        self._texts: dict[tuple[str, str], str] = {}

    def text(self, frame: Frame) -> str:
        """Return the members `name`, `file` and `library` of a frame's function."""
        function = frame.name, frame.file
        known = self._texts.get(function)
        if known is None:
            library = json.dumps(bool(frame.name) and self._is_library(frame.file))
            known = self._texts[function] = (
                f'"name": {json.dumps(frame.name)}, "file": {json.dumps(frame.file)}, "library": {library}'
            )
        return known
