"""Stores of a hundred thousand runs, in SQLite and PostgreSQL: commands, look-ups, and eight writers at once.

Times of commands are processor times of whole commands, Python's start included; those of look-ups are the
server's, by EXPLAIN ANALYZE. Each writer has a spool of its own, as machines have that share a database.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from time import perf_counter, time_ns

from benchmarks.children import caching_environment
from benchmarks.figures import Figure
from benchmarks.made_profiles import made_run
from benchmarks.pairs import median_figure
from benchmarks.report_commands import taken_by
from profkit.store.connections import Connection, Row, ServerConnection, Value
from profkit.store.database import RUNS, open_database
from profkit.store.lookups import all_labels, latest_labels, matching, page
from profkit.store.rows import RUN_COLUMNS, rows_of
from profkit.store.urls import ServerPlace
from tests.integration.postgres_server import new_database, running_server
from tests.support.example_sessions import PLAN, F, calls, manifest, segment, session_folder, write_speedscope

_RUNS, _RUNS_OF_LABEL = 100_000, 1_000
_DAYS = 60
_BATCH = 10_000
_WRITERS, _SESSIONS = 8, 25
_COMMANDS: dict[str, tuple[float | None, float]] = {
    "list": (1.0, 150.0),
    "report step-5": (1.0, 150.0),
    "history step-5": (1.0, 150.0),
    "gc --dry-run": (5.0, 150.0),
    "gc --dry-run --keep 5": (5.0, 150.0),
    "list --json": (None, 200.0),
}
"""Bounds of seconds and megabytes."""
_LOOKUP_MS = 5.0


def measure(quick: bool) -> list[Figure]:
    """Measure commands and writers with both databases, and look-ups of the server."""
    number = _RUNS // 50 if quick else _RUNS
    with running_server() as server:
        urls = {"SQLite": f"sqlite:///{Path.cwd() / 'large.db'}", "PostgreSQL": new_database(server)}
        figures = []
        for name, url in urls.items():
            fill(url, number)
            figures += [figure for command in _COMMANDS for figure in _of_command(name, url, command, quick)]
        figures += _lookups(urls["PostgreSQL"])
        figures += [_writers(name, url) for name, url in urls.items()]
    return figures


def fill(url: str, number: int) -> None:
    """Add runs of the last sixty days, a thousand of each label, to a store."""
    row = dict(zip(RUN_COLUMNS, rows_of(made_run(200, 20, 20))[RUNS], strict=True))
    insert = (
        f"INSERT INTO {RUNS} (id, session, label, started_ns, schema, document) VALUES (?, ?, ?, ?, ?, ?)"
    )
    database = open_database(url)
    for start in range(0, number, _BATCH):
        with database.writing() as connection:
            rows = [_row(row, number, n) for n in range(start, min(number, start + _BATCH))]
            connection.execute_many(insert, rows)
    database.close()


def _row(row: dict[str, str | int | bytes | None], number: int, n: int) -> tuple[str | int, ...]:
    """Return the columns of one of the runs, which differ in id, label and start."""
    run_id, label = (
        blake2b(f"{n}".encode(), digest_size=8).hexdigest(),
        f"step-{n % (max(10, number // _RUNS_OF_LABEL))}",
    )
    started_ns = time_ns() - (number - n) * _DAYS * 86_400 * 10**9 // number
    document = str(row["document"])
    for old, new in ((row["id"], run_id), (row["label"], label), (row["started_ns"], started_ns)):
        document = document.replace(str(old), str(new))
    return run_id, f"session-{n // 4}", label, started_ns, str(row["schema"]), document


def _of_command(name: str, url: str, command: str, quick: bool) -> Iterator[Figure]:
    argv = [sys.executable, "-m", "profkit", *command.split()]
    environ = {**caching_environment(Path("compiled")), "PROFKIT_STORE": url}
    taken = [taken_by(argv, environ) for _ in range(2 if quick else 6)]
    detail, (seconds, megabytes) = f"{len(taken)} runs", _COMMANDS[command]
    what = f"{name}, {command}"
    yield median_figure(f"{what}: processor time", [one.cpu_s for one in taken], "s", seconds, detail)
    memory = [one.peak_bytes / 1e6 for one in taken]
    yield median_figure(f"{what}: peak resident memory", memory, "MB", megabytes, detail)


class _Explained(ServerConnection):
    """A connection that notes how long the server takes for each query."""

    taken_ms = 0.0

    def execute(self, sql: str, *values: Value) -> list[Row]:
        """Execute a query, and once more to have it explained."""
        (((plan,),),) = super().execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}", *values)
        self.taken_ms += plan["Execution Time"]
        return super().execute(sql, *values)


def _lookups(url: str) -> Iterator[Figure]:
    opened = ServerPlace.of(url).connect()
    opened.execute(f"VACUUM ANALYZE {RUNS}")
    with opened:
        known = ServerConnection(opened)
        last, *_, first = page(known, None, None, 200)
        lookups: dict[str, Callable[[Connection], object]] = {
            "newest run": lambda connection: matching(connection, None),
            "run of an id": lambda connection: matching(connection, first[0]),
            "newest run of a label": lambda connection: matching(connection, "step-5"),
            "run of the beginning of an id": lambda connection: matching(connection, first[0][:6]),
            "name that no run has": lambda connection: matching(connection, "nosuch"),
            "latest labels": latest_labels,
            "all labels": all_labels,
            "second page of a list": lambda connection: page(connection, None, last, 500),
        }
        for what, look_up in lookups.items():
            explained = [_Explained(opened) for _ in range(9)]
            for connection in explained:
                look_up(connection)
            taken = [connection.taken_ms for connection in explained]
            yield median_figure(f"PostgreSQL, {what}", taken, "ms", _LOOKUP_MS, f"{len(taken)} times")


def _writers(name: str, url: str) -> Figure:
    """Return the sessions per second of writers that begin at once."""
    argv = [sys.executable, "-m", "profkit", "list", "--limit", "1"]
    environs = [
        {**caching_environment(Path("compiled")), "PROFKIT_STORE": url, "PROFKIT_SPOOL": str(_spool(name, n))}
        for n in range(_WRITERS)
    ]
    start_s = perf_counter()
    writers = [
        subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environ)
        for environ in environs
    ]
    codes = [writer.wait() for writer in writers]
    if any(codes):
        raise RuntimeError("a writer failed")
    rate = _WRITERS * _SESSIONS / (perf_counter() - start_s)
    return Figure(f"{name}, {_WRITERS} writers at once: sessions stored per second", rate, "/s")


def _spool(name: str, writer: int) -> Path:
    """Make a spool with finished sessions."""
    spool = Path(f"spool-{name}-{writer}").resolve()
    for number in range(_SESSIONS):
        head = manifest(segment(0), session=f"{name}-{writer}-{number}", plan=replace(PLAN, sampler="pyspy"))
        write_speedscope(session_folder(spool, head, deltas=(calls(F, 7),)), 0, 500)
    return spool
