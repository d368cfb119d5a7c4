"""Where settings of a project are found, and files that are not read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profkit import project_file
from profkit.project_file import (
    NO_FILE,
    ProjectFile,
    as_words,
    find_project_file,
    read_user_file,
    user_path,
)
from profkit.regular_files import open_regular

PYPROJECT = '[tool.profkit]\nspool-limit = "2GB"\n[tool.profkit.report]\nlimit = 7\n'
SETUP_CFG = "[profkit]\nspool-limit = 2GB\n[profkit:report]\nlimit = 7\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The root of a project: nothing above it counts."""
    (tmp_path / ".git").mkdir()
    return tmp_path


def test_a_project_without_settings_has_none(root: Path) -> None:
    (root / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    (root / "setup.cfg").mkdir()
    assert find_project_file(root) == find_project_file(None) == NO_FILE


@pytest.mark.parametrize(
    ("name", "text", "limit"), [("pyproject.toml", PYPROJECT, 7), ("setup.cfg", SETUP_CFG, "7")]
)
def test_settings_are_found_from_the_folder_and_from_below(
    root: Path, name: str, text: str, limit: object
) -> None:
    (root / name).write_text(text)
    below = root / "a" / "b"
    below.mkdir(parents=True)
    expected = ProjectFile(root / name, {"spool-limit": "2GB"}, {"report": {"limit": limit}})
    assert find_project_file(root) == find_project_file(below) == expected


def test_the_nearest_file_with_settings_counts_and_pyproject_before_setup_cfg(root: Path) -> None:
    near = root / "near"
    near.mkdir()
    (root / "setup.cfg").write_text(SETUP_CFG)
    (near / "pyproject.toml").write_text("[tool.other]\n")
    assert find_project_file(near).path == root / "setup.cfg"
    (root / "pyproject.toml").write_text(PYPROJECT)
    assert find_project_file(near).path == root / "pyproject.toml"
    (near / "setup.cfg").write_text(SETUP_CFG)
    assert find_project_file(near).path == near / "setup.cfg"


def test_nothing_above_the_root_of_a_project_counts(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(PYPROJECT)
    root = tmp_path / "project"
    (root / ".git").mkdir(parents=True)
    assert find_project_file(root) == NO_FILE


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("pyproject.toml", "[tool.profkit\n", "line 1"),
        ("pyproject.toml", "[tool]\nprofkit = 1  # [tool.profkit]\n", "tool.profkit is not a table"),
        ("setup.cfg", "[profkit]\nspool\n", "line"),
        ("setup.cfg", "[profkit]\n[profkit]\n", "already exists"),
    ],
)
def test_a_file_that_cannot_be_parsed(root: Path, name: str, text: str, words: str) -> None:
    (root / name).write_text(text)
    found = find_project_file(root)
    assert found.error is not None
    assert words in str(found.error)
    assert str(root / name) in str(found.error)
    assert (dict(found.settings), dict(found.tables)) == ({}, {})


def test_another_encoding(root: Path) -> None:
    (root / "pyproject.toml").write_bytes(PYPROJECT.encode() + b"\xff")
    assert "can't decode" in str(find_project_file(root).error)


def test_a_file_of_another_user_is_skipped(root: Path) -> None:
    below = root / "below"
    below.mkdir()
    (below / "pyproject.toml").write_text(PYPROJECT)
    os.chown(below / "pyproject.toml", 12345, -1)
    assert find_project_file(below) == ProjectFile(skipped=(below / "pyproject.toml",))
    (root / "setup.cfg").write_text(SETUP_CFG)
    found = find_project_file(below)
    assert (found.path, found.skipped) == (root / "setup.cfg", (below / "pyproject.toml",))


def test_a_pipe_does_not_stop_the_program(root: Path) -> None:
    os.mkfifo(root / "pyproject.toml")
    assert find_project_file(root) == NO_FILE


@settings(max_examples=50)
@given(st.lists(st.text("abc-_*.", min_size=1)))
def test_words_of_a_list_and_of_a_text_are_the_same(words: list[str]) -> None:
    assert as_words(words) == as_words(", ".join(words)) == as_words("\n".join(words)) == words
    assert as_words([1]) is as_words(1) is None


@pytest.mark.parametrize(
    ("environ", "path"),
    [
        ({"HOME": "/home/ann"}, "/home/ann/.config/profkit/config.toml"),
        ({"HOME": "/home/ann", "XDG_CONFIG_HOME": "/etc/ann"}, "/etc/ann/profkit/config.toml"),
        ({"HOME": "/home/ann", "XDG_CONFIG_HOME": "relative"}, "/home/ann/.config/profkit/config.toml"),
        ({}, "/.config/profkit/config.toml"),
    ],
)
def test_where_the_users_file_is(environ: dict[str, str], path: str) -> None:
    assert user_path(environ) == path


def test_the_users_file_has_the_same_settings_at_its_top(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    assert read_user_file(str(file)) == NO_FILE
    file.write_text('spool-limit = "2GB"\n[report]\nlimit = 7\n')
    expected = ProjectFile(file, {"spool-limit": "2GB"}, {"report": {"limit": 7}})
    assert read_user_file(str(file)) == expected
    file.write_text("[report\n")
    assert "cannot be read" in str(read_user_file(str(file)).error)


def test_a_pipe_in_place_of_a_file_is_not_opened(root: Path) -> None:
    os.mkfifo(root / "pyproject.toml")
    writer = os.open(root / "pyproject.toml", os.O_RDWR | os.O_NONBLOCK)
    try:
        os.write(writer, PYPROJECT.encode())
        assert find_project_file(root) == NO_FILE
        assert os.read(writer, 4096) == PYPROJECT.encode(), "nobody else has read it"
    finally:
        os.close(writer)


def test_the_owner_is_that_of_what_was_read(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another user's file is exchanged with one of this user's as soon as it is open."""
    path, own = root / "pyproject.toml", root / "own.toml"
    own.write_text("[tool.profkit]\nspool = 'mine'\n")
    path.write_text("[tool.profkit]\nspool = 'theirs'\n")
    os.chown(path, 65534, 65534)

    def exchanging(name: str) -> int:
        descriptor = open_regular(name)
        if name == os.fspath(path) and own.exists():
            own.rename(path)
        return descriptor

    monkeypatch.setattr(project_file, "open_regular", exchanging)
    assert find_project_file(root) == ProjectFile(skipped=(path,))
    assert find_project_file(root).settings == {"spool": "mine"}
