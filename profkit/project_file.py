"""Settings in files: which file is a project's, and parsing of pyproject.toml, setup.cfg and the user's own.

They are read whenever a program imports profkit, so a project's file without settings is not parsed. The
project's may come with a clone of someone else's repository; the user's may say anything.
"""

from __future__ import annotations

import os
import posix
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from profkit.errors import UsageError
from profkit.regular_files import open_regular

Table = Mapping[str, object]

_ROOT_SIGNS = (".git", ".hg", ".svn")
"""Folders of version control, which are in the root of a project."""
_LARGEST_BYTES = 2**20


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """What was found; all is empty if no file has settings."""

    path: Path | None = None
    settings: Table = field(default_factory=dict)
    """Values of the table itself, by name."""
    tables: Mapping[str, Table] = field(default_factory=dict)
    """Tables below it, by name: `profile`, and those of commands."""
    error: UsageError | None = None
    """Why the file cannot be read, if so."""
    skipped: tuple[Path, ...] = ()
    """Files that were not read because they belong to another user."""


NO_FILE = ProjectFile()


def find_project_file(folder: Path | None) -> ProjectFile:
    """Return the settings of the nearest file in a folder and those above it, up to the project's root.

    A file of another user, except root, is skipped: it could redirect what is recorded here.
    """
    skipped: list[Path] = []
    for path, content, owner, parse in _candidates(folder):
        if owner not in (0, posix.geteuid()):
            skipped.append(path)
            continue
        return _parsed(path, content, parse, tuple(skipped))
    return ProjectFile(skipped=tuple(skipped)) if skipped else NO_FILE


def user_path(environ: Mapping[str, str]) -> str:
    """Return the path of the user's own file, as the XDG base directory specification has it."""
    folder = environ.get("XDG_CONFIG_HOME", "")
    if not os.path.isabs(folder):
        folder = os.path.join(environ.get("HOME", "") or os.sep, ".config")
    return os.path.join(folder, "profkit", "config.toml")


def read_user_file(path: str) -> ProjectFile:
    """Return the settings of the user's own file: those of a project's `[tool.profkit]`, at its top."""
    content, owner = _content(path)
    if not content:
        return NO_FILE
    if owner not in (0, posix.geteuid()):
        return ProjectFile(skipped=(Path(path),))
    return _parsed(Path(path), content, _toml, ())


def _candidates(folder: Path | None) -> Iterator[tuple[Path, bytes, int, _Parse]]:
    """Yield the files that mention settings of profkit, with their content and owner."""
    place = "" if folder is None else os.fspath(folder)
    while place:
        for name, (sign, parse) in _FILES.items():
            path = os.path.join(place, name)
            content, owner = _content(path)
            if sign in content:
                yield Path(path), content, owner, parse
        above = os.path.dirname(place)
        if above == place or is_root(place):
            return
        place = above


def is_root(folder: str) -> bool:
    """Return whether a folder is the root of a project, as version control has it."""
    return any(_exists(os.path.join(folder, sign)) for sign in _ROOT_SIGNS)


def _content(path: str) -> tuple[bytes, int]:
    """Return the content of a file, at most a mebibyte, and its owner; empty if it cannot be read."""
    try:
        descriptor = open_regular(path)
    except (OSError, ValueError):
        return b"", 0
    try:
        return posix.read(descriptor, _LARGEST_BYTES), posix.fstat(descriptor).st_uid
    except OSError:  # the disk
        return b"", 0
    finally:
        posix.close(descriptor)


def _exists(path: str) -> bool:
    try:
        posix.stat(path)
    except OSError:
        return False
    return True


def _parsed(path: Path, content: bytes, parse: _Parse, skipped: tuple[Path, ...]) -> ProjectFile:
    try:
        values = parse(content.decode())
    except ValueError as error:  # also of tomllib, and for other encodings
        return ProjectFile(path, error=_unreadable(path, str(error)), skipped=skipped)
    tables = {name: value for name, value in values.items() if isinstance(value, dict)}
    settings = {name: value for name, value in values.items() if name not in tables}
    return ProjectFile(path, settings, tables, skipped=skipped)


def _unreadable(path: Path, detail: str) -> UsageError:
    return UsageError(f"{path} cannot be read: {' '.join(detail.split())}", "correct it")


def _toml(text: str) -> Mapping[str, object]:
    import tomllib

    return tomllib.loads(text)


def _pyproject(text: str) -> Mapping[str, object]:
    import tomllib  # it takes milliseconds, and few projects have settings

    values = tomllib.loads(text).get("tool", {}).get("profkit", {})
    if not isinstance(values, dict):
        raise ValueError("tool.profkit is not a table")
    return values


def _setup_cfg(text: str) -> Mapping[str, object]:
    import configparser

    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(text)
    except configparser.Error as error:
        raise ValueError(str(error)) from error
    values: dict[str, object] = dict(parser["profkit"]) if "profkit" in parser else {}
    for section in parser.sections():
        if section.startswith("profkit:"):
            values[section.removeprefix("profkit:")] = dict(parser[section])
    return values


_Parse = Callable[[str], Mapping[str, object]]
_FILES: Mapping[str, tuple[bytes, _Parse]] = {
    "pyproject.toml": (b"tool.profkit", _pyproject),
    "setup.cfg": (b"[profkit", _setup_cfg),
}
"""Names of the files, the better one first, with the text that settings begin with."""


def as_text(value: object) -> str | None:
    """Return a value as an environment variable would have it; None if it cannot be one."""
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, str | int | float):
        return str(value).strip()
    return None


def as_words(value: object) -> Sequence[str] | None:
    """Return a list of words, or the words of a text between commas or on lines; None for other values."""
    if isinstance(value, str):
        return [word for part in value.splitlines() for word in map(str.strip, part.split(",")) if word]
    if isinstance(value, list | tuple) and all(isinstance(word, str) for word in value):
        return list(value)
    return None
