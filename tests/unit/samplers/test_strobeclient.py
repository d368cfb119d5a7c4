from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.model.session import SessionState
from profkit.samplers.strobeclient import RunStatus, is_stopped, parse_run_id, parse_status


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("I1121 INFO Run Id: 4711\nmore", "4711"),
        ("INFO Run Id: -2934832", "-2934832"),
        ("Run Id: 4711", None),
        ("INFO Run Id: none", None),
        ("", None),
    ],
)
def test_run_ids(reply: str, expected: str | None):
    assert parse_run_id(reply) == expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("Profile run status: PREPARING", RunStatus(SessionState.PREPARING)),
        ("INFO ::1:Profile run status: RUNNING\n", RunStatus(SessionState.RUNNING)),
        ("INFO ::1:Profile run status: PROCESSING", RunStatus(SessionState.PROCESSING)),
        ("INFO ::1:Profile run finished with SUCCESS", RunStatus(SessionState.SUCCESS)),
        ("INFO ::1:Profile run finished with FAILURE", RunStatus(SessionState.FAILED)),
        ("Profile run status: LOST", None),
        ("no such run", None),
    ],
)
def test_states(reply: str, expected: RunStatus | None):
    assert parse_status(reply) == expected


def test_links_of_a_finished_run():
    reply = (
        "INFO ::1:Profile run finished with SUCCESS\n"
        "INFO ::1:Total samples: 29\n"
        "GraphProfiler: https://a.invalid/x?y=1:2\n"
        "Icicle view (python stack): https://a.invalid/z\n"
        "Icicle view (native): https://a.invalid/other\n"
    )
    status = parse_status(reply)
    assert status is not None
    assert status.links == (
        ("Total samples", "29"),
        ("GraphProfiler", "https://a.invalid/x?y=1:2"),
        ("Icicle view (python stack)", "https://a.invalid/z"),
    )


@pytest.mark.parametrize(
    ("reply", "expected"),
    [("INFO ::1:StopRun Success!", True), ("INFO ::1:Failed", False), ("Success!", False), ("", False)],
)
def test_stopping(reply: str, expected: bool):
    assert is_stopped(reply) is expected


@given(st.text())
def test_any_reply_has_an_answer(reply: str):
    parse_run_id(reply)
    parse_status(reply)
    is_stopped(reply)
