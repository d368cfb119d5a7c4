"""The tree of pyinstrument's JSON: each frame with its time and its children."""

from __future__ import annotations

from collections.abc import Mapping

from profkit.formats.json_members import member, optional, scaled
from profkit.formats.limits import BoundedBuilder
from profkit.model.profile import Frame, Profile, Thread
from profkit.units import Unit

_SELF = "[self]"
"""A child that stands for time in its parent itself."""


def profile_of_tree(document: Mapping[str, object], builder: BoundedBuilder) -> Profile:
    """A stack for each frame with time of its own, unordered; raises ValueError.

    A frame's own time is what its children do not have. Times are rounded to microseconds each, so where
    children have more than their parent the children count.
    """
    thread = builder.thread(Thread(0, 0, ""))
    root = document["root_frame"]
    pending: list[tuple[object, tuple[int, ...]]] = [] if root is None else [(root, ())]
    while pending:
        node, callers = pending.pop()
        children = member(node, "a frame", "children", list)
        own_ns = _time_ns(node) - sum(map(_time_ns, children))
        name = member(node, "a frame", "function", str)
        builder.budget.check_depth(len(callers))
        stack = callers if name == _SELF else (*callers, builder.frame(_frame(name, node)))
        if own_ns > 0:
            builder.add_indexed(stack, thread, own_ns)
        pending.extend((child, stack) for child in reversed(children))
    return builder.build(unit=Unit.NANOSECONDS, ordered=False)


def _frame(name: str, node: object) -> Frame:
    class_name = optional(node, "a frame", "class_name", "")
    file = optional(node, "a frame", "file_path", "")
    line = max(0, optional(node, "a frame", "line_no", 0))
    return Frame(f"{class_name}.{name}" if class_name else name, "" if file == "<built-in>" else file, line)


def _time_ns(node: object) -> int:
    if not isinstance(node, dict):
        raise ValueError("a frame is no JSON object")
    return scaled(node.get("time"), "a frame's time", 1e9)
