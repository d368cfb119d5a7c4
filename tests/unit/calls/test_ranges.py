"""Ranges in a trace: which regions have one, when a trace begins and ends, and other threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest

from profkit.calls import ranges
from profkit.calls.ranges import close_range, has_range, open_range
from profkit.model.region import RegionKind
from profkit.session.counters import Counters
from tests.support.example_counters import counters_of


class Recorder:
    """Tracer that lists the calls it gets; it is also the recording that it begins."""

    def __init__(self, left: int = 10) -> None:
        self.left, self.said = left, list[str]()

    def begin(self, counters: Counters) -> Recorder | None:
        if not self.left:
            return None
        self.left -= 1
        self.said.append(f"begin {counters.region.key.label}")
        return self

    def open_range(self, label: str) -> Callable[[], None]:
        self.said.append(f"({label}")
        return lambda: self.said.append(f"{label})")

    def end(self) -> None:
        self.said.append("end")


def region(label: str, kind: RegionKind = RegionKind.FUNCTION, tracer: Recorder | None = None) -> Counters:
    counters = counters_of(label, kind)
    counters.tracer = tracer
    counters.live = True
    return counters


@pytest.fixture(autouse=True)
def no_trace_is_left() -> Iterator[None]:
    yield
    assert ranges._STATE.recording is None
    assert ranges._STATE.ranges == []


def test_a_trace_lasts_for_the_call_that_began_it() -> None:
    recorder = Recorder()
    outer, inner = region("outer", tracer=recorder), region("inner", RegionKind.BLOCK)
    assert has_range(outer)
    assert not has_range(inner)
    open_range(outer)
    assert (has_range(inner), outer.live, inner.live) == (True, False, False)
    for _ in range(2):
        open_range(inner)
        close_range(inner)
    close_range(outer)
    assert recorder.said == ["begin outer", "(outer", "(inner", "inner)", "(inner", "inner)", "outer)", "end"]
    assert not outer.ranged
    assert not inner.ranged


def test_a_traced_region_inside_another_is_a_range() -> None:
    recorder, other = Recorder(), Recorder()
    outer, inner = region("outer", tracer=recorder), region("inner", tracer=other)
    open_range(outer), open_range(inner), close_range(inner), close_range(outer)
    assert recorder.said == ["begin outer", "(outer", "(inner", "inner)", "outer)", "end"]
    assert other.said == []


def test_a_tracer_may_decline() -> None:
    outer = region("outer", tracer=Recorder(left=0))
    open_range(outer)
    assert (outer.ranged, outer.live) == (False, True)
    close_range(outer)


def test_a_block_that_is_entered_again_inside_itself() -> None:
    recorder = Recorder()
    block = region("block", RegionKind.BLOCK, recorder)
    open_range(block), open_range(block), close_range(block)
    assert recorder.said[-1] == "block)"
    close_range(block)
    assert recorder.said[-1] == "end"


@pytest.mark.parametrize("kind", [RegionKind.COROUTINE, RegionKind.GENERATOR, RegionKind.PROGRAM])
def test_regions_that_wait_have_no_ranges(kind: RegionKind) -> None:
    recorder = Recorder()
    outer, waiting = region("outer", tracer=recorder), region("waiting", kind)
    open_range(outer), open_range(waiting)
    assert (waiting.ranged, waiting.live) == (False, True)
    close_range(outer)


def test_a_range_of_another_thread_is_closed_with_the_trace() -> None:
    recorder = Recorder()
    outer, inner = region("outer", tracer=recorder), region("inner")
    open_range(outer)
    thread = threading.Thread(target=open_range, args=(inner,))
    thread.start()
    thread.join()
    close_range(inner)  # not this thread's
    close_range(outer)
    assert recorder.said == ["begin outer", "(outer", "(inner", "outer)", "inner)", "end"]


def test_a_call_that_was_never_left_does_not_keep_the_trace() -> None:
    recorder = Recorder()
    outer = region("outer", tracer=recorder)
    open_range(outer)  # and then an exception, before the call could begin
    open_range(outer)
    close_range(outer)
    assert recorder.said == ["begin outer", "(outer", "outer)", "end"] * 2
