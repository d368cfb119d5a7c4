"""JSON of a call tree, in pieces: a tree of millions of calls is never in memory as a whole."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache, partial

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
    text_of = cache(partial(_text, is_library))
    written: list[str] = []
    size, last = 0, -1
    pending = [(root, 0)]
    while pending:
        node, level = pending.pop()
        shown = _shown(node, least) if level < depth else []
        cut = 0 if level < depth else node.total_weight - node.self_weight
        before = "" if level > last else f"{']}' * (last - level + 1)}, "
        text = (
            f'{before}{{{text_of(node.frame)}, "self_samples": {node.self_weight}, '
            f'"total_samples": {node.total_weight}, "cut": {cut}, "children": ['
        )
        written.append(text)
        size += len(text)
        if size >= _PIECE:
            yield "".join(written)
            written.clear()
            size = 0
        last = level
        level += 1
        pending += [(child, level) for child in reversed(shown)]
    yield "".join([*written, "]}" * (last + 1)])


def _shown(node: Node, least: float) -> list[Node]:
    return [child for child in children_once(node) if child.total_weight >= least]


def _text(is_library: IsLibrary, frame: Frame) -> str:
    """Return the members `name`, `file`, `library` and `line` of a frame."""
    library = json.dumps(bool(frame.name) and is_library(frame.file))
    function = f'"name": {json.dumps(frame.name)}, "file": {json.dumps(frame.file)}'
    return f'{function}, "library": {library}, "line": {frame.line}'
