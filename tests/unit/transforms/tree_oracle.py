"""Call trees the plain way, node by node: what the quick way must give."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from profkit.model.profile import Frame, Node, Profile

_Path = tuple[tuple[str, str], ...]


def plain_tree(profile: Profile) -> Node:
    """A node for each beginning of a stack, as functions."""
    own: Counter[_Path] = Counter()
    lines: dict[_Path, Counter[int]] = {(): Counter()}
    for sample in profile.samples:
        path: _Path = ()
        for number in profile.stacks[sample.stack]:
            frame = profile.frames[number]
            path = (*path, (frame.name, frame.file))
            lines.setdefault(path, Counter())[frame.line] += sample.weight
        own[path] += sample.weight
    children: dict[_Path | None, list[Node]] = {}
    for path in sorted(lines, key=len, reverse=True):
        below = sorted(children.pop(path, []), key=_heaviest_first)
        total = own[path] + sum(child.total_weight for child in below)
        function = path[-1] if path else ("", "")
        line = min(lines[path], key=lambda n: (-lines[path][n], n), default=0)
        node = Node(Frame(*function, line), own[path], total, tuple(below))
        children.setdefault(path[:-1] if path else None, []).append(node)
    (root,) = children[None]
    return root


def plainly_folded(root: Node, is_library: Callable[[str], bool]) -> Node:
    """A tree with each connected group of library nodes as one, where every function has one line."""
    return _merged(root.frame, [root], is_library)


def _merged(frame: Frame, parts: list[Node], is_library: Callable[[str], bool]) -> Node:
    """One node of several, and of what they reach through library nodes if they are a library's."""
    own = 0
    below: dict[Frame, list[Node]] = {}
    pending = list(parts)
    while pending:
        node = pending.pop()
        own += node.self_weight
        for child in node.children:
            if frame.name and is_library(frame.file) and is_library(child.frame.file):
                pending.append(child)
            else:
                below.setdefault(child.frame, []).append(child)
    children = sorted((_merged(*group, is_library) for group in below.items()), key=_heaviest_first)
    return Node(frame, own, own + sum(child.total_weight for child in children), tuple(children))


def _heaviest_first(node: Node) -> tuple[int, str, str]:
    return -node.total_weight, node.frame.name, node.frame.file
