"""Call trees: a profile's samples merged by caller, and library code folded away.

Nothing recurses: stacks are as deep as programs make them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from profkit.model.calltree import Node
from profkit.model.frame import Frame
from profkit.model.profile import Profile
from profkit.transforms.origin import is_library_file

_ROOT = 0


def call_tree(profile: Profile) -> Node:
    """The profile's call tree: one node per function (name and file) under each distinct caller.

    A node's line is the one with the most total weight there. Samples with an empty stack are the
    root's own weight.
    """
    prefixes = _prefixes(profile)
    totals = [prefix.own for prefix in prefixes]
    for number in range(len(prefixes) - 1, _ROOT, -1):
        totals[prefixes[number].parent] += totals[number]
    growth = _Growth()
    growth.add_self(_ROOT, prefixes[_ROOT].own)
    nodes = [_ROOT]
    for prefix, total in zip(prefixes[1:], totals[1:], strict=True):
        nodes.append(growth.under(nodes[prefix.parent], profile.frames[prefix.frame], total))
        growth.add_self(nodes[-1], prefix.own)
    return growth.finish()


@dataclass(slots=True)
class _Prefix:
    """The beginning of some stacks: one frame more than its parent, and the weight of what ends there."""

    parent: int
    frame: int
    own: int = 0


def _prefixes(profile: Profile) -> list[_Prefix]:
    """Every beginning of a stack once, the empty one first, parents before their children.

    A tree has far fewer of them than its stacks have frames; so everything else is done once for each.
    """
    weights: Counter[int] = Counter()
    for sample in profile.samples:
        weights[sample.stack] += sample.weight
    prefixes = [_Prefix(_ROOT, 0)]
    numbers: dict[tuple[int, int], int] = {}
    for stack, weight in weights.items():
        number = _ROOT
        for frame in profile.stacks[stack]:
            step = (number, frame)
            known = numbers.get(step)
            if known is None:
                known = numbers[step] = len(prefixes)
                prefixes.append(_Prefix(number, frame))
            number = known
        prefixes[number].own += weight
    return prefixes


def fold_frames(root: Node, is_library: Callable[[str], bool] = is_library_file) -> Node:
    """The tree with each connected group of library frames folded into one node.

    A group is what is reached from a user's frame, or from the root, through library frames alone. It
    bears the frame that was entered first and has the own weight of all its frames as its own. User
    code that any of them called stands directly under it, merged by function as everywhere in a
    tree. So a parent is a user's frame or a group, never two groups in a row, and every total is kept.
    `is_library` is asked about files.
    """
    growth = _Growth()
    growth.add_self(_ROOT, root.self_weight)
    pending = [(child, _ROOT, False) for child in reversed(root.children)]
    while pending:
        node, parent, in_group = pending.pop()
        library = is_library(node.frame.file)
        target = parent if library and in_group else growth.under(parent, node.frame, node.total_weight)
        growth.add_self(target, node.self_weight)
        pending.extend((child, target, library) for child in reversed(node.children))
    return growth.finish()


class _Growth:
    """A tree while it grows: nodes by number, parents before their children."""

    def __init__(self) -> None:
        self._parents = [_ROOT]
        self._functions = [("", "")]
        self._self_weights = [0]
        self._lines: list[dict[int, int]] = [{}]
        self._numbers: dict[tuple[int, str, str], int] = {}

    def under(self, parent: int, frame: Frame, weight: int) -> int:
        """The node of a frame's function under a parent; `weight` passes through it at the frame's line."""
        key = (parent, frame.name, frame.file)
        number = self._numbers.setdefault(key, len(self._parents))
        if number == len(self._parents):
            self._parents.append(parent)
            self._functions.append((frame.name, frame.file))
            self._self_weights.append(0)
            self._lines.append({})
        lines = self._lines[number]
        lines[frame.line] = lines.get(frame.line, 0) + weight
        return number

    def add_self(self, number: int, weight: int) -> None:
        """Weight of the node's own."""
        self._self_weights[number] += weight

    def finish(self) -> Node:
        """The tree, built from the leaves up."""
        children: dict[int, list[Node]] = {}
        for number in range(len(self._parents) - 1, _ROOT, -1):
            node = self._node(number, children.pop(number, []))
            children.setdefault(self._parents[number], []).append(node)
        return self._node(_ROOT, children.pop(_ROOT, []))

    def _node(self, number: int, children: list[Node]) -> Node:
        own = self._self_weights[number]
        return Node(
            frame=Frame(*self._functions[number], _heaviest(self._lines[number])),
            self_weight=own,
            total_weight=own + sum(child.total_weight for child in children),
            children=tuple(sorted(children, key=_heaviest_first)),
        )


def _heaviest(lines: Mapping[int, int]) -> int:
    """The line with the most weight, the first of several; 0 where there are none."""
    return min(lines, key=lambda line: (-lines[line], line), default=0)


def _heaviest_first(node: Node) -> tuple[int, str, str]:
    return -node.total_weight, node.frame.name, node.frame.file
