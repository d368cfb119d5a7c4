"""Files of which one part is something else are read or told, and nothing else is raised."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profkit.errors import DamagedFile
from profkit.formats import exact
from profkit.formats.registry import FORMATS
from profkit.model.profile import Profile
from tests.unit.exact_profiles import two_threads

VALUES = st.sampled_from(
    [None, True, -1, 0, 3, 99, 1.5, 1e999, "", "x", "7", [], [0], [[0]], {}, {"name": 3}]
)
SOURCE = Path("x.json")
NAMES = ("speedscope", "firefox", "chrome-trace")


def encoded(name: str) -> Any:
    encode = FORMATS[name].encode
    assert encode is not None
    return json.loads(encode(two_threads()))


def without_profkit(document: Any) -> Any:
    """As a tool writes it that knows only the format."""
    for holder in (document, document.get("meta", {}), document.get("otherData", {})):
        holder.pop(exact.MEMBER, None)
        holder.pop("exporter", None)
    return document


def evented() -> Any:
    document = without_profkit(encoded("speedscope"))
    events = [{"type": "O", "frame": 0, "at": 1}, {"type": "C", "frame": 0, "at": 2.5}]
    document["profiles"] = [
        {"type": "evented", "name": "t", "unit": "seconds", "startValue": 0, "endValue": 3, "events": events}
    ]
    return document


def samples() -> Any:
    return {
        "traceEvents": [],
        "stackFrames": {"1": {"name": "f"}, "2": {"name": "g", "parent": "1"}},
        "samples": [{"tid": 1, "ts": 1.5, "sf": 2, "weight": 1}, {"tid": 1, "ts": 2.5, "sf": "1"}],
    }


FILES = {
    **{name: (name, encoded(name)) for name in NAMES},
    **{f"other-{name}": (name, without_profkit(encoded(name))) for name in NAMES},
    "evented": ("speedscope", evented()),
    "samples": ("chrome-trace", samples()),
}


def change_one_part(draw: st.DrawFn, document: Any) -> Any:
    """The document with one value of any depth replaced or, in an object, left out."""
    if not isinstance(document, dict | list) or not document or draw(st.integers(0, 5)) == 0:
        return draw(VALUES)
    keys = sorted(document) if isinstance(document, dict) else range(len(document))
    key = draw(st.sampled_from(keys))
    changed = document.copy()
    if isinstance(changed, dict) and draw(st.integers(0, 9)) == 0:
        del changed[key]
    else:
        changed[key] = change_one_part(draw, document[key])
    return changed


@pytest.mark.parametrize("file", FILES)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_one_part_is_something_else(file: str, data: st.DataObject) -> None:
    name, document = FILES[file]
    changed = json.dumps(data.draw(st.composite(change_one_part)(document))).encode()
    known = FORMATS[name]
    assert known.decode is not None
    assert known.origin is not None
    known.sniff(changed)
    known.origin(changed)
    with suppress(DamagedFile):
        check_profile(known.decode(changed, SOURCE))


def check_profile(profile: Profile) -> None:
    """All indexes are in their tables."""
    for stack, thread, weight in profile.samples:
        assert 0 <= stack < len(profile.stacks)
        assert 0 <= thread < len(profile.threads)
        assert isinstance(weight, int)
    for frames in profile.stacks:
        assert all(0 <= frame < len(profile.frames) for frame in frames)
    assert all(isinstance(frame.line, int) and isinstance(frame.name, str) for frame in profile.frames)
    hash((profile.frames, profile.stacks, profile.threads))
