"""Parts of a run's JSON: its call tree, in pieces, and its trace of torch.profiler."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from functools import cache, partial

from profkit.model.profile import Frame, Node
from profkit.model.trace import Lane, Trace
from profkit.render.formatting import sparkline
from profkit.render.options import DEFAULTS, ReportOptions
from profkit.render.views.operators import device_sentence, sorted_operators, trace_sentence
from profkit.render.views.sampled import IsLibrary
from profkit.transforms.trees import children_once, straight_below

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
        text = "" if level > last else f"{']}' * (last - level + 1)}, "
        frames, end = straight_below(node)
        below = node.total_weight - node.self_weight
        if frames and below >= least and level + len(frames) <= depth:
            # Most calls of a large tree are its caller's only callee.
            text += _opening(text_of(node.frame), node.self_weight, node.total_weight)
            weights = _weights(0, below)
            text += "".join([f"{{{text_of(frame)}{weights}" for frame in frames[:-1]])
            node, level = end, level + len(frames)
            below = node.total_weight - node.self_weight
        shown = _shown(node, least) if level < depth else []
        cut = 0 if level < depth else below
        text += _opening(text_of(node.frame), node.self_weight, node.total_weight, cut)
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


def _opening(frame: str, own: int, total: int, cut: int = 0) -> str:
    return f"{{{frame}{_weights(own, total, cut)}"


def _weights(own: int, total: int, cut: int = 0) -> str:
    return f', "self_samples": {own}, "total_samples": {total}, "cut": {cut}, "children": ['


def _shown(node: Node, least: float) -> list[Node]:
    return [child for child in children_once(node) if child.total_weight >= least]


def _text(is_library: IsLibrary, frame: Frame) -> str:
    """Return the members `name`, `file`, `library` and `line` of a frame."""
    library = json.dumps(bool(frame.name) and is_library(frame.file))
    function = f'"name": {json.dumps(frame.name)}, "file": {json.dumps(frame.file)}'
    return f'{function}, "library": {library}, "line": {frame.line}'


_CELLS = 60


def trace_object(trace: Trace, options: ReportOptions = DEFAULTS) -> dict[str, object]:
    """Return all of a trace; times are in nanoseconds."""
    rows = sorted_operators(trace, options)[: options.limit]
    return {
        **dataclasses.asdict(trace),
        "operators": [dataclasses.asdict(row) for row in rows],
        "lanes": [_lane(lane) for lane in trace.lanes],
        "device_busy_share": trace.device_busy_share if trace.devices else None,
        "summary": [sentence for sentence in (trace_sentence(trace), device_sentence(trace)) if sentence],
    }


def _lane(lane: Lane) -> dict[str, object]:
    fields = dataclasses.asdict(lane)
    return {**fields, "drawn": sparkline(lane.busy, _CELLS)}
