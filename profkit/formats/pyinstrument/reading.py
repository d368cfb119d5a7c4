"""Which of pyinstrument's two documents a file is, and what both say alike."""

from __future__ import annotations

import re
from pathlib import Path

from profkit.errors import DamagedFile
from profkit.formats.json_members import member, read_json
from profkit.formats.limits import BoundedBuilder, Budget, unlimited
from profkit.formats.pyinstrument.records import profile_of_records
from profkit.formats.pyinstrument.tree import profile_of_tree
from profkit.formats.registry import Origin
from profkit.model.profile import Profile

_HEAD = re.compile(rb'\s*\{\s*"start_time"\s*:\s*([0-9.eE+-]{1,40})\s*,\s*"duration"\s*:')
_IN_TREE = b'"root_frame"'
_HEAD_BYTES = 1 << 14
_TREE_NOTE = (
    "pyinstrument's JSON is a tree of what its reports show: short calls are left out of it, and lines are "
    "those where functions begin; a saved session (-o FILE.pyisession) has all samples"
)


def decode(data: bytes, source: Path = Path("pyinstrument JSON"), budget: Budget | None = None) -> Profile:
    """The profile in nanoseconds; raises DamagedFile, naming `source`."""
    try:
        builder = BoundedBuilder(budget or unlimited())
        document = read_json(data, budget)
        if isinstance(document, dict) and "root_frame" in document:
            return profile_of_tree(document, builder)
        start = member(document, "the file", "start_call_stack", list)
        return profile_of_records(member(document, "the file", "frame_records", list), start, builder)
    except (ValueError, OverflowError) as error:
        raise DamagedFile(source, str(error)) from error


def sniff(data: bytes) -> bool:
    """Whether a content begins with when and how long, as both documents do."""
    return _HEAD.match(data) is not None


def origin_of(data: bytes) -> Origin:
    """When the session began, and what the shorter document lacks."""
    head = _HEAD.match(data)
    notes = (_TREE_NOTE,) if _IN_TREE in data[:_HEAD_BYTES] else ()
    try:
        return Origin("pyinstrument", round(float(head[1]) * 1e9) if head else None, notes)
    except (ValueError, OverflowError):
        return Origin("pyinstrument", notes=notes)
