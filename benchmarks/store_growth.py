"""What grows with the runs of a store and with those who write to it at once, in SQLite and PostgreSQL.

Times are processor times: of whole commands, Python's start included, and of the server with all its
processes; those of look-ups are the server's, by EXPLAIN ANALYZE. Each writer sends the ten ranks of a job
from a spool of its own, as a machine does.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import psutil
import psycopg

from benchmarks.children import caching_environment
from benchmarks.faults.postgres import home_of
from benchmarks.figures import Figure
from benchmarks.filled_stores import fill
from benchmarks.made_sessions import make_job
from benchmarks.pairs import median_figure
from benchmarks.report_commands import taken_by
from profkit.store.connections import Row, ServerConnection, Value
from profkit.store.database import open_database
from profkit.store.urls import ServerPlace
from tests.integration.postgres_server import new_database, running_server
from tests.support.look_ups import LOOK_UPS, newest_window

_RUNS = (1_000, 100_000, 1_000_000)
_COMMANDS: dict[str, tuple[float | None, float]] = {
    "list": (1.0, 150.0),
    "list --jobs": (1.0, 150.0),
    "report step-5": (1.0, 150.0),
    "report service-1": (1.0, 150.0),
    "report --job": (1.0, 150.0),
    "history step-5": (1.0, 150.0),
    "compare step-5 step-6": (1.0, 150.0),
    "compare service-0 service-1": (1.0, 150.0),
    "gc --dry-run": (5.0, 150.0),
    "gc --dry-run --keep 5": (5.0, 150.0),
    "list --json": (None, 200.0),
}
"""Bounds of seconds and megabytes."""
_LOOKUP_MS = 5.0
_WRITERS = (1, 8, 32)
_RANKS, _SAMPLES = 10, 200


def measure(quick: bool) -> list[Figure]:
    """Measure commands and look-ups by the number of runs, then writers by their number."""
    with running_server() as server:
        sizes, writers = (_RUNS[:1], _WRITERS[:2]) if quick else (_RUNS, _WRITERS)
        return [
            *(figure for number in sizes for figure in _of_runs(server, number)),
            *(figure for number in writers for figure in _of_writers(server, number)),
        ]


def _of_runs(server: str, number: int) -> Iterator[Figure]:
    for name, url in _stores(server, f"runs-{number}").items():
        open_database(url).close()
        empty = _size(url)
        fill(url, number)
        what = f"{name}, {number} runs"
        yield Figure(f"{what}: bytes of each", (_size(url) - empty) / number, "B", certain=True)
        if url.startswith("postgresql"):
            yield from _lookups(url, what)
        for command in _COMMANDS:
            yield from _of_command(url, what, command)


def _of_command(url: str, what: str, command: str) -> Iterator[Figure]:
    argv = [sys.executable, "-m", "profkit", *command.split()]
    seconds, megabytes = _COMMANDS[command]
    # The first of all compiles modules.
    taken = [taken_by(argv, _environ(url)) for _ in range(1 if seconds is None else 2)]
    least_s, most = min(one.cpu_s for one in taken), max(one.peak_bytes for one in taken) / 1e6
    yield Figure(f"{what}, {command}: processor time", least_s, "s", seconds, certain=True)
    yield Figure(f"{what}, {command}: peak resident memory", most, "MB", megabytes, certain=True)


class _Explained(ServerConnection):
    """A connection that notes how long the server takes for each query."""

    taken_ms = 0.0

    def execute(self, sql: str, *values: Value) -> list[Row]:
        """Execute a query, and once more to have it explained."""
        (((plan,),),) = super().execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}", *values)
        self.taken_ms += plan["Execution Time"]
        return super().execute(sql, *values)


def _lookups(url: str, what: str) -> Iterator[Figure]:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")  # as a server does by itself
    with ServerPlace.of(url).connect() as opened:
        row = newest_window(ServerConnection(opened))
        for name, (_, look_up) in LOOK_UPS.items():
            explained = [_Explained(opened) for _ in range(9)]
            for each in explained:
                look_up(each, row)
            taken = [each.taken_ms for each in explained]
            bound_ms = None if name == "all labels" else _LOOKUP_MS  # it takes as long as there are labels
            yield median_figure(f"{what}, {name}", taken, "ms", bound_ms, f"{len(taken)} times")


def _of_writers(server: str, number: int) -> Iterator[Figure]:
    for name, url in _stores(server, f"writers-{number}").items():
        open_database(url).close()
        spools = [Path(f"{name}-{number}-{writer}").resolve() for writer in range(number)]
        for spool in spools:
            make_job(spool, _RANKS, _SAMPLES, spool.name)
        server_s = _server_seconds(server)
        wall_s, clients_s = _pushed(url, spools)
        sessions = number * _RANKS
        what, detail = f"{name}, {number} writers", f"{sessions} sessions"
        yield Figure(f"{what}: processor time of a session", clients_s / sessions * 1e3, "ms", detail=detail)
        yield Figure(f"{what}: sessions per second", sessions / wall_s, "/s", detail=detail)
        if url.startswith("postgresql"):
            taken_ms = (_server_seconds(server) - server_s) / sessions * 1e3
            yield Figure(f"{what}: the server's processor time of a session", taken_ms, "ms", detail=detail)


def _pushed(url: str, spools: list[Path]) -> tuple[float, float]:
    """Send from all spools at once; return the seconds until the last one ended, and those of processors."""
    argv = [sys.executable, "-m", "profkit", "push", "--to", url]
    start_s = perf_counter()
    started = [
        subprocess.Popen(argv, stdout=subprocess.DEVNULL, env={**_environ(url), "PROFKIT_SPOOL": str(spool)})
        for spool in spools
    ]
    ends = [os.wait4(process.pid, 0) for process in started]
    wall_s = perf_counter() - start_s
    if any(status for _, status, _ in ends):
        raise RuntimeError("a writer failed")
    return wall_s, sum(usage.ru_utime + usage.ru_stime for _, _, usage in ends)


def _stores(server: str, name: str) -> dict[str, str]:
    return {"SQLite": f"sqlite:///{Path.cwd() / name}.db", "PostgreSQL": new_database(server)}


def _environ(url: str) -> dict[str, str]:
    return {**caching_environment(Path("compiled").resolve()), "PROFKIT_STORE": url}


def _size(url: str) -> int:
    """Return the bytes that a store takes on the disk."""
    if not url.startswith("postgresql"):
        return Path(url.removeprefix("sqlite:///")).stat().st_size
    with psycopg.connect(url, autocommit=True) as connection:
        row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
        return int(row[0]) if row else 0


def _server_seconds(url: str) -> float:
    """Return the processor time of the server and of all processes that it has waited for."""
    pid = int((home_of(url) / "data" / "postmaster.pid").read_text().split()[0])
    used = psutil.Process(pid).cpu_times()
    return used.user + used.system + used.children_user + used.children_system
