"""Sessions and trees of pyinstrument, as pyinstrument itself adds them up."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pyinstrument.session import Session

from benchmarks.formats.costs import Costs
from profkit.model.profile import Profile

_OWN = ("<thread>", "bin/pyinstrument", "pyinstrument/__main__.py")
"""Files of the frames below the profiler's start, which profkit leaves out."""


def read_pyinstrument(file: Path, profile: Profile) -> Costs:
    """Return self and total time in nanoseconds of the frames of the session or of the tree in a file."""
    document = json.loads(file.read_text("utf-8"))
    own: defaultdict[str, float] = defaultdict(float)
    total: defaultdict[str, float] = defaultdict(float)
    if "frame_records" in document:
        root = Session.load(file).root_frame(trim_stem=False)
        while root is not None and len(root.children) == 1 and str(root.file_path).endswith(_OWN):
            root = root.children[0]
        _add_frame(_as_tree(root), own, total, ())
    else:
        _add_frame(document["root_frame"], own, total, ())
    functions = {name: (own[name] * 1e9, total[name] * 1e9) for name in total}
    # Times of trees have six decimals of a second.
    return Costs("pyinstrument", sum(own.values()) * 1e9, functions, _last_name, least=1e4)


def _last_name(name: str, file: str) -> str:
    """Return the name without the class or function around it, which pyinstrument does not add."""
    return name.rpartition(".")[2]


def _as_tree(frame: Any) -> Mapping[str, Any]:  # noqa: ANN401, pyinstrument has no types
    children = [_as_tree(child) for child in frame.children]
    return {"function": frame.function, "time": frame.time, "children": children}


def _add_frame(
    frame: Mapping[str, Any], own: dict[str, float], total: dict[str, float], callers: tuple[str, ...]
) -> None:
    """Add a frame and those below; pyinstrument shows self time as a frame of its own, such as `[self]`."""
    name = _last_name(frame["function"], "")
    below = sum(child["time"] for child in frame["children"])
    if name.startswith("[") and callers:
        own[callers[-1]] += frame["time"]
        return
    own[name] += frame["time"] - below
    if name not in callers:
        total[name] += frame["time"]
    for child in frame["children"]:
        _add_frame(child, own, total, (*callers, name))
