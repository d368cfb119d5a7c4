"""Texts of cells, and what the screen's selection does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from profkit.cli.top.showing import Showing, cut, seconds_text, share_text
from profkit.live.samples import Batch, LiveSamples
from profkit.model.session import ProcessInfo, SamplerPlan
from profkit.render.cells import left_cut
from profkit.render.options import Activity
from profkit.render.views.source import SourceLines
from tests.support.profile_strategies import profile_of

INFO = ProcessInfo(7, 1, "host", "/home/ann", ("python", "app.py"), "3.15.2", None, "1", None)
PLAN = SamplerPlan.unknown("pyspy", scope="process", rate_hz=10.0)


@given(text=st.text("ab漢é/", max_size=12), width=st.integers(0, 14))
def test_cells_have_room(text: str, width: int) -> None:
    for short in (cut(text, width), left_cut(text, width)):
        assert cell_len(short) <= width
        assert short == text or cell_len(text) > width


@pytest.mark.parametrize(
    ("weight", "whole", "text"),
    [(0, 5, ""), (5, 0, ""), (1, 4, "25.0"), (4, 4, "100"), (1, 10_000, "<0.1"), (9_999, 10_000, "100")],
)
def test_shares(weight: int, whole: int, text: str) -> None:
    assert share_text(weight, whole) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.0, ""), (0.04, "0.04"), (9.996, "10.0"), (99.96, "100"), (1234.5, "1,234")]
)
def test_seconds(seconds: float, text: str) -> None:
    assert seconds_text(seconds) == text


def showing_of(samples: LiveSamples) -> Showing:
    return Showing(samples, INFO, PLAN, SourceLines(0, "/home/ann"))


def test_a_selection() -> None:
    samples = LiveSamples()
    samples.add(Batch(0, 2, profile_of(("f", 3)), 40))
    showing = showing_of(samples)
    assert (showing.selection(), showing.span()) == ("", "last 5 s")
    assert showing.second_of_weight() == 0.05
    assert [showing.next_activity() or showing.chosen.activity for _ in range(3)] == [
        Activity.WORKING, Activity.WAITING, Activity.ALL
    ]  # fmt: skip
    showing.choose_thread(0)
    showing.next_activity()
    assert showing.selection() == "thread t · working only"
    assert showing.whole(showing.shown) == 3
    showing.since_start = True
    assert showing.shown is samples.overall
    assert showing.place("/home/ann/app.py") == "app.py"


def test_windows_have_bounds() -> None:
    showing = showing_of(LiveSamples())
    for _ in range(9):
        showing.change_window(-1)
    assert showing.window_s == 1
    for _ in range(9):
        showing.change_window(1)
    assert showing.window_s == 60
    assert showing.second_of_weight() == 0.1
