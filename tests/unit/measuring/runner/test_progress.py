"""Progress as lines of a log, and as one line of a terminal."""

from __future__ import annotations

import io

from profkit.clock import ManualClock
from profkit.measuring.runner.progress import ProgressLine


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
