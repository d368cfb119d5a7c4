"""uvicorn with a FastAPI application: one worker, several, reloading, and both event loops."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Sequence
from http.client import HTTPException
from pathlib import Path

import pytest

from tests.neighbours.harness import Seen, assert_only, seen
from tests.neighbours.servers import Server, serve_both
from tests.support.waiting import until

ITEM = json.dumps({"name": "pen", "price": 1.5, "tags": ["new"]})
BAD_ITEM = json.dumps({"name": "pen", "price": -1})
PATHS = [
    path
    for n in range(10)
    for path in (
        f"/red/{n}?user=ann", f"/green/{n}", f"/plain/{n}", f"/thread/{n}", f"/block/{n}", f"/stream/{n}",
        "/missing", "/broken", "/red/word",
    )
]  # fmt: skip


def uvicorn(*options: str, app: str = "fastapi_app:app") -> Callable[[int], Sequence[str]]:
    return lambda port: ["uvicorn", "--no-use-colors", "--port", str(port), *options, app]


def talk_to(workers: int) -> Callable[[Server], object]:
    def talk(server: Server) -> object:
        described = server.ask("/openapi.json")
        answers = server.ask_all(PATHS)
        sold = [server.ask("/items?count=3", "POST", body) for body in (ITEM, BAD_ITEM, "no JSON")]
        server.reach(workers, "/reach")
        server.await_ticks()
        return described, answers, sold

    return talk


def check(found: dict[str, Seen]) -> None:
    for label in ("red", "green", "thread", "block", "stream", "lines", "missing", "broken"):
        assert found[label].calls == 10, (label, found[label])
    assert (found["user"].calls, found["connection"].calls) == (20, 10)
    assert (found["items"].calls, found["Item.total"].calls, found["later"].calls) == (1, 1, 1)
    assert found["broken"].raised == found["missing"].raised == 10
    assert_only(found["red"], "red", ["green", "blue"])
    assert_only(found["green"], "green", ["red", "blue"])
    assert found["thread"].frames["green"] == found["thread"].frames["blue"] == 0
    assert found["block"].frames["red"] == found["block"].frames["blue"] == 0


@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
def test_one_worker(tmp_path: Path, loop: str) -> None:
    served = serve_both(tmp_path, uvicorn("--loop", loop), talk_to(1))
    check(seen(served.folder))


def test_two_workers(tmp_path: Path) -> None:
    served = serve_both(tmp_path, uvicorn("--workers", "2"), talk_to(2))
    found = seen(served.folder)
    check(found)
    assert found["reach"].calls == served.profiled.asked["/reach"]
    assert found["reach"].pids == served.profiled.pids


@pytest.mark.full
def test_no_worker_is_profiled_if_children_are_turned_off(tmp_path: Path) -> None:
    served = serve_both(tmp_path, uvicorn("--workers", "2"), talk_to(2), PROFKIT_CHILDREN="0")
    assert seen(served.folder) == {}


@pytest.mark.full
def test_reload_after_an_edit(tmp_path: Path) -> None:
    def talk(server: Server) -> object:
        before = [server.ask("/colour") for _ in range(5)]
        server.await_ticks()
        file = server.folder / "reloaded_app.py"
        edited = file.with_suffix(".new")
        edited.write_text(file.read_text("utf-8").replace("red", "green"), "utf-8")
        edited.replace(file)  # at once: the server would see two changes otherwise
        until(lambda: _is_green(server), "the server did not reload")
        after = [server.ask("/colour") for _ in range(5)]
        server.await_ticks()
        return before, after

    served = serve_both(
        tmp_path, uvicorn("--reload", app="reloaded_app:app"), talk, stop=signal.SIGINT,
        files=["reloaded_app.py"],
    )  # fmt: skip
    found = seen(served.folder)["colour"]
    assert found.calls == served.profiled.asked["/colour"] == 10
    assert len(found.pids) == 2
    assert len(found.regions) == 2, "an edited function is another region"
    assert found.frames["red"]
    assert found.frames["green"]


def _is_green(server: Server) -> bool:
    """Return whether the edited application answers; requests of this path are not compared."""
    try:
        return server.ask("/ready").body == "green"
    except (OSError, HTTPException):  # it is starting again
        return False
