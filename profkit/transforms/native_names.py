"""Machine code without symbols: samplers name it by its address, which says nothing to a reader.

Its frames become one function per library, `[libz.so]`; of several on top of each other one is kept.
"""

from __future__ import annotations

import posixpath
import re
from itertools import groupby

from profkit.model.frame import Frame
from profkit.model.profile import Profile, ProfileBuilder
from profkit.transforms.reindex import build_like

_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
_VERSION = re.compile(r"\.so(?:\.\d+)*$")
_NO_LIBRARY = "[native code]"


def fold_addresses(profile: Profile, *, stated: bool = False) -> Profile:
    """Return the profile in which no function is named by an address; the same one if there is none.

    A profile with stated totals stays as it is, since there are none of whole libraries. With `stated`, it is
    folded as well, and only the other functions keep their totals.
    """
    if profile.totals and not stated:
        return profile
    # Profiles can have millions of frames, and few have addresses.
    suspects = [number for number, (name, _, _) in enumerate(profile.frames) if name[:2] == "0x"]
    named = {n: _library(profile.frames[n]) for n in suspects if _is_address(profile.frames[n])}
    if not named:
        return profile
    builder = ProfileBuilder()
    numbers = [builder.frame(named.get(number, frame)) for number, frame in enumerate(profile.frames)]
    folded = {numbers[number] for number in named}
    threads = [builder.thread(thread) for thread in profile.threads]
    stacks = [_folded([numbers[frame] for frame in stack], folded) for stack in profile.stacks]
    for stack, thread, weight in profile.samples:
        builder.add_indexed(stacks[stack], threads[thread], weight)
    totals = {
        frame: total
        for number, (frame, total) in enumerate(zip(profile.frames, profile.totals, strict=False))
        if total is not None and number not in named
    }
    return build_like(profile, builder, totals)


def _is_address(frame: Frame) -> bool:
    return not frame.line and _ADDRESS.fullmatch(frame.name) is not None


def _library(frame: Frame) -> Frame:
    """Return the function that represents all code of the library without symbols."""
    base = posixpath.basename(frame.file.rstrip("/"))
    return Frame(f"[{_VERSION.sub('.so', base)}]" if base else _NO_LIBRARY, frame.file)


def _folded(stack: list[int], folded: set[int]) -> tuple[int, ...]:
    """The stack in which neighbours that are the same library are one."""
    if folded.isdisjoint(stack):
        return tuple(stack)
    kept: list[int] = []
    for frame, times in groupby(stack):
        kept += [frame] if frame in folded else list(times)
    return tuple(kept)
