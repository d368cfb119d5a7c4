"""Stated totals of functions, in a comment that other tools keep and do not show.

`go tool pprof` shows the comments of a profile, but not those that begin with `#`. The comment has the
weight of the samples and a checksum of the frames: if another tool leaves out some of them, the totals are
no longer those of the profile, and are not read.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import replace

from profkit.model.profile import Profile

_HEAD = "#profkit.totals/1"
_NOT_STATED = "-"


def states_totals(data: bytes) -> bool:
    """Return whether a file that is not compressed has such a comment."""
    return f"{_HEAD} ".encode() in data


def totals_comment(profile: Profile) -> str:
    """Return the comment for a profile that states totals."""
    texts = (_NOT_STATED if total is None else str(total) for total in profile.totals)
    return " ".join((_beginning(profile), *texts))


def with_totals(profile: Profile, comments: Iterable[str]) -> Profile:
    """Return the profile with the totals that a comment states for it; as it is if none does.

    Raises ValueError for a comment that `totals_comment` does not write.
    """
    comment = next((one for one in comments if one.startswith(_HEAD)), None)
    if comment is None:
        return profile
    beginning = _beginning(profile)
    texts = comment[len(beginning) :].split()
    if not comment.startswith(f"{beginning} ") or len(texts) != len(profile.frames):
        return profile
    totals = tuple(None if text == _NOT_STATED else int(text) for text in texts)
    if any(total is not None and total < 0 for total in totals):
        raise ValueError("one of the totals that it states is negative")
    return replace(profile, totals=totals)


def _beginning(profile: Profile) -> str:
    frames = "".join(f"{name}\0{file}\0{line}\n" for name, file, line in profile.frames)
    checksum = zlib.crc32(frames.encode("utf-8", "surrogatepass"))
    return f"{_HEAD} {profile.total_weight} {checksum}"
