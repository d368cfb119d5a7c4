"""CPU profiles of V8: `.cpuprofile` files of Chrome and `node --cpu-prof`.

The type Profile of the Chrome DevTools Protocol, https://chromedevtools.github.io/devtools-protocol/v8/Profiler:
a tree of `nodes`, and for each sample the id of its node and the microseconds since the previous one. A
sample counts for the time until the next one. Lines are where functions begin.

The packages v8-profiler-node8 and v8-profiler-next write an older form: a tree of nodes, `head`, and for each
sample its `timestamps` in microseconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from pathlib import Path

from profkit.errors import DamagedFile
from profkit.formats.json_members import member, optional, read_json, scaled, whole
from profkit.formats.limits import BoundedBuilder, Budget, NodeStacks, unlimited
from profkit.formats.registry import Origin
from profkit.model.profile import Frame, Profile, Thread
from profkit.units import Unit

_ROOT = "(root)"
_NAMELESS = "(anonymous)"
_HEAD = 1 << 20


def decode(data: bytes, source: Path = Path("CPU profile"), budget: Budget | None = None) -> Profile:
    """Return the samples in nanoseconds, in order; raises DamagedFile, naming `source`.

    A file without samples has an unordered stack for each node that was hit, in samples.
    """
    builder = BoundedBuilder(budget or unlimited())
    try:
        document = read_json(data, budget)
        if isinstance(document, dict) and "head" in document:
            document = _renewed(document)
        nodes = Nodes(builder)
        nodes.add(member(document, "the file", "nodes", list))
        thread = builder.thread(Thread(0, 0, ""))
        samples: list[object] = optional(document, "the file", "samples", [])
        if not samples:
            for node, hits in nodes.hits.items():
                builder.add_fitted(nodes.stack(node), thread, hits)
            return builder.build(ordered=False)
        for node, time_ns in zip(samples, times_ns(document, len(samples)), strict=True):
            if time_ns:
                builder.add_fitted(nodes.stack(node), thread, time_ns)
        return builder.build(unit=Unit.NANOSECONDS)
    except (ValueError, ArithmeticError) as error:
        raise DamagedFile(source, str(error)) from error


def sniff(data: bytes) -> bool:
    """Return whether content has nodes with call frames, or is of the older form."""
    head = data[:_HEAD]
    if data.lstrip()[:1] != b"{":
        return False
    if b'"nodes"' in head and b'"callFrame"' in head:
        return True
    return b'"head"' in head and b'"hitCount"' in head and b'"functionName"' in head


def origin_of(data: bytes) -> Origin:
    """Return the origin: V8, whose times do not begin at a known moment."""
    return Origin("V8")


def _renewed(document: Mapping[str, object]) -> Mapping[str, object]:
    """Return a document of the older form in today's; raises ValueError."""
    nodes: list[object] = []
    left: list[object] = [member(document, "the file", "head", dict)]
    while left:
        node = left.pop()
        children: list[object] = optional(node, "a node", "children", [])
        number = member(node, "a node", "id", int)
        hits = optional(node, "a node", "hitCount", 0)
        called = [member(child, "a node", "id", int) for child in children]
        nodes.append({"id": number, "callFrame": node, "children": called, "hitCount": hits})
        left += children
    samples: list[object] = optional(document, "the file", "samples", [])
    return {"nodes": nodes, "samples": samples, **_times_renewed(document, len(samples))}


def _times_renewed(document: Mapping[str, object], samples: int) -> Mapping[str, object]:
    """Return the times of the older form in today's.

    Its start and end are whole seconds, too coarse for samples. One more time than samples is the end.
    """
    listed: list[object] = optional(document, "the file", "timestamps", [])
    times = [scaled(at, f"timestamps[{place}]", 1) for place, at in enumerate(listed)]
    deltas = [later - earlier for earlier, later in pairwise([*times[:1], *times])]
    if len(times) != samples + 1:
        return {"timeDeltas": deltas}
    return {"timeDeltas": deltas[:-1], "startTime": times[0], "endTime": times[-1]}


class Nodes:
    """Call tree of a profile, as nodes that have ids."""

    def __init__(self, builder: BoundedBuilder) -> None:
        self._builder = builder
        self._frames: dict[object, int | None] = {}
        self._callers: dict[object, object] = {}
        self._stacks = NodeStacks(builder, self._frames, self._callers, self._frames.__getitem__)
        self.hits: dict[object, int] = {}
        """Samples in which a node was the innermost, for files without a list of samples."""

    def add(self, listed: Sequence[object]) -> None:
        """Add nodes, which name their children or their parent; raises ValueError."""
        for place, node in enumerate(listed):
            where = f"nodes[{place}]"
            number = member(node, where, "id", int)
            self._frames[number] = self._frame(member(node, where, "callFrame", dict), f"{where}.callFrame")
            children: list[object] = optional(node, where, "children", [])
            self._callers.update(dict.fromkeys(children, number))
            parent = optional(node, where, "parent", -1)
            if parent >= 0:
                self._callers[number] = parent
            if hits := optional(node, where, "hitCount", 0):
                self.hits[number] = hits

    def stack(self, leaf: object) -> tuple[int, ...]:
        """Return the frames from the root to a node; raises ValueError for one that does not exist."""
        return self._stacks.stack(leaf, "a sample")

    def _frame(self, called: Mapping[str, object], where: str) -> int | None:
        name = optional(called, where, "functionName", "")
        if name == _ROOT:
            return None
        line = whole(called.get("lineNumber"), f"{where}.lineNumber")  # from 0; -1 for V8's own code
        file = optional(called, where, "url", "")
        return self._builder.frame(Frame(name or _NAMELESS, file, max(0, line + 1)))


def times_ns(document: object, samples: int) -> list[int]:
    """Return the time of each sample: until the next one, or until the end for the last; raises ValueError.

    Clocks of processors can differ, so that a time is negative. Such a sample counts for nothing, and the
    next ones only from the moment on that the clock had reached before.
    """
    deltas = member(document, "the file", "timeDeltas", list)
    if len(deltas) != samples:
        raise ValueError(f"the file has {samples} samples and {len(deltas)} times")
    times = [scaled(delta, f"timeDeltas[{place}]", 1000) for place, delta in enumerate(deltas)]
    start, end = (optional(document, "the file", key, 0) for key in ("startTime", "endTime"))
    last = 1000 * (end - start) - sum(times) if end else 0
    reached = list(accumulate(accumulate((*times[1:], last)), max, initial=0))
    return [later - earlier for earlier, later in pairwise(reached)]
