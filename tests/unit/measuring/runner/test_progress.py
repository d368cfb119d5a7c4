"""Progress as lines of a log, and as one line of a terminal; the time that is left."""

from __future__ import annotations

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.clock import ManualClock
from profkit.measuring.runner.progress import COUNTING, TIMING, Pace, ProgressLine


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_log_gets_whole_lines_and_not_one_for_each_step() -> None:
    stream, clock = io.StringIO(), ManualClock()
    line = ProgressLine(stream, clock)
    line.begin(10)
    for number in range(10):
        line.at_work(f"order {number}")
        clock.advance(1.0)
        line.done(f"order {number}")
    line.end()
    shown = stream.getvalue().splitlines()
    assert shown[0] == "profkit: 0/10 · 0 s · order 0"
    assert shown[-1] == "profkit: 10/10 · 10.0 s · order 9"
    assert len(shown) == 3
    assert "5/10 · 5.00 s · ETA 5.00 s" in shown[1]


def test_a_terminal_gets_one_line_that_is_drawn_over_and_gone_at_the_end() -> None:
    stream = Terminal()
    line = ProgressLine(stream, ManualClock())
    line.begin(1)
    line.at_work("x\x1b[31m" + "y" * 100)
    line.end()
    shown = stream.getvalue()
    assert "\n" not in shown
    assert shown.endswith("\r\x1b[K")
    assert "\x1b[31m" not in shown


def test_progress_that_nobody_reads_is_no_error() -> None:
    stream = io.StringIO()
    line = ProgressLine(stream, ManualClock())
    stream.close()
    line.begin(1)
    line.done("x")


ETA = re.compile(r"ETA (≥ )?([\d.]+) (ms|s|min|h)")
SECONDS = {"ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}


def etas(stream: io.StringIO) -> list[tuple[float, bool] | None]:
    found = [ETA.search(line) for line in stream.getvalue().splitlines()]
    return [(float(eta[2]) * SECONDS[eta[3]], bool(eta[1])) if eta else None for eta in found]


def test_the_first_step_of_many_says_nothing_of_the_others() -> None:
    """A zygote under Valgrind starts within 13 s, and then counts an order each half second."""
    clock, stream = ManualClock(), io.StringIO()
    line = ProgressLine(stream, clock)
    line.begin(112, COUNTING)
    line.begin(1120, TIMING)
    shown: list[tuple[float, float, bool]] = []
    whole_s = 13 + 0.5 * 111 + 2 + 0.9 * 1119
    for kind, steps, first_s, each_s in ((COUNTING, 112, 13.0, 0.5), (TIMING, 1120, 2.0, 0.9)):
        for step in range(steps):
            clock.advance(each_s if step else first_s)
            line.done("order", kind)
            if (found := etas(stream)[-1]) is not None:
                shown.append((found[0], whole_s - clock.monotonic_s(), found[1]))
    assert len(shown) > 100
    # Lines are written each five seconds.
    assert all(eta_s <= left_s + 6 for eta_s, left_s, at_least in shown if at_least)
    assert all(
        eta_s == pytest.approx(left_s, rel=0.05, abs=6) for eta_s, left_s, at_least in shown if not at_least
    )


@given(st.integers(2, 50), st.integers(2, 50), st.floats(0.01, 10), st.floats(0.01, 10), st.floats(0, 1000))
def test_steady_steps_are_foreseen_exactly(
    counted: int, timed: int, count_s: float, time_s: float, start_s: float
) -> None:
    pace, now_s = Pace(), 0.0
    pace.add(counted, COUNTING)
    pace.add(timed, TIMING)
    left_s = (counted - 1) * count_s + timed * time_s + count_s
    for kind, steps, each_s in ((COUNTING, counted, count_s), (TIMING, timed, time_s)):
        for step in range(steps):
            now_s += each_s + (start_s if step == 0 else 0.0)
            left_s -= each_s
            pace.step(kind, now_s)
            left = pace.left(now_s)
            if left is not None and left.at_least:
                assert left.seconds <= left_s + 1e-6
            elif left is not None:
                assert left.seconds == pytest.approx(left_s, abs=1e-6)
    assert pace.left(now_s) is None
    assert pace.done == pace.total == counted + timed


def test_nothing_is_said_before_there_is_a_basis() -> None:
    pace = Pace()
    pace.add(1000, TIMING)
    for step in range(1, 21):
        pace.step(TIMING, float(step))
        assert (pace.left(float(step)) is None) == (step < 20)
    left = pace.left(20.0)
    assert left is not None
    assert (left.seconds, left.at_least) == (980.0, False)
    assert pace.left(20.5).seconds == 979.5  # type: ignore[union-attr]
    assert pace.left(500.0).seconds == 979.0  # type: ignore[union-attr]


def test_what_is_not_known_yet_takes_its_least_time() -> None:
    pace = Pace()
    pace.add(4, COUNTING)
    pace.add(10, TIMING, 20.0)
    pace.add(-5, TIMING)
    for step in range(1, 4):
        pace.step(COUNTING, float(step))
    left = pace.left(3.0)
    assert left is not None
    assert (left.seconds, left.at_least) == (1.0 + 5 * 2.0, True)
