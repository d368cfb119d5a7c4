"""A session that has lasted for long is ended in the background, by one thread."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from pathlib import Path

import pytest

from profkit.integrations.web import requests
from profkit.integrations.web.requests import renew_session
from profkit.process.background import BackgroundThread
from profkit.session import manager
from tests.unit.session.test_manager import Stage


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    """A session that is due at once."""
    made = Stage(tmp_path)
    monkeypatch.setattr(manager, "MANAGER", made.manager)
    monkeypatch.setattr(requests, "_LONGEST_SESSION_S", 0.0)
    monkeypatch.setattr(requests, "SYSTEM_CLOCK", made.clock)
    monkeypatch.setattr(requests, "_renewals", deque(maxlen=1))
    made.call(made.counters())
    yield made
    made.manager.close()


def test_requests_begin_one_renewal(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[BackgroundThread] = []

    class Counted(BackgroundThread):
        def start(self) -> None:
            begun.append(self)
            super().start()

    monkeypatch.setattr(requests, "BackgroundThread", Counted)
    first = stage.manager.session
    with stage.manager.lock:
        for _ in range(50):
            renew_session()
        assert stage.manager.session is first
    begun[0].await_end(60.0)
    assert len(begun) == 1
    assert stage.manager.session is None


def test_the_next_session_is_renewed_too(stage: Stage) -> None:
    for _ in range(2):
        stage.call(stage.counters())
        renew_session()
        requests._renewals[-1].await_end(60.0)
        assert stage.manager.session is None
