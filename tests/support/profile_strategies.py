"""Hypothesis strategies for profiles, and short ways to write one down."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import strategies as st

from profkit.model.profile import Frame, Profile, ProfileBuilder, Thread, ThreadState
from profkit.transforms.origin import CHILD_PREFIX
from profkit.units import Unit

USER = "/home/ann/app.py"
LIBRARY = "/usr/lib/python3.11/json/encoder.py"
OTHER_LIBRARY = "/usr/lib/python3.11/threading.py"
NATIVE, OTHER_NATIVE = "/usr/src/python/Objects/call.c", "/usr/src/python/Python/ceval.c"
FILES = {
    "": USER, "lib": LIBRARY, "other": OTHER_LIBRARY, "c": NATIVE, "c2": OTHER_NATIVE,
    "child": f"{CHILD_PREFIX}9: python worker.py>", "importlib": "<frozen importlib._bootstrap>",
    "ranks": "/usr/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py",
}  # fmt: skip

frames = st.builds(
    Frame,
    name=st.sampled_from(["f", "g", "h"]),
    file=st.sampled_from([USER, LIBRARY]),
    line=st.integers(0, 3),
)
threads = st.builds(Thread, pid=st.just(7), tid=st.integers(1, 3), name=st.just("t"))
thread_states = st.sampled_from(ThreadState)
_UNKNOWN = st.just(ThreadState.UNKNOWN)


@st.composite
def profiles(
    draw: st.DrawFn,
    frame: st.SearchStrategy[Frame] = frames,
    unit: Unit = Unit.SAMPLES,
    max_depth: int = 6,
    states: st.SearchStrategy[ThreadState] = _UNKNOWN,
) -> Profile:
    """Small profiles with repeated functions, recursion and empty stacks."""
    builder = ProfileBuilder()
    stack = st.lists(frame, max_size=max_depth).map(tuple)
    for *sample, state in draw(st.lists(st.tuples(stack, threads, st.integers(1, 5), states), max_size=12)):
        builder.add(*sample, state=state)
    return builder.build(unit=unit, period_ns=1e6)


def profile_of(*stacks: tuple[str, int], tid: int = 1) -> Profile:
    """A profile of `("f:1 g:2", weight)` stacks; a frame is NAME:LINE in the user's file.

    `NAME@lib:LINE` stands in a library file, and so do the other keys of `FILES`.
    """
    return built(*((map(frame_of, text.split()), weight) for text, weight in stacks), tid=tid)


def built(*stacks: tuple[Iterable[Frame], int], tid: int = 1, period_ns: float = 1e6) -> Profile:
    """A profile of stacks of one thread, with their weights."""
    builder = ProfileBuilder()
    for frames_of_stack, weight in stacks:
        builder.add(tuple(frames_of_stack), Thread(7, tid, "t"), weight)
    return builder.build(period_ns=period_ns)


def frame_of(text: str) -> Frame:
    place, _, line = text.partition(":")
    name, _, library = place.partition("@")
    return Frame(name, FILES[library], int(line or 0))
