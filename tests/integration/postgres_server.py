"""A PostgreSQL server for tests: its own folder, a unix socket, gone at the end."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg import sql

_USER = "postgres"


@contextmanager
def running_server() -> Iterator[str]:
    """Start a server and yield its URL; initdb refuses root, so root lends it to the user `postgres`."""
    # Not in pytest's own folders, which only root may enter; and a socket's path must be short.
    home = Path(tempfile.mkdtemp(prefix="profkit-postgres-", dir="/tmp"))
    if os.geteuid() == 0:
        shutil.chown(home, _USER, _USER)
    data = home / "data"
    try:
        _run(home, "initdb", "-D", data, "-U", _USER, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        start_server(home)
        try:
            yield f"postgresql://{_USER}@/postgres?host={home}"
        finally:
            _run(home, "pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(home)


def start_server(home: Path) -> None:
    """Start the server whose folder is in `home`, for the first time or after it was killed."""
    options = f"-c listen_addresses='' -c fsync=off -k {home}"
    _run(home, "pg_ctl", "-D", home / "data", "-o", options, "-l", home / "log", "-w", "start")


def new_database(server: str) -> str:
    """Make a database on a server, and return its URL."""
    name = f"test_{uuid.uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
    return server.replace("/postgres?", f"/{name}?")


def _run(home: Path, program: str, *arguments: str | Path) -> None:
    command = [_program(program), *map(str, arguments)]
    if os.geteuid() == 0:
        user = pwd.getpwnam(_USER)
        command = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--init-groups", *command]
    # To a file, for the server inherits it and would keep a pipe open.
    with (home / "output").open("a+") as output:
        done = subprocess.run(command, cwd=home, stdout=output, stderr=output, check=False)
        output.seek(0)
        assert done.returncode == 0, output.read()


def _program(name: str) -> str:
    """Debian keeps the server's programs off PATH, in a folder per version."""
    installed = sorted(
        Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda path: int(path.parts[-3])
    )
    found = str(installed[-1]) if installed else shutil.which(name)
    assert found, f"{name} is missing: install the package postgresql"
    return found
