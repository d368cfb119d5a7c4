"""Hypothesis strategies for every profile that profkit has, odd names included, and a small one."""

from __future__ import annotations

from hypothesis import strategies as st

from profkit.model.profile import Frame, Profile, ProfileBuilder, Sample, Thread
from profkit.units import Unit

# Every code point, lone surrogates among them, with extra weight on separators, on what JSON escapes and
# on what the spelling of surrogates looks like.
TEXT = st.one_of(
    st.text(st.characters(), max_size=8),
    st.text(st.sampled_from("\\ud8fF0\udc80\ud800\0 é😀;\n\"'<>&"), max_size=12),
    st.sampled_from(["\\udc80", "\ud83d\ude00", "</script>", "a;b c\nd", 'Thread 1 "x"', ""]),
)
FRAMES = st.builds(Frame, TEXT, TEXT, st.one_of(st.just(0), st.integers(0, 500)))
THREADS = st.builds(Thread, st.integers(0, 2**31), st.integers(0, 2**63), TEXT)
WEIGHTS = st.one_of(st.just(1), st.integers(1, 2**40))
PERIODS = st.one_of(st.sampled_from([0.0, 1.0, 1e6, 1e7, 1e9 / 97]), st.floats(1e-3, 1e12))


WITHOUT_FRAMES = Profile(
    frames=(Frame("", "", 0),), stacks=((),), threads=(Thread(0, 0, ""),), samples=(Sample(0, 0, 3),)
)


@st.composite
def exact_profiles(
    draw: st.DrawFn, units: st.SearchStrategy[Unit] | None = None, weights: st.SearchStrategy[int] = WEIGHTS
) -> Profile:
    """Profiles with frames that no stack has, threads without samples, and equal samples in a row.

    Stacks are numbered by their first use, as a `ProfileBuilder` does.
    """
    frames = tuple(draw(st.lists(FRAMES, max_size=6)))
    threads = tuple(draw(st.lists(THREADS, min_size=1, max_size=3)))
    stack = st.lists(st.integers(0, len(frames) - 1), max_size=6).map(tuple) if frames else st.just(())
    stacks: dict[tuple[int, ...], int] = {}
    samples = [
        Sample(stacks.setdefault(key, len(stacks)), thread, weight)
        for key, thread, weight in draw(
            st.lists(st.tuples(stack, st.integers(0, len(threads) - 1), weights), max_size=12)
        )
    ]
    return Profile(
        unit=draw(st.sampled_from(Unit) if units is None else units),
        period_ns=draw(PERIODS),
        frames=frames,
        stacks=tuple(stacks),
        threads=threads,
        samples=tuple(samples),
        ordered=draw(st.booleans()),
    )


def two_threads() -> Profile:
    """Two threads that take turns, one of them oddly named; recursion, an empty stack, no line, no file."""
    builder = ProfileBuilder()
    main, other = Thread(7, 7, "MainThread"), Thread(7, 9, 'load "a"; <b>\n\udc80')
    run, step = Frame("run", "/a/app.py", 3), Frame("step", "/a/app.py", 8)
    dumps = Frame("JSONEncoder.encode", "/usr/lib/python3.11/json/encoder.py", 200)
    native, odd = Frame("é; 日\n\\udc80", "/a/lib.so", 0), Frame("lambda", "", 1)
    for stack, thread, weight in (
        ((run, step), main, 2),
        ((run, step, dumps), main, 1),
        ((odd, native), other, 3),
        ((run, run, step), main, 1),
        ((), main, 1),
        ((odd,), other, 2),
        ((run, step), main, 1),
    ):
        builder.add(stack, thread, weight)
    return builder.build(period_ns=1e7)
