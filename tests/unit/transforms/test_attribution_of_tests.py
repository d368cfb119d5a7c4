"""Stacks of tests begin at the test's function, without the test runner's frames."""

from __future__ import annotations

import pytest

from profkit.model.profile import Frame, Profile, ProfileBuilder, Thread
from profkit.model.region import Region, RegionKey, RegionKind
from profkit.transforms.attribution import cut_regions
from profkit.transforms.origin import OWN_CODE

MARKERS = f"{OWN_CODE.packages[0]}/calls/importlib_bootstrap/markers.py"
REGION = Region(
    RegionKey("test_it", "test_one", 4, "test_it.py::test_one[a]"), RegionKind.TEST, "/p/test_it.py"
)
RUNNER = Frame("_multicall", "/lib/site-packages/pluggy/_callers.py", 100)
TEST, WORK = Frame("test_one", "/p/test_it.py", 5), Frame("work", "/p/work.py", 7)
MARKER = Frame(REGION.marker, MARKERS, 80)


def cut(*stacks: tuple[Frame, ...]) -> list[list[str]]:
    builder = ProfileBuilder()
    thread = builder.thread(Thread("MainThread", 1, 1))
    for stack in stacks:
        builder.add_indexed(tuple(builder.frame(frame) for frame in stack), thread, 1)
    profile: Profile = cut_regions(builder.build(period_ns=1e7), [REGION])[REGION.id].profile
    return [[profile.frames[index].name for index in stack] for stack in profile.stacks]


@pytest.mark.parametrize(
    ("stacks", "kept"),
    [
        ([(RUNNER, MARKER, RUNNER, RUNNER, TEST, WORK)], [["test_one", "work"]]),
        ([(RUNNER, MARKER, RUNNER), (RUNNER, MARKER, RUNNER, TEST)], [["_multicall"], ["test_one"]]),
        ([(RUNNER, TEST, WORK)], []),
        ([(MARKER,)], []),  # it is never frameless
    ],
)
def test_frames_of_the_runner_are_left_out(stacks: list[tuple[Frame, ...]], kept: list[list[str]]) -> None:
    assert not REGION.is_frameless
    assert cut(*stacks) == kept
