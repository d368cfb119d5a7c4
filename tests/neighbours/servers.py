"""Run a server with and without profkit, ask both the same, and compare what they answer and log."""

from __future__ import annotations

import contextlib
import http.client
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from profkit.model.session import SessionState
from profkit.process.procfs import is_same_process
from profkit.store.spool import read_session
from tests.integration.harness import await_samplers_end
from tests.neighbours.harness import OWN_FRAME, PROGRAMS, environ
from tests.support.waiting import LIMIT_S, until

CLIENTS = 8
_END_TIMEOUT_S = _ANSWER_TIMEOUT_S = LIMIT_S
_VARIES = re.compile(r"\b\d+(\.\d+)*\b|0x[0-9a-f]+")
"""Numbers in logs: ids of processes, times, ports."""


@dataclass(frozen=True, order=True)
class Answer:
    """A response, without what differs from server to server."""

    path: str
    status: int
    kind: str
    body: str


@dataclass
class Server:
    """A running server; `asked` counts requests by path."""

    folder: Path
    port: int
    process: subprocess.Popen[str]
    asked: dict[str, int] = field(default_factory=dict)
    pids: set[int] = field(default_factory=set)
    """Of the processes that answered, as the header X-Pid says."""
    log: str = ""
    code: int | None = None

    def ask(self, path: str, method: str = "GET", body: str | None = None) -> Answer:
        """Send one request on a connection of its own."""
        return self.ask_with({"Content-Type": "application/json"} if body else {}, path, method, body)[0]

    def ask_with(
        self, headers: dict[str, str], path: str, method: str = "GET", body: str | None = None
    ) -> tuple[Answer, dict[str, str]]:
        """Send one request with headers; return the response's headers, too, with names in lower case."""
        self.asked[path] = self.asked.get(path, 0) + 1
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_ANSWER_TIMEOUT_S)
        with contextlib.closing(connection):
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            text = response.read().decode()
            answered = {name.lower(): value for name, value in response.getheaders()}
            if pid := response.getheader("X-Pid"):
                self.pids.add(int(pid))
        kind = response.getheader("Content-Type", "")
        return Answer(f"{method} {path}", response.status, kind, text), answered

    def ask_all(self, paths: Sequence[str]) -> list[Answer]:
        """Send many requests, eight at a time."""
        with ThreadPoolExecutor(CLIENTS) as clients:
            return sorted(clients.map(self.ask, paths))

    def reach(self, workers: int, path: str) -> None:
        """Send requests until every worker has answered one; from then on `pids` are theirs."""
        self.pids.clear()
        for _ in range(60):
            self.ask_all([path] * CLIENTS)
            if len(self.pids) >= workers:
                return
        raise AssertionError(f"{workers} workers, and only {self.pids} answered")

    def await_ticks(self) -> None:
        """Wait until all sessions have written their calls: they do so once a second, with their resources.

        Some servers end by a signal, and write nothing then.
        """
        for path in self.folder.glob(".profkit/spool/2*/resources.jsonl"):
            enough = _lines(path) + 2  # one may have begun before the last call ended
            until(lambda path=path, enough=enough: _lines(path) >= enough or not _is_recorded(path.parent))


Talk = Callable[[Server], object]


@dataclass(frozen=True)
class Served:
    """What the two servers answered and logged; both are checked to be equal."""

    profiled: Server
    answers: object

    @property
    def folder(self) -> Path:
        """Current folder of the profiled server."""
        return self.profiled.folder


def serve_both(
    tmp_path: Path, argv: Callable[[int], Sequence[str]], talk: Talk, *, stop: int = signal.SIGTERM,
    files: Sequence[str] = (), varying: Sequence[str] = (), **changes: str,
) -> Served:  # fmt: skip
    """Run `python -m ARGV(port)` twice, talk to both, stop both, and check that they did the same.

    `talk` asks and returns what is to be equal. `files` are copied to each server's folder, and imported
    from there. Lines of logs with one of the texts in `varying` may be more or fewer each time.
    """
    servers = []
    for name, disabled in (("bare", "1"), ("profiled", "0")):
        folder = tmp_path / name
        folder.mkdir()
        for file in files:
            (folder / file).write_text((PROGRAMS / file).read_text("utf-8"), "utf-8")
        # Unbuffered, a worker writes a long traceback at once, and no lines of another worker are within it.
        variables = environ(PROFKIT_DISABLE=disabled, PYTHONUNBUFFERED="1", HOME=str(folder), **changes)
        servers.append((folder, variables))

    def run(place: tuple[Path, dict[str, str]]) -> tuple[Server, object]:
        folder, variables = place
        with running(folder, argv, variables, stop) as server:
            return server, talk(server)

    with ThreadPoolExecutor(2) as pool:
        (bare, expected), (profiled, answers) = pool.map(run, servers)
    await_samplers_end(tmp_path)
    assert answers == expected
    assert _log_of(profiled, varying) == _log_of(bare, varying)
    assert profiled.code == bare.code, profiled.log
    return Served(profiled, answers)


@contextlib.contextmanager
def running(
    folder: Path,
    argv: Callable[[int], Sequence[str]],
    variables: dict[str, str],
    stop: int = signal.SIGTERM,
) -> Iterator[Server]:
    """Run `python -m ARGV(port)` in a folder until the block ends."""
    port = free_port()
    log = folder / "server.log"
    with log.open("w") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", *argv(port)], cwd=folder, env=variables, stdout=out, stderr=out,
            text=True, start_new_session=True,
        )  # fmt: skip
        server = Server(folder, port, process)
        try:
            _await_answer(server, log)
            yield server
            process.send_signal(stop)
            server.code = process.wait(_END_TIMEOUT_S)
        except BaseException as error:
            error.add_note(log.read_text("utf-8"))
            raise
        finally:
            _kill_group(process)
            server.log = log.read_text("utf-8")


def free_port() -> int:
    """Return a port that nothing listens on."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
        return port


def _lines(journal: Path) -> int:
    return journal.read_bytes().count(b"\n")


def _is_recorded(session: Path) -> bool:
    manifest = read_session(session).manifest
    return manifest.state is SessionState.RUNNING and is_same_process(
        manifest.process.pid, manifest.process.start_ticks
    )


def _await_answer(server: Server, log: Path) -> None:
    def answers() -> bool:
        assert server.process.poll() is None, f"the server ended\n{log.read_text('utf-8')}"
        try:
            server.ask("/ready")
        except OSError:
            return False
        return True

    until(answers, lambda: f"the server does not answer\n{log.read_text('utf-8')}")


def _kill_group(process: subprocess.Popen[str]) -> None:
    with contextlib.suppress(ProcessLookupError):
        subprocess.run(["kill", "-KILL", "--", f"-{process.pid}"], check=False, stderr=subprocess.DEVNULL)
    process.wait(_END_TIMEOUT_S)


def _log_of(server: Server, varying: Sequence[str]) -> list[str]:
    """The lines of a log in an order of their own: requests that overlap end in any order."""
    text = OWN_FRAME.sub("", server.log).replace(str(server.folder), "FOLDER")
    lines = [_VARIES.sub("N", line) for line in text.splitlines() if "/ready" not in line]
    return sorted(line for line in lines if not any(text in line for text in ("/reach", *varying)))
