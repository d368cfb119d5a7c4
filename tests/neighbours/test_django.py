"""Django: its views, sync and async, under WSGI and ASGI and by its own development server."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.neighbours.harness import assert_only, seen
from tests.neighbours.servers import Server, serve_both

PATHS = [
    path
    for n in range(10)
    for path in (
        f"/red/{n}", f"/green/{n}?name=ann", f"/async/{n}", f"/page/{n}", f"/stream/{n}", "/missing",
        "/broken",
    )
]  # fmt: skip


def talk(server: Server) -> object:
    answers = server.ask_all(PATHS)
    posted = server.ask("/page/3", "POST", '"body"'), server.ask("/red/3", "POST", "1")
    server.await_ticks()
    return answers, posted


def gunicorn(port: int) -> Sequence[str]:
    return ["gunicorn", "-k", "gthread", "--threads", "4", "-b", f"127.0.0.1:{port}", "django_app:wsgi"]


def uvicorn(port: int) -> Sequence[str]:
    return ["uvicorn", "--no-use-colors", "--no-access-log", "--port", str(port), "django_app:asgi"]


def runserver(port: int) -> Sequence[str]:
    return ["django_app", "runserver", "--noreload", f"127.0.0.1:{port}"]


def reloading(port: int) -> Sequence[str]:
    return ["django_app", "runserver", f"127.0.0.1:{port}"]


@pytest.mark.parametrize(
    "server",
    [
        gunicorn,
        pytest.param(uvicorn, marks=pytest.mark.full),
        pytest.param(runserver, marks=pytest.mark.full),
        pytest.param(reloading, marks=pytest.mark.full),
    ],
    ids=lambda server: server.__name__,
)
def test_same_pages(tmp_path: Path, server) -> None:
    found = seen(serve_both(tmp_path, server, talk).folder)
    for label in ("red", "green", "async", "Page.get", "block", "stream", "missing", "broken", "double"):
        assert found[label].calls == 10, (label, found[label])
    assert found["called"].calls == 10
    assert found["Page.post"].calls == 1
    assert found["broken"].raised == found["missing"].raised == 10
    assert_only(found["red"], "red", ["green", "blue"])
    assert_only(found["green"], "green", ["red", "blue"])
    assert_only(found["async"], "blue", ["green", "red"])
    assert found["block"].frames["green"] == found["block"].frames["blue"] == 0
