"""Runs of tracked memory: one for each region of a session, from the captures of its calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from profkit.errors import DamagedFile
from profkit.model.profile import Profile, Value
from profkit.model.region import Region
from profkit.model.run import Memory
from profkit.model.session import Capture, Cover
from profkit.samplers.memray.captures import (
    VALUES,
    CaptureContent,
    CaptureFolder,
    read_captures,
    unnamed_captures,
)
from profkit.transforms.attribution import cut_regions
from profkit.transforms.combine import merge_profiles
from profkit.transforms.origin import OWN_CODE
from profkit.transforms.simplify import keep_leaf_end
from profkit.transforms.values import join_values


def read_memory(
    folder: CaptureFolder, regions: Sequence[Region], captures: Sequence[Capture], *, live: bool
) -> tuple[dict[str, tuple[Memory, Profile]], tuple[DamagedFile, ...]]:
    """Return the memory of each region with readable captures, by id, and the damage of the others.

    It has the figures, and a profile: peaks at the largest one of a call, other values of all calls together.

    The capture of a call that goes on is left out if the session is live. Raises TrackerMissing.
    """
    wanted = [capture for capture in captures if capture.ended or not live]
    contents = read_captures(folder, wanted)
    known = {region.id: region for region in regions}
    calls: dict[str, list[CaptureContent]] = {}
    for capture, content in zip(wanted, contents, strict=True):
        if isinstance(content, CaptureContent) and capture.region in known:
            calls.setdefault(capture.region, []).append(_call(content, known[capture.region]))
    damaged = [content for content in contents if isinstance(content, DamagedFile)]
    damaged += () if live else unnamed_captures(folder, captures)
    return {region: _joined(found) for region, found in calls.items()}, tuple(damaged)


def _call(content: CaptureContent, region: Region) -> CaptureContent:
    """Return the allocations of one call, without profkit's own."""
    covers = (Cover(region.id, None),)
    programs = {value: _without_own_work(profile, region) for value, profile in content.profiles.items()}
    cut = {
        value: cut_regions(profile, (region,), covers, may_tear=False)[region.id].profile
        for value, profile in programs.items()
    }
    profiles = {value: keep_leaf_end(profile, region.stack_max_len) for value, profile in cut.items()}
    return replace(content, profiles=profiles)


def _without_own_work(profile: Profile, region: Region) -> Profile:
    own = OWN_CODE.also_of(profile.frames, (region.marker,))
    is_own = [own.holds(frame.file) for frame in profile.frames]
    calling = [own.calls_for_program(frame.file) for frame in profile.frames]

    def is_own_work(stack: tuple[int, ...]) -> bool:
        last = next((frame for frame in reversed(stack) if is_own[frame]), None)
        return last is not None and (last == stack[-1] or not calling[last])

    dropped = {number for number, stack in enumerate(profile.stacks) if is_own_work(stack)}
    return replace(profile, samples=tuple(one for one in profile.samples if one.stack not in dropped))


def _joined(calls: Sequence[CaptureContent]) -> tuple[Memory, Profile]:
    weights = {value: [call.profiles[value].total_weight for call in calls] for value in VALUES}
    peaks = tuple(weights[Value.PEAK])
    memory = Memory(
        peaks_bytes=peaks,
        allocated_bytes=sum(weights[Value.ALLOCATED]),
        allocations=sum(weights[Value.ALLOCATIONS]),
        left_bytes=sum(weights[Value.LEFT]),
        python_allocators=any(call.python_allocators for call in calls),
    )
    return memory, join_values(list(_profiles(calls, calls[peaks.index(max(peaks))])))


def _profiles(calls: Sequence[CaptureContent], highest: CaptureContent) -> Iterator[tuple[Value, Profile]]:
    """Yield the profile of each value: of the peak that of the highest call, else that of all."""
    for value in VALUES:
        if value is Value.PEAK:
            yield value, highest.profiles[value]
        else:
            merged = merge_profiles(call.profiles[value] for call in calls)
            yield value, replace(merged, unit=value.unit)
