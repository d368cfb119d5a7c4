"""Middleware for web services by hand, without a server: what it leaves alone, and what it records."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from profkit.ingest.read import read_runs
from profkit.store.spool import session_folders
from tests.integration.harness import PROGRAMS, await_samplers_end, run_program

pytestmark = pytest.mark.sampler


def requests_in(folder: Path) -> tuple[Counter[str], Counter[str]]:
    """Return the numbers of requests by label, and of those that raised."""
    calls, raised = Counter[str](), Counter[str]()
    for session in session_folders(folder / ".profkit" / "spool"):
        for run in read_runs(session).runs:
            calls[run.info.label] += run.info.calls
            raised[run.info.label] += run.info.raised
    return calls, +raised


def run(tmp_path: Path, interface: str) -> tuple[Counter[str], Counter[str]]:
    done = run_program(tmp_path, [str(PROGRAMS / "web_edges.py"), interface])
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    await_samplers_end(tmp_path)
    return requests_in(tmp_path)


def test_asgi(tmp_path: Path) -> None:
    calls, raised = run(tmp_path, "asgi")
    assert calls == {
        "GET /": 1, "GET /stream": 1, "GET /page": 1, "HEAD /page": 1, "GET /own": 1, "GET /broken": 2,
        "GET /cancelled": 1,
    }  # fmt: skip
    assert raised == {"GET /broken": 2, "GET /cancelled": 1}


def test_a_session_that_lasts_for_long_is_replaced(tmp_path: Path) -> None:
    """A request that is in progress then has samples in both sessions."""
    done = run_program(tmp_path, [str(PROGRAMS / "web_renewal.py")])
    assert (done.returncode, done.stderr) == (0, "")
    await_samplers_end(tmp_path)
    sessions = [read_runs(folder).runs for folder in session_folders(tmp_path / ".profkit" / "spool")]
    assert len(sessions) == 2
    assert all(any(run.info.label == "GET /events" and run.info.samples for run in runs) for runs in sessions)
    calls, _ = requests_in(tmp_path)
    assert calls == {"GET /events": 1, "GET /other": 2}


def test_wsgi(tmp_path: Path) -> None:
    calls, raised = run(tmp_path, "wsgi")
    assert calls == {"GET /whole": 3, "GET /parts": 4, "GET /broken": 2, "GET /page": 1, "GET /own": 1}
    assert raised == {"GET /broken": 2}
