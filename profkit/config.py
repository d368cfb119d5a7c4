"""Configuration of places and switches: which file or variable wins, and what a project may not set.

It is read once, when profkit is imported. A variable overrides the project's file, and that the user's;
options in code and flags override all. A project's file may come with someone else's code, so it sets nothing
that leads out of its folder.
"""

from __future__ import annotations

import os
import posix
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from profkit.errors import UnknownOption, UsageError
from profkit.project_file import (
    NO_FILE,
    ProjectFile,
    as_text,
    find_project_file,
    is_root,
    read_user_file,
    user_path,
)

HOME = ".profkit"
"""Folder that profkit creates in the current folder if none above has it; its `.gitignore` contains `*`."""

NOWHERE = Path("/dev/null/no-current-folder")
"""Placeholder for a deleted current folder; nothing can be created in it."""
NO_FOLDER = "the current folder did not exist when profkit was imported"

SPOOL_LIMIT = "1GB"
"""Default maximum size of the spool, above which the oldest sessions are deleted (PROFKIT_SPOOL_LIMIT)."""

DEFAULT = "default"
"""Source of a value that is set nowhere."""
PREFIX = "PROFKIT_"
"""Beginning of the names of all variables."""
WINDOWS = f"{PREFIX}WINDOWS"
"""Variable with the default of the option `window`."""
PROFILE = "profile"
"""Name of the table, and part of the names of variables, with default options of `profile()`."""

_SQLITE = "sqlite:///"
_ON, _OFF = ("1", "true", "yes", "on"), ("0", "false", "no", "off")


class Setting(NamedTuple):
    """A value and where it is from: DEFAULT, a variable's name, or a file's path."""

    value: object
    source: str = DEFAULT


@dataclass(frozen=True, slots=True)
class Config:
    """Places of the spool and the store, and switches for profiling."""

    spool: Path
    """Folder of session folders (PROFKIT_SPOOL, else .profkit/spool)."""
    store_url: str
    """URL of SQLite or PostgreSQL (PROFKIT_STORE, else sqlite:///.profkit/runs.db)."""
    disabled: bool = False
    """PROFKIT_DISABLE: `profile()` returns the function itself."""
    children: bool = True
    """PROFKIT_CHILDREN: forked and spawned children start their own sessions."""
    spool_limit: str = SPOOL_LIMIT
    """PROFKIT_SPOOL_LIMIT, not parsed; "0" and "off" mean no limit."""
    exit_timeout: str = ""
    """PROFKIT_EXIT_TIMEOUT, not parsed: time limit for measuring when the program exits, in seconds."""
    launch: str = ""
    """PROFKIT_LAUNCH: id of the `profkit run` that started this process."""
    owner: int | None = None
    """Id of the user who must own the spool (`profkit --owner`); None is the user of this process."""
    push: str = ""
    """PROFKIT_PUSH: place to which finished sessions are sent while the program runs; may be empty."""
    file: ProjectFile = NO_FILE
    """The project's file."""
    user_file: ProjectFile = NO_FILE
    """The user's own file."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """Where each of `SETTINGS` is from."""
    profile: Mapping[str, Setting] = field(default_factory=dict)
    """Default options of `profile()`, not checked, by name; only those that are set."""
    problems: tuple[UsageError, ...] = ()
    """Mistakes in the files; what is wrong is ignored."""


SETTINGS: Mapping[str, str] = {
    "store": "PROFKIT_STORE",
    "spool": "PROFKIT_SPOOL",
    "spool-limit": "PROFKIT_SPOOL_LIMIT",
    "children": "PROFKIT_CHILDREN",
    "disable": "PROFKIT_DISABLE",
    "exit-timeout": "PROFKIT_EXIT_TIMEOUT",
    "push": "PROFKIT_PUSH",
}
"""Names in the files, each with its variable."""
_PLACES = ("store", "spool", "push")
_SWITCHES = ("children", "disable")


def read_config(
    environ: Mapping[str, str],
    cwd: Path | None,
    file: ProjectFile = NO_FILE,
    user_file: ProjectFile = NO_FILE,
) -> Config:
    """Return the configuration for an environment, a current folder (None if deleted), and files."""
    home = NOWHERE / HOME if cwd is None else find_home(cwd, environ.get("HOME", ""))
    files = _File(file, trusted=False), _File(user_file, trusted=True)
    problems = [problem for one in files for problem in (one.content.error, *_problems(one)) if problem]
    found = {name: _setting(name, environ, files) for name in SETTINGS}
    text = {name: setting.value if isinstance(setting.value, str) else "" for name, setting in found.items()}
    return Config(
        spool=(cwd or NOWHERE) / text["spool"] if text["spool"] else home / "spool",
        store_url=text["store"] or f"{_SQLITE}{home / 'runs.db'}",
        disabled=_is_on(text["disable"], default=False),
        children=_is_on(text["children"], default=True),
        spool_limit=text["spool-limit"] or SPOOL_LIMIT,
        exit_timeout=text["exit-timeout"],
        push=text["push"],
        launch=environ.get("PROFKIT_LAUNCH", ""),
        file=file,
        user_file=user_file,
        sources={name: setting.source for name, setting in found.items()},
        profile=_profile_options(environ, user_file, file),
        problems=tuple(problems),
    )


def find_home(folder: Path, user_home: str = "") -> Path:
    """Return the `.profkit` of a folder, or of the nearest folder above that has one of this user.

    Folders above the root of a project, on another file system, or from the user's home folder on, are not
    searched. If none has one, it is that of the folder itself.
    """
    own = folder / HOME
    if os.path.lexists(own):
        return own
    below, limit = folder, user_home.rstrip("/")
    try:
        device = posix.stat(folder).st_dev
        for place in folder.parents:
            if str(place) == limit or is_root(os.fspath(below)) or posix.stat(place).st_dev != device:
                break
            if _is_own_folder(place / HOME):
                return place / HOME
            below = place
    except OSError:  # a folder that cannot be searched
        pass
    return own


def _is_own_folder(path: Path) -> bool:
    """Return whether this is a folder of this user, no link, that others cannot change."""
    try:
        status = posix.lstat(path)
    except OSError:
        return False
    others = stat.S_IWGRP | stat.S_IWOTH
    return stat.S_ISDIR(status.st_mode) and status.st_uid == posix.geteuid() and not status.st_mode & others


def is_nowhere(path: Path) -> bool:
    """Return whether a configured path is below a deleted current folder."""
    return NOWHERE in (path, *path.parents)


class _File(NamedTuple):
    content: ProjectFile
    trusted: bool
    """Whether it is the user's own."""


def _setting(name: str, environ: Mapping[str, str], files: Sequence[_File]) -> Setting:
    variable = SETTINGS[name]
    given = environ.get(variable, "")
    if given.strip():
        return Setting(given if name in _PLACES else given.strip(), variable)
    for file in files:
        text = None if _problem(name, file) else as_text(_by_name(file.content.settings).get(name))
        if text:
            return Setting(_in_place(name, text, file.content), str(file.content.path))
    return Setting("")


def _in_place(name: str, text: str, file: ProjectFile) -> str:
    """Return a setting whose path, if it has a relative one, is relative to the file's folder."""
    folder = NOWHERE if file.path is None else file.path.parent
    if name == "spool":
        return str(folder / text)
    database = text.removeprefix(_SQLITE)
    if name == "store" and database != text and not database.startswith((":", "file:")):
        return _SQLITE + str(folder / database)
    return text


def _by_name(table: Mapping[str, object]) -> dict[str, object]:
    """Return a table whose names have `-` where they have `_`."""
    return {name.replace("_", "-"): value for name, value in table.items()}


def _problems(file: _File) -> Iterator[UsageError]:
    for name in _by_name(file.content.settings):
        problem = _problem(name, file)
        if problem is not None:
            yield problem


def _problem(name: str, file: _File) -> UsageError | None:
    """Return what is wrong with a setting of a file; None if it is right, or not there."""
    values, path = _by_name(file.content.settings), file.content.path
    if name not in values:
        return None
    if name not in SETTINGS:
        return UnknownOption(name, SETTINGS, f" in {path}")
    text = as_text(values[name])
    if text is None:
        return UsageError(f"{path}: {name} is not a text, number or switch", "write one value")
    if name in _SWITCHES and text.lower() not in (*_ON, *_OFF):
        return UsageError(f"{path}: {name} = {text!r} is not a switch", "write true or false")
    if name in _PLACES and path is not None and not file.trusted:
        place = _in_place(name, text, file.content).removeprefix(_SQLITE if name == "store" else "")
        if not is_below(place, path.parent):
            return NotForProjects(f"{path}: {name}", "leads out of the project", SETTINGS[name])
    return None


def is_below(place: str, folder: Path) -> bool:
    """Return whether a path is absolute and, with its links resolved, below a folder."""
    return os.path.isabs(place) and Path(os.path.realpath(folder)) in Path(os.path.realpath(place)).parents


class NotForProjects(UsageError):
    """A project's file sets what only the user may: the file may be part of someone else's repository."""

    def __init__(self, setting: str, what: str, variable: str) -> None:
        super().__init__(
            f"{setting} {what}, and a project's file may be someone else's",
            f"set it in {user_path(os.environ)}, or as {variable}",
        )


def _profile_options(environ: Mapping[str, str], *files: ProjectFile) -> dict[str, Setting]:
    start = f"{PREFIX}{PROFILE.upper()}_"
    found = {
        name.replace("-", "_"): Setting(value, str(file.path))
        for file in files
        for name, value in file.tables.get(PROFILE, {}).items()
    }
    if windows := environ.get(WINDOWS, "").strip():
        found["window"] = Setting(windows, WINDOWS)
    for variable, value in environ.items():
        if variable.startswith(start) and value.strip():
            found[variable.removeprefix(start).lower()] = Setting(value.strip(), variable)
    return found


def _is_on(value: str, *, default: bool) -> bool:
    return value.strip().lower() not in _OFF if value.strip() else default


def _current_folder() -> Path | None:
    try:
        return Path.cwd()
    except OSError:  # it was deleted, or access is denied
        return None


def _read() -> Config:
    folder = _current_folder()
    user_file = read_user_file(user_path(os.environ))
    return read_config(os.environ, folder, find_project_file(folder), user_file)


CONFIG = _read()
"""Configuration of this process, resolved at import: a later chdir has no effect."""
