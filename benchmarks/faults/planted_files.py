"""What another user, or a repository, has planted where profkit records and reads: none of it is followed."""

from __future__ import annotations

import os
import sqlite3
import stat
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.faults.injections import Injection, Outcome
from benchmarks.faults.sandbox import PROGRAMS, Sandbox, await_status, sandbox

_OTHER = 65534
"""Id of another user."""
_COMMANDS = (
    ("list", "--json"), ("report",), ("report", "--html", "-o", "page.html"),
    ("export", "--format", "speedscope", "-o", "export.json"), ("measure", "--quick", "sum(range(9))"),
    ("history", "first"), ("gc", "--keep", "1"),
)  # fmt: skip
_CODES = (0, 1, 2, 3, 4, 5, 6, 7)
_PROGRAM_S = 60.0
_SESSION = "20260101T000000-4194303-0a1b2c3d"
"""Id of a session whose process has ended."""


@dataclass(frozen=True, slots=True)
class _Place:
    """A sandbox, and a private folder beside it, whose files profkit may neither change nor show."""

    box: Sandbox
    private: Path

    @property
    def data(self) -> Path:
        """Folder of profkit's files."""
        return self.box.work / ".profkit"

    def foreign(self, path: Path, mode: int | None = None) -> None:
        """Give a file, a folder or a link to the other user."""
        os.chown(path, _OTHER, _OTHER, follow_symlinks=False)
        if mode is not None:
            path.chmod(mode)

    def link(self, path: Path, target: str) -> None:
        """Make a link of the other user's to a private file or folder."""
        path.symlink_to(self.private / target)
        self.foreign(path)


def inject(injection: Injection) -> Outcome:
    """Plant files, run a program and each command, and compare the private files."""
    name, plant = injection.variant(tuple(_PLANTS.items()))
    if os.geteuid():
        return Outcome(injected=0, not_run="files can be given to another user by root alone")
    with sandbox() as box:
        secret = f"important-{uuid.uuid4().hex}"
        place = _Place(box, _private(box, secret))
        plant(place)
        before = _state(place)
        outcome = _program(box, name)
        for command in _COMMANDS:
            done = box.command(*command)
            if (problem := done.problem(_CODES)) is not None:
                outcome = outcome.with_problem(f"{name}: {problem}")
            if secret in done.stdout + done.stderr:
                outcome = outcome.with_problem(f"{name}: {' '.join(command)} prints a private file")
        for page in _pages(box):
            if secret in page.read_text("utf-8", "replace"):
                outcome = outcome.with_problem(f"{name}: {page.name} shows a private file")
        after = _state(place)
        for path in sorted(before.keys() | after.keys()):
            if before.get(path) != after.get(path):
                outcome = outcome.with_problem(f"{name}: {path} was changed", changed=1)
        box.await_end()
        _remove(place.data)
        return box.counted(outcome)


def _program(box: Sandbox, name: str) -> Outcome:
    """Run a profiled program, which ends as without profkit."""
    with box.started([str(PROGRAMS / "phases.py"), str(box.log)]) as program:
        status = await_status(program, _PROGRAM_S)
    if status or box.output("stdout") != "30 calls\n" or "Traceback" in box.output():
        said = f"{box.output('stdout')}{box.output()}"[-400:]
        return Outcome().with_problem(f"{name}: the program ended with {status}: {said}", changed=1)
    return Outcome()


def _private(box: Sandbox, secret: str) -> Path:
    """Make the files that are planted links' targets, and a database of another program."""
    private = box.root / "private"
    private.mkdir(0o700)
    for name in ("notes", "manifest.json", "calls.jsonl", "script.py"):
        (private / name).write_text(f"{secret} = 1\n", "ascii")
    (private / "settings.toml").write_text(f"[tool.profkit]\nspool = '{secret}'\n", "ascii")
    with sqlite3.connect(private / "app.db") as connection:
        connection.execute("CREATE TABLE customers (name TEXT)")
    connection.close()
    return private


def _state(place: _Place) -> dict[str, tuple[int, int, bytes]]:
    """Return mode, owner and content of each private file, and of each in a folder of the other user's."""
    found = {}
    for path in [place.private, *place.private.rglob("*"), *place.box.work.rglob("*")]:
        status, above = path.lstat(), path.parent.lstat()
        if not path.is_relative_to(place.private) and _OTHER not in (status.st_uid, above.st_uid):
            continue
        content = path.read_bytes() if stat.S_ISREG(status.st_mode) else b""
        found[str(path.relative_to(place.box.root))] = status.st_mode, status.st_uid, content
    return found


def _pages(box: Sandbox) -> list[Path]:
    names = ("page.html", "export.json")
    return [path for name in names if (path := box.work / name).is_file() and not path.is_symlink()]


def _remove(data: Path) -> None:
    """Remove profkit's folder with what was planted in it: nothing of it is a leftover."""
    if data.is_symlink():
        data.unlink()
    for folder, names, files in os.walk(data, topdown=False):
        for name in (*files, *names):
            path = Path(folder, name)
            path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()


def _record(box: Sandbox) -> None:
    if _program(box, "recording").problems or not box.spool.exists():
        raise RuntimeError("nothing was recorded")


def _folder(place: _Place) -> None:
    place.data.mkdir()
    place.foreign(place.data, 0o777)


def _spool(place: _Place) -> None:
    place.box.spool.mkdir(parents=True)
    place.foreign(place.box.spool, 0o777)


def _open_spool(place: _Place) -> None:
    place.box.spool.mkdir(parents=True)
    place.box.spool.chmod(0o777)


def _folder_link(place: _Place) -> None:
    place.link(place.data, ".")


def _spool_link(place: _Place) -> None:
    place.data.mkdir()
    place.link(place.box.spool, ".")


def _session_link(place: _Place) -> None:
    place.box.spool.mkdir(0o700, parents=True)
    place.link(place.box.spool / _SESSION, ".")


def _sessions_files(place: _Place) -> None:
    session = place.box.spool / _SESSION
    session.mkdir(0o700, parents=True)
    for name in ("manifest.json", "calls.jsonl"):
        place.link(session / name, name)


def _foreign_sessions(place: _Place) -> None:
    _record(place.box)
    for path in (place.data, *place.data.rglob("*")):
        place.foreign(path)


def _store(place: _Place) -> None:
    _record(place.box)
    place.box.command("list")  # makes it
    place.foreign(place.data / "runs.db", 0o666)


def _store_link(place: _Place) -> None:
    place.data.mkdir(0o700)
    place.link(place.data / "runs.db", "app.db")


def _store_nowhere(place: _Place) -> None:
    place.data.mkdir(0o700)
    place.link(place.data / "runs.db", "new.db")


def _output_links(place: _Place) -> None:
    for name in ("page.html", "export.json"):
        place.link(place.box.work / name, "notes")


def _pipe(place: _Place) -> None:
    for name in ("pyproject.toml", "setup.cfg"):
        os.mkfifo(place.box.work / name)


def _settings_link(place: _Place) -> None:
    place.link(place.box.work / "pyproject.toml", "settings.toml")


def _foreign_settings(place: _Place) -> None:
    _settings(place)
    place.foreign(place.box.work / "pyproject.toml")


def _settings(place: _Place) -> None:
    """As a clone of a repository has them: the file is this user's, and its content someone else's."""
    private = place.private
    code = f"open({os.fspath(private / 'ran')!r}, 'w')"
    (place.box.work / "pyproject.toml").write_text(
        f"""\
[tool.profkit]
spool = "{private}/spool"
store = "sqlite:///{private}/app.db"

[tool.profkit.report]
output = "{private}/notes"
source-root = "{private}"

[tool.profkit.export]
output = "{private}/notes"

[tool.profkit.measure]
setup = "{code}"
python = "{private}/script.py"
""",
        "ascii",
    )


_PLANTS: Mapping[str, Callable[[_Place], None]] = {
    "another user's .profkit": _folder,
    "another user's spool": _spool,
    "a spool that others can change": _open_spool,
    "a link for .profkit": _folder_link,
    "a link for the spool": _spool_link,
    "a link for a session": _session_link,
    "links in a session": _sessions_files,
    "another user's sessions": _foreign_sessions,
    "another user's store": _store,
    "a link for the store": _store_link,
    "a link to nowhere for the store": _store_nowhere,
    "links for pages and exports": _output_links,
    "pipes for project files": _pipe,
    "a link for a project file": _settings_link,
    "another user's project file": _foreign_settings,
    "a repository's project file": _settings,
}
COUNT = len(_PLANTS)
