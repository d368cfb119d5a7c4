"""gunicorn with a Flask application: each kind of worker, preloaded or not, under concurrent requests."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.integration.harness import profkit
from tests.neighbours.harness import Seen, assert_only, seen
from tests.neighbours.servers import Answer, Served, Server, serve_both

PATHS = [
    path
    for n in range(12)
    for path in (f"/red/{n}", f"/green/{n}?name=value", f"/block/{n}", f"/stream/{n}", "/missing", "/broken")
]


def gunicorn(*options: str) -> Callable[[int], Sequence[str]]:
    return lambda port: ["gunicorn", "-b", f"127.0.0.1:{port}", *options, "flask_app:app"]


def serve(
    tmp_path: Path, workers: int, *options: str, varying: Sequence[str] = (), **changes: str
) -> tuple[Served, dict[str, Seen]]:
    def talk(server: Server) -> list[Answer]:
        answers = server.ask_all(PATHS)
        server.reach(workers, "/reach")
        return answers

    argv = gunicorn("-w", str(workers), *options)
    served = serve_both(tmp_path, argv, talk, varying=varying, **changes)
    return served, seen(served.folder)


def check(served: Served, found: dict[str, Seen], workers: int) -> None:
    for label in ("red", "green", "block", "lines", "missing", "broken"):
        assert found[label].calls == 12, (label, found[label])
    assert found["broken"].raised == found["missing"].raised == 12
    assert_only(found["red"], "red", ["green"])
    assert_only(found["green"], "green", ["red"])
    assert found["block"].frames["green"] == 0
    assert found["reach"].calls == served.profiled.asked["/reach"]
    assert found["reach"].pids == served.profiled.pids
    assert len(found["reach"].pids) == workers
    merged = profkit(served.folder, "report", "reach", "--all", "--json")
    assert json.loads(merged.stdout)["run"]["calls"] == found["reach"].calls, merged.stderr


WORKERS = {
    "sync": ("sync", 2, []),
    "gthread": ("gthread", 1, ["--threads", "4"]),
    "gevent": ("gevent", 1, []),
    "sync preloaded": ("sync", 2, ["--preload"]),
    "gthread preloaded": ("gthread", 2, ["--preload", "--threads", "4"]),
    "gevent preloaded": ("gevent", 2, ["--preload"]),
}
LONG = {"gthread preloaded", "gevent preloaded", "sync"}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.full] if name in LONG else []) for name in WORKERS]
)
def test_each_kind_of_worker(tmp_path: Path, name: str) -> None:
    kind, workers, options = WORKERS[name]
    served, found = serve(tmp_path, workers, "-k", kind, *options)
    check(served, found, workers)


def test_workers_of_a_master_that_called_what_is_profiled(tmp_path: Path) -> None:
    served, found = serve(tmp_path, 2, "--preload", MASTER_CALLS="1")
    check(served, found, 2)
    assert found["warm-up"].calls == 1
    assert not found["warm-up"].pids & found["reach"].pids


@pytest.mark.full
def test_no_worker_is_profiled_if_children_are_turned_off(tmp_path: Path) -> None:
    served, found = serve(tmp_path, 2, "--preload", MASTER_CALLS="1", PROFKIT_CHILDREN="0")
    assert set(found) == {"warm-up"}
    listed = profkit(served.folder, "list")
    assert "not profiled" in listed.stderr
    assert "PROFKIT_CHILDREN" in listed.stderr


@pytest.mark.full
def test_workers_that_are_replaced(tmp_path: Path) -> None:
    # How often workers are replaced depends on how the requests are spread over them.
    replaced = ("Autorestarting worker", "Worker exiting", "Booting worker")
    served, found = serve(tmp_path, 2, "--max-requests", "20", varying=replaced)
    for label in ("red", "green", "block", "lines"):
        assert found[label].calls == 12, (label, found[label])
    assert len(found["reach"].pids | found["red"].pids) > 2
    assert found["reach"].calls == served.profiled.asked["/reach"]
