"""Profiles of several runs beside each other: one path for each file, wherever a run's program lay.

Two checkouts, two environments and two Python versions have the same function in different files. What
makes it the same is its name and its file, from where imports start or from the program's folder. Line
numbers do not count: they move when code above them changes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from profkit.model.frame import Thread
from profkit.model.profile import Profile, ProfileBuilder
from profkit.transforms.native_names import fold_addresses
from profkit.transforms.origin import from_import_root
from profkit.transforms.stacks import stack_weights


class Home(NamedTuple):
    """Where a run's program lay: the folder that it ran in, and the file of what was profiled."""

    cwd: str
    file: str


def aligned(profiles: Sequence[Profile], homes: Sequence[Home]) -> tuple[Profile, ...]:
    """The profiles with the paths of the first one's program, and of each library's file its first path."""
    first_paths: dict[str, str] = {}
    return tuple(
        _renamed(fold_addresses(profile, stated=True), _path_in(home, homes[0], first_paths))
        for profile, home in zip(profiles, homes, strict=True)
    )


def side_by_side(a: Sequence[Profile], b: Sequence[Profile]) -> Profile:
    """All samples as those of two threads, `A` and `B`; their order is lost.

    The unit and period are those of the first profile.
    """
    target = ProfileBuilder()
    for number, profiles in enumerate((a, b)):
        thread = target.thread(Thread(0, number, "AB"[number]))
        for profile in profiles:
            _add_all(profile, target, thread)
    return target.build(unit=a[0].unit, period_ns=a[0].period_ns, ordered=False)


def _add_all(profile: Profile, target: ProfileBuilder, thread: int) -> None:
    frame = [target.frame(frame) for frame in profile.frames].__getitem__
    for stack, weight in stack_weights(profile).items():
        target.add_indexed(tuple(map(frame, profile.stacks[stack])), thread, weight)


def _renamed(profile: Profile, path_in: Callable[[str], str]) -> Profile:
    return replace(
        profile, frames=tuple(frame._replace(file=path_in(frame.file)) for frame in profile.frames)
    )


def _path_in(home: Home, first: Home, first_paths: dict[str, str]) -> Callable[[str], str]:
    """What turns a file's path in one run into that in the first."""
    here, there = _move(home, first)

    @cache
    def path_in(file: str) -> str:
        imported = from_import_root(file)
        if imported != file:
            return first_paths.setdefault(imported, file)
        return there + file[len(here) :] if here and file.startswith(f"{here}/") else file

    return path_in


def _move(home: Home, first: Home) -> tuple[str, str]:
    """The folder of a run's program, and what it is called in the first; nothing for the same program.

    It is what is left of the profiled file's path without the end that both have in common. Where they
    have none, the folders that the two ran in must do.
    """
    if home.file == first.file:
        return "", ""
    left = _without_common_end(home.file, first.file)
    return left if all(left) else (home.cwd.rstrip("/"), first.cwd.rstrip("/"))


def _without_common_end(one: str, other: str) -> tuple[str, str]:
    """What is left of two paths without the file and folders that both end with; empty if none are alike."""
    parts, others = one.split("/"), other.split("/")
    alike = 0
    while alike < min(len(parts), len(others)) and parts[-1 - alike] == others[-1 - alike]:
        alike += 1
    if not alike:
        return "", ""
    return "/".join(parts[: len(parts) - alike]), "/".join(others[: len(others) - alike])
