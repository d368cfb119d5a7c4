"""Replies of strobeclient to a question for the status of a run."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.model.session import SessionState
from profkit.samplers.strobeclient import parse_status


@pytest.mark.parametrize(
    ("reply", "state"),
    [
        ("Profile run status: PREPARING", SessionState.PREPARING),
        ("INFO ::1:Profile run status: RUNNING\n", SessionState.RUNNING),
        ("INFO ::1:Profile run status: PROCESSING", SessionState.PROCESSING),
        ("INFO ::1:Profile run finished with SUCCESS", SessionState.SUCCESS),
        ("INFO ::1:Profile run finished with FAILURE", SessionState.FAILED),
        ("Profile run status: LOST", None),
        ("no such run", None),
    ],
)
def test_states(reply: str, state: SessionState | None):
    assert parse_status(reply) == (None if state is None else (state, ()))


def test_links_of_a_finished_run():
    reply = (
        "INFO ::1:Profile run finished with SUCCESS\n"
        "INFO ::1:Total samples: 29\n"
        "GraphProfiler: https://a.invalid/x?y=1:2\n"
        "Icicle view (python stack): https://a.invalid/z\n"
        "Icicle view (native): https://a.invalid/other\n"
    )
    assert parse_status(reply) == (
        SessionState.SUCCESS,
        (
            ("Total samples", "29"),
            ("GraphProfiler", "https://a.invalid/x?y=1:2"),
            ("Icicle view (python stack)", "https://a.invalid/z"),
        ),
    )


@given(st.text())
def test_any_reply_has_an_answer(reply: str):
    parse_status(reply)
