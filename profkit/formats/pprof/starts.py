"""Starts of the samples of a pprof file, in a comment: the format has no time of a sample.

The comment has the gaps before samples, compressed and in base64. It is short: most samples of a thread
follow the one before.
"""

from __future__ import annotations

import base64
import sys
import zlib
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import replace

from profkit.model.profile import Profile

_HEAD = "#profkit.starts/1 "
_INT64 = "q"
_GAP_BYTES = 8


def starts_comment(profile: Profile) -> str | None:
    """Return the comment for a profile; None if its starts are not known, or need more than 64 bits."""
    if not profile.starts:
        return None
    try:
        gaps = array(_INT64, _gaps(profile))
    except OverflowError:
        return None
    if sys.byteorder == "big":
        gaps.byteswap()
    return f"{_HEAD}{base64.b64encode(zlib.compress(gaps.tobytes())).decode('ascii')}"


def _gaps(profile: Profile) -> Iterator[int]:
    ends: dict[int, int] = {}
    for (_, thread, weight), start in zip(profile.samples, profile.starts, strict=True):
        yield start - ends.get(thread, 0)
        ends[thread] = start + weight


def with_starts(profile: Profile, comments: Iterable[str]) -> Profile:
    """Return the profile with the starts that a comment has for its samples; unchanged if none has.

    A program that filters a profile may keep a comment that it does not know. Raises ValueError and
    zlib.error for a damaged comment.
    """
    comment = next((one for one in comments if one.startswith(_HEAD)), None)
    if comment is None or not profile.ordered:
        return profile
    packed = base64.b64decode(comment[len(_HEAD) :], validate=True)
    size = _GAP_BYTES * len(profile.samples)
    unpacker = zlib.decompressobj()
    data = unpacker.decompress(packed, size + 1)
    if len(data) != size or not unpacker.eof:
        return profile
    starts = _starts(profile, data)
    return profile if min(starts, default=0) < 0 else replace(profile, starts=starts)


def _starts(profile: Profile, data: bytes) -> tuple[int, ...]:
    gaps = array(_INT64)
    gaps.frombytes(data)
    if sys.byteorder == "big":
        gaps.byteswap()
    ends: dict[int, int] = {}
    starts = []
    for (_, thread, weight), gap in zip(profile.samples, gaps, strict=True):
        start = ends.get(thread, 0) + gap
        starts.append(start)
        ends[thread] = start + weight
    return tuple(starts)
