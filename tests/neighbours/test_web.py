"""Requests of real servers, profiled by route and on demand, under concurrent load."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from profkit.model.region import RegionKind
from tests.integration.harness import await_samplers_end, profkit
from tests.neighbours.harness import PROGRAMS, Seen, environ, runs_in, seen
from tests.neighbours.servers import Server, free_port, running, serve_both
from tests.support.waiting import until

TOKEN = "0123456789-abcdef-token"
EXACT = {"rate": 100.0, "blocking": True}
"""Of one moment: a stack cannot have functions of two requests."""
ROUNDS = 8
LONG = 100
"""Number of a request that takes ten times as long."""
COLOURS = ("red", "green", "blue")
PATHS = [f"/{place}/{n}" for n in range(ROUNDS) for place in COLOURS]
SHADES = [path.replace("/green/", "/green/shades/") for path in PATHS]


@dataclass(frozen=True)
class Service:
    """A server with an application, and the labels of its routes."""

    argv: Callable[[int], Sequence[str]]
    labels: tuple[str, str, str]
    paths: Sequence[str]


def uvicorn(app: str, *options: str) -> Callable[[int], Sequence[str]]:
    return lambda port: ["uvicorn", "--no-use-colors", "--port", str(port), *options, app]


def gunicorn(app: str, *options: str) -> Callable[[int], Sequence[str]]:
    return lambda port: ["gunicorn", "-b", f"127.0.0.1:{port}", "--access-logfile", "-", *options, app]


FASTAPI_LABELS = ("GET /red/{number}", "GET /green/shades/{number}", "GET /blue/{number}")
PLAIN_LABELS = tuple(f"GET /{colour}/<int:number>" for colour in COLOURS)
SERVICES = {
    "fastapi": Service(uvicorn("web_fastapi:app", "--loop", "asyncio"), FASTAPI_LABELS, SHADES),
    "fastapi uvloop": Service(uvicorn("web_fastapi:app", "--loop", "uvloop"), FASTAPI_LABELS, SHADES),
    "flask gthread": Service(
        gunicorn("web_flask:app", "-k", "gthread", "--threads", "4"), PLAIN_LABELS, PATHS
    ),
    "flask gevent": Service(gunicorn("web_flask:app", "-k", "gevent"), PLAIN_LABELS, PATHS),
    "django wsgi": Service(
        gunicorn("web_django:wsgi", "-k", "gthread", "--threads", "4"), PLAIN_LABELS, PATHS
    ),
    "django asgi": Service(uvicorn("web_django:asgi"), PLAIN_LABELS, PATHS),
}


def parameters(*short: str, full: Sequence[str]) -> list[object]:
    return [
        *(pytest.param(SERVICES[name], id=name) for name in short),
        *(pytest.param(SERVICES[name], id=name, marks=pytest.mark.full) for name in full),
    ]


def variables(**options: object) -> dict[str, str]:
    return {"WEB_OPTIONS": json.dumps(options)}


def check_colours(found: dict[str, Seen], labels: Sequence[str], calls: int) -> None:
    """Each route has all of its requests, and of the functions only the one that it calls."""
    for label, colour in zip(labels, COLOURS, strict=True):
        assert found[label].calls == calls, (label, found)
        seen_here = [other for other in COLOURS if found[label].frames[other]]
        assert seen_here == [colour], (label, found[label])


@contextlib.contextmanager
def serving(tmp_path: Path, service: Service, **options: object) -> Iterator[Server]:
    changes = {"PYTHONUNBUFFERED": "1", "HOME": str(tmp_path), **variables(**options)}
    with running(tmp_path, service.argv, environ(**changes)) as server:
        yield server
    await_samplers_end(tmp_path)


@pytest.mark.parametrize(
    "service",
    parameters(
        "fastapi", "flask gthread", full=["fastapi uvloop", "flask gevent", "django wsgi", "django asgi"]
    ),
)
def test_sampled_requests_are_those_of_their_routes(tmp_path: Path, service: Service) -> None:
    """They overlap in tasks and threads, and the server answers and logs as it does without profkit."""

    def talk(server: Server) -> object:
        answers = server.ask_all([*service.paths, "/broken", "/nowhere/7"])
        server.await_ticks()
        return answers

    served = serve_both(tmp_path, service.argv, talk, **variables(every=1, **EXACT))
    found = seen(served.folder)
    check_colours(found, service.labels, ROUNDS)
    broken = next(found[label] for label in found if label.startswith("GET /broken"))
    assert broken.calls == 1
    assert any("(no route)" in label for label in found), found.keys()


@pytest.mark.parametrize(
    "service", parameters("fastapi", "django wsgi", full=["flask gthread", "django asgi"])
)
def test_a_request_on_demand_has_its_own_samples_only(tmp_path: Path, service: Service) -> None:
    by_header, by_query = {"Profkit-Token": TOKEN}, f"profkit_token={TOKEN}"
    red, green, blue = (f"{path.removesuffix('0')}{LONG}" for path in service.paths[:3])
    gzip = {"Accept-Encoding": "gzip"}  # only what the application sends is compressed
    with serving(tmp_path, service, token=TOKEN, **EXACT) as server, ThreadPoolExecutor(8) as clients:
        others = [clients.submit(server.ask, path) for path in service.paths * 2]
        page = clients.submit(server.ask_with, by_header | gzip, red)
        second = clients.submit(server.ask_with, {}, f"{green}?{by_query}&left=1")
        own = clients.submit(server.ask_with, {**by_header, "Profkit-Answer": "response"}, blue)
        wrong = clients.submit(server.ask_with, {"Profkit-Token": f"{TOKEN}."}, red)
        query = server.ask(f"/query?a=1&{by_query}&profkit_answer=response&b=%20")
        assert all(other.result().status == 200 for other in others)
        server.await_ticks()
    for (answer, headers), label in ((page.result(), 0), (second.result(), 1)):
        assert (answer.status, headers["cache-control"]) == (200, "no-store")
        assert answer.kind == "text/html; charset=utf-8"
        check_page(answer.body, server, own=COLOURS[label])
    assert json.loads(query.body) == {"a": "1", "b": " "}, "the application does not see the token"
    assert own.result()[0].body == str(LONG)
    assert "profkit-run" not in wrong.result()[1]
    assert wrong.result()[0].kind == "application/json"
    assert TOKEN not in server.log
    check_kept(tmp_path, service, run_id=own.result()[1]["profkit-run"])


def check_page(page: str, server: Server, own: str) -> None:
    """The page has the request's functions, and nothing of others, of the machine, or of the source."""
    found = re.search(r'<script id="profkit-head"[^>]*>(.*)</script>', page)
    assert found is not None
    text = json.dumps(json.loads(found[1]))
    assert [colour for colour in COLOURS if f'"{colour}"' in text] == [own]
    for private in (
        TOKEN,
        str(server.folder),
        str(PROGRAMS),
        "spin(duration_s)",
        f" on {os.uname().nodename}",
    ):
        assert private not in page, private


def check_kept(folder: Path, service: Service, run_id: str) -> None:
    runs = runs_in(folder)
    assert {run.info.region.kind for run in runs} == {RegionKind.REQUEST}
    assert [run.info.calls for run in runs] == [1] * 4, "only requests with the token are profiled"
    for run in runs:
        assert run.profile is not None
        names = {frame.name for frame in run.profile.frames} & set(COLOURS)
        assert names <= {run.info.label.split("/")[1]}, (run.info.label, names)
    kept = [run for run in runs if run.info.id == run_id]
    assert [run.info.label for run in kept] == [service.labels[2]]
    files = [path for path in folder.rglob("*") if path.is_file() and ".profkit" in path.parts]
    assert files
    assert not [path for path in files if TOKEN.encode() in path.read_bytes()]
    assert service.labels[2] in profkit(folder, "report", run_id).stdout


@dataclass(frozen=True)
class Workers:
    """Servers with several processes; `replaced` have another one after some requests."""

    argv: Callable[[int], Sequence[str]]
    label: str
    replaced: bool = False


PRELOADED = ("-w", "2", "-k", "gthread", "--threads", "2", "--preload")
WORKERS = {
    "gunicorn preloaded": Workers(gunicorn("web_flask:app", *PRELOADED), "GET /reach"),
    "gunicorn replacing": Workers(
        gunicorn("web_flask:app", *PRELOADED, "--max-requests", "12"), "GET /reach", replaced=True
    ),
    "uvicorn": Workers(uvicorn("web_fastapi:app", "--workers", "2"), "GET /reach"),
}


@pytest.mark.parametrize(
    "name",
    [
        "gunicorn preloaded",
        pytest.param("gunicorn replacing", marks=pytest.mark.full),
        pytest.param("uvicorn", marks=pytest.mark.full),
    ],
)
def test_each_worker_has_its_own_runs_which_merge(tmp_path: Path, name: str) -> None:
    workers = WORKERS[name]

    def talk(server: Server) -> None:
        server.reach(2, "/reach")
        server.ask_all(["/reach"] * 40)
        server.await_ticks()

    # How often workers are replaced depends on how the requests are spread over them. One without handlers
    # yet, when the server is stopped, ends by the signal, which gunicorn logs.
    replaced = (
        ("Autorestarting worker", "Worker exiting", "Booting worker", "was sent SIGTERM")
        if workers.replaced
        else ()
    )
    served = serve_both(
        tmp_path, workers.argv, talk, varying=("Control socket", *replaced), **variables(every=1)
    )
    found = seen(served.folder)[workers.label]
    assert found.calls == served.profiled.asked["/reach"]
    assert len(found.regions) == 1
    assert len(found.pids) > 2 if workers.replaced else found.pids == served.profiled.pids
    merged = profkit(served.folder, "report", workers.label, "--all", "--json")
    assert json.loads(merged.stdout)["run"]["calls"] == found.calls, merged.stderr


def test_a_worker_that_is_killed_leaves_no_sampler(tmp_path: Path) -> None:
    service = SERVICES["flask gthread"]
    with serving(tmp_path, service, every=1, **EXACT) as server:
        server.reach(1, "/red/1")
        (worker,) = server.pids
        server.await_ticks()
        os.kill(worker, signal.SIGKILL)
        await_samplers_end(tmp_path)
        server.reach(1, "/red/1")
        assert worker not in server.pids
        server.await_ticks()
    found = seen(tmp_path)[service.labels[0]]
    assert found.pids == server.pids | {worker}


@pytest.mark.full
def test_a_reloaded_application_is_profiled_again(tmp_path: Path) -> None:
    app = tmp_path / "web_flask.py"
    app.write_text((PROGRAMS / "web_flask.py").read_text("utf-8"), "utf-8")
    service = SERVICES["flask gthread"]
    with serving(tmp_path, service, every=1) as server:
        server.reach(1, "/reach")
        before = set(server.pids)
        server.await_ticks()
        app.write_text(f"{app.read_text('utf-8')}\n# edited\n", "utf-8")
        server.process.send_signal(signal.SIGHUP)

        def is_reloaded() -> bool:
            with contextlib.suppress(OSError):
                server.reach(1, "/reach")
            return not server.pids <= before

        until(is_reloaded, "the server did not reload")
        server.await_ticks()
    assert seen(tmp_path)["GET /reach"].pids >= server.pids | before


def test_wrong_options_are_one_clear_error(tmp_path: Path) -> None:
    """Frameworks may make middleware late, and the server goes on: then the log has the error."""
    for app, argv in (("fastapi", SERVICES["fastapi"].argv), ("flask", SERVICES["flask gthread"].argv)):
        folder = tmp_path / app
        folder.mkdir()
        changes = {"HOME": str(folder), **variables(token="short")}
        process = subprocess.Popen(
            [sys.executable, "-m", *argv(free_port())], cwd=folder, env=environ(**changes), text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        try:
            output = next(line for line in process.stdout if "needs 16" in line)
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
        assert "the token for profiles of requests has 5 characters, and needs 16; create one with" in output
