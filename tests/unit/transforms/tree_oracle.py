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


def plainly_folded(profile: Profile, is_library: Callable[[str], bool]) -> list[list[Frame]]:
    """Each stack without library frames whose caller is of the same package, except heavy ends."""
    ends: Counter[tuple[object, ...]] = Counter()
    stacks = []
    for number, stack in enumerate(profile.stacks):
        frames = [profile.frames[frame] for frame in stack]
        kept: list[Frame] = []
        for place, frame in enumerate(frames):
            caller = frames[place - 1].file if place else ""
            if not is_library(frame.file) or not is_library(caller) or caller != frame.file:
                kept.append(frame)
        end = (*((frame.name, frame.file) for frame in kept), frames[-1].name) if frames else ()
        ends[end] += sum(sample.weight for sample in profile.samples if sample.stack == number)
        stacks.append((kept, frames, end))
    return [
        [*kept, frames[-1]]
        if kept and kept[-1].name != frames[-1].name and ends[end] >= 0.05 * profile.total_weight
        else kept
        for kept, frames, end in stacks
    ]


def _heaviest_first(node: Node) -> tuple[int, str, str]:
    return -node.total_weight, node.frame.name, node.frame.file
