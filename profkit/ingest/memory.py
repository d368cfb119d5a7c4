"""Runs of tracked memory: one for each region of a session, from the captures of its calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

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


@dataclass(frozen=True, slots=True)
class RegionMemory:
    """Memory of a region's calls: the figures, and a profile of all values."""

    memory: Memory
    profile: Profile
    """At the largest peak of a call; other values are those of all calls together."""


def read_memory(
    folder: CaptureFolder, regions: Sequence[Region], captures: Sequence[Capture], *, live: bool
) -> tuple[dict[str, RegionMemory], tuple[DamagedFile, ...]]:
    """Return the memory of each region with readable captures, by id, and the damage of the others.

    The capture of a call that goes on is left out if the session is live. Raises TrackerMissing.
    """
    wanted = [capture for capture in captures if capture.ended or not live]
    contents = read_captures(folder, wanted)
    known = {region.id: region for region in regions}
    calls: dict[str, list[_Call]] = {}
    for capture, content in zip(wanted, contents, strict=True):
        if isinstance(content, CaptureContent) and capture.region in known:
            calls.setdefault(capture.region, []).append(_call(content, known[capture.region]))
    damaged = [content for content in contents if isinstance(content, DamagedFile)]
    damaged += () if live else unnamed_captures(folder, captures)
    return {region: _joined(found) for region, found in calls.items()}, tuple(damaged)


@dataclass(frozen=True, slots=True)
class _Call:
    profiles: Mapping[Value, Profile]
    python_allocators: bool

    def total(self, value: Value) -> int:
        return self.profiles[value].total_weight


def _call(content: CaptureContent, region: Region) -> _Call:
    covers = (Cover(region.id, None),)
    programs = {value: _without_own_work(profile, region) for value, profile in content.profiles.items()}
    cut = {
        value: cut_regions(profile, (region,), covers, may_tear=False)[region.id].profile
        for value, profile in programs.items()
    }
    profiles = {value: keep_leaf_end(profile, region.stack_max_len) for value, profile in cut.items()}
    return _Call(profiles, content.python_allocators)


def _without_own_work(profile: Profile, region: Region) -> Profile:
    own = OWN_CODE.also_of(profile.frames, (region.marker,))
    held = [own.holds(frame.file) for frame in profile.frames]
    calling = [own.calls_for_program(frame.file) for frame in profile.frames]

    def is_own_work(stack: tuple[int, ...]) -> bool:
        last = next((frame for frame in reversed(stack) if held[frame]), None)
        return last is not None and (last == stack[-1] or not calling[last])

    dropped = {number for number, stack in enumerate(profile.stacks) if is_own_work(stack)}
    return replace(profile, samples=tuple(one for one in profile.samples if one.stack not in dropped))


def _joined(calls: Sequence[_Call]) -> RegionMemory:
    peaks = tuple(call.total(Value.PEAK) for call in calls)
    highest = calls[peaks.index(max(peaks))]
    return RegionMemory(
        memory=Memory(
            peaks_bytes=peaks,
            allocated_bytes=sum(call.total(Value.ALLOCATED) for call in calls),
            allocations=sum(call.total(Value.ALLOCATIONS) for call in calls),
            left_bytes=sum(call.total(Value.LEFT) for call in calls),
            python_allocators=any(call.python_allocators for call in calls),
        ),
        profile=join_values(list(_profiles(calls, highest))),
    )


def _profiles(calls: Sequence[_Call], highest: _Call) -> Iterator[tuple[Value, Profile]]:
    """Yield the profile of each value: of the peak that of the highest call, else that of all."""
    for value in VALUES:
        if value is Value.PEAK:
            yield value, highest.profiles[value]
        else:
            merged = merge_profiles(call.profiles[value] for call in calls)
            yield value, replace(merged, unit=value.unit)
