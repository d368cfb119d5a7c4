"""Combine profiles: merge several, and align their file paths."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import repeat
from typing import NamedTuple

from profkit.errors import UsageError
from profkit.model.profile import Frame, Profile, ProfileBuilder, Sample, Thread, ThreadState
from profkit.transforms.identity import file_identity, with_identities
from profkit.transforms.origin import from_import_root
from profkit.transforms.simplify import fold_addresses
from profkit.transforms.trees import Stack, picked
from profkit.units import Unit


def merge_profiles(profiles: Iterable[Profile], *, same_clock: bool = False) -> Profile:
    """Return all samples of all profiles, in the order of the profiles; without profiles, an empty profile.

    Starts of samples are kept with `same_clock`, if the starts of all profiles begin at the same moment.

    If sampling periods differ, the result has their mean by weight, which preserves the total time of all
    samples. Stated totals are added up if all profiles have them. Raises `UsageError` for profiles of several
    units; profiles without samples are ignored unless all are empty.
    """
    merged = tuple(profiles)
    counted = [profile for profile in merged if profile.samples] or list(merged[:1])
    unit = _common_unit(counted)
    builder = ProfileBuilder()
    for profile in counted:
        frames = builder.frame_numbers(profile.frames)
        threads = [builder.thread(thread) for thread in profile.threads]
        stacks: dict[int, int] = {}
        starts = profile.known_starts() if same_clock else repeat(None)
        for (stack, thread, weight), start in zip(profile.samples, starts, strict=False):
            number = stacks.get(stack)
            if number is None:
                mapped = picked(profile.stacks[stack], frames)
                number = stacks[stack] = builder.stack(mapped, profile.state_of(stack))
            builder.add_numbered(number, threads[thread], weight, start)
    return builder.build(
        unit=unit,
        period_ns=_mean_period_ns(counted),
        ordered=all(profile.ordered for profile in counted),
        totals=_totals(counted),
    )


def _totals(profiles: Sequence[Profile]) -> Mapping[Frame, int]:
    """Return the summed totals of each function; empty unless all profiles state them."""
    if not all(profile.totals for profile in profiles):
        return {}
    added: Counter[Frame] = Counter()
    not_stated = set()
    for profile in profiles:
        for frame, stated in zip(profile.frames, profile.totals, strict=True):
            added[frame] += stated or 0
            not_stated |= {frame} if stated is None else set()
    return {frame: total for frame, total in added.items() if frame not in not_stated}


def _common_unit(profiles: Sequence[Profile]) -> Unit:
    units = {profile.unit for profile in profiles}
    if len(units) > 1:
        words = " and ".join(sorted(unit.value for unit in units))
        raise UsageError(f"profiles in {words} cannot be merged", "merge profiles of one unit")
    return units.pop() if units else Unit.SAMPLES


def _mean_period_ns(profiles: Sequence[Profile]) -> float:
    periods = {profile.period_ns for profile in profiles}
    if len(periods) == 1:
        return periods.pop()
    weight = sum(profile.total_weight for profile in profiles)
    return sum(profile.period_ns * profile.total_weight for profile in profiles) / weight if weight else 0.0


class Home(NamedTuple):
    """Location of a run's program: its working directory and the profiled file."""

    cwd: str
    file: str


def aligned(
    profiles: Sequence[Profile], homes: Sequence[Home], *, inline: bool = False
) -> tuple[Profile, ...]:
    """Return the profiles with names and files by which functions match.

    Program files have the first profile's paths; a library file has its first path in all. `inline` is as in
    `with_identities`.
    """
    first_paths: dict[str, str] = {}
    path_in = {home: _path_in(home, homes[0], first_paths) for home in dict.fromkeys(homes)}
    return tuple(
        with_identities(fold_addresses(profile, stated=True), path_in[home], inline=inline)
        for profile, home in zip(profiles, homes, strict=True)
    )


def side_by_side(a: Sequence[Profile], b: Sequence[Profile]) -> Profile:
    """Return all samples as those of two threads, `A` and `B`, without their order.

    The unit and period are those of the first profile.
    """
    frames: dict[Frame, int] = {}
    stacks: list[Stack] = []
    states: list[ThreadState] = []
    samples: list[Sample] = []
    for thread, profiles in enumerate((a, b)):
        for profile in profiles:
            numbers = [frames.setdefault(frame, len(frames)) for frame in profile.frames]
            is_same = numbers == list(range(len(numbers)))
            for stack, weight in profile.weights_by_stack.items():
                samples.append(Sample(len(stacks), thread, weight))
                stacks.append(profile.stacks[stack] if is_same else picked(profile.stacks[stack], numbers))
                states.append(profile.state_of(stack))
    return Profile(
        unit=a[0].unit,
        period_ns=a[0].period_ns,
        frames=tuple(frames),
        stacks=tuple(stacks),
        threads=(Thread(0, 0, "A"), Thread(0, 1, "B")),
        samples=tuple(samples),
        ordered=False,
        states=tuple(states) if any(states) else (),
    )


def _path_in(home: Home, first: Home, first_paths: dict[str, str]) -> Callable[[str], str]:
    here, there = _move(home, first)

    @cache
    def path_in(file: str) -> str:
        moved = there + file[len(here) :] if here and file.startswith(f"{here}/") else file
        # Packages can be in the program's folder in one run and elsewhere in another.
        found = moved if from_import_root(file) == file else file
        return first_paths.setdefault(file_identity(found), found)

    return path_in


def _move(home: Home, first: Home) -> tuple[str, str]:
    """Return the folder of a run's program and its name in the first run; empty for the same program.

    It is the profiled file's path without the end that both have in common. If they have none in common, the
    working directories are used.
    """
    if home.file == first.file:
        return "", ""
    left = _without_common_end(home.file, first.file)
    return left if all(left) else (home.cwd.rstrip("/"), first.cwd.rstrip("/"))


def _without_common_end(one: str, other: str) -> tuple[str, str]:
    """Return two paths without the file and folders that both end with; empty if they share none."""
    parts, others = one.split("/"), other.split("/")
    alike = 0
    while alike < min(len(parts), len(others)) and parts[-1 - alike] == others[-1 - alike]:
        alike += 1
    if not alike:
        return "", ""
    return "/".join(parts[: len(parts) - alike]), "/".join(others[: len(others) - alike])
