"""What a manifest says of the process, and the seal of that, made with the user's own key."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from profkit.model.session import ProcessInfo
from profkit.process.manifest import git_commit, is_sealed_here, key_file, process_info, sealed
from tests.support.example_sessions import GONE


def git(folder: Path, *arguments: str) -> str:
    environ = os.environ | dict.fromkeys(("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"), "x")
    environ |= dict.fromkeys(("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"), "x@x")
    done = subprocess.run(
        ["git", *arguments], cwd=folder, env=environ, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "checkout"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    (folder / "deep" / "er").mkdir(parents=True)
    return folder


@pytest.mark.parametrize("change", ["branch -m main", "pack-refs --all", "checkout -q --detach"])
def test_the_commit_of_a_checkout(checkout: Path, change: str) -> None:
    git(checkout, *change.split())
    assert git_commit(checkout / "deep" / "er") == git(checkout, "rev-parse", "HEAD")


def test_a_linked_work_tree(checkout: Path) -> None:
    tree = checkout.parent / "tree"
    git(checkout, "worktree", "add", "-q", "-b", "other", str(tree))
    git(tree, "commit", "-q", "--allow-empty", "-m", "second")
    assert git_commit(tree) == git(tree, "rev-parse", "HEAD") != git_commit(checkout)


def test_no_checkout_and_no_commit(tmp_path: Path) -> None:
    assert git_commit(tmp_path) is None
    git(tmp_path, "init", "-q")
    assert git_commit(tmp_path) is None


def test_this_process() -> None:
    info = process_info()
    assert info.pid == os.getpid()
    assert info.start_ticks > 0
    assert info.argv


@pytest.fixture
def key(tmp_path: Path) -> Path:
    return tmp_path / "state" / "profkit" / "key"


def test_a_key_is_made_once_for_its_owner_alone(key: Path) -> None:
    first, second = sealed(GONE, key), sealed(GONE, key)
    assert first.seal == second.seal != ""
    assert is_sealed_here(first, key)
    assert (key.stat().st_mode & 0o777, key.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert os.listdir(key.parent) == ["key"]


@pytest.mark.parametrize(
    "other",
    [
        replace(GONE, pid=GONE.pid + 1), replace(GONE, start_ticks=0), replace(GONE, cwd="/etc"),
        replace(GONE, argv=("x",)), replace(GONE, host="elsewhere"),
    ],
)  # fmt: skip
def test_a_seal_is_of_one_process(key: Path, other: ProcessInfo) -> None:
    seal = sealed(GONE, key).seal
    assert not is_sealed_here(replace(other, seal=seal), key)


def test_no_other_key_verifies_it(key: Path, tmp_path: Path) -> None:
    other = tmp_path / "other" / "key"
    sealed(GONE, other)
    found = sealed(GONE, key)
    assert not is_sealed_here(found, other)
    assert not is_sealed_here(replace(found, seal=""), key)
    assert not is_sealed_here(replace(found, seal="\udc80é"), key)
    assert not is_sealed_here(found, tmp_path / "missing")
    assert not is_sealed_here(found, None)


@pytest.mark.parametrize("kind", ["readable by others", "short", "a link", "a folder", "a pipe"])
def test_what_is_no_private_key_is_not_used(key: Path, tmp_path: Path, kind: str) -> None:
    key.parent.mkdir(parents=True)
    if kind == "a folder":
        key.mkdir()
    elif kind == "a pipe":
        os.mkfifo(key, 0o600)
    elif kind == "a link":
        (tmp_path / "real").write_bytes(b"k" * 32)
        (tmp_path / "real").chmod(0o600)
        key.symlink_to(tmp_path / "real")
    else:
        key.write_bytes(b"k" * (31 if kind == "short" else 32))
        key.chmod(0o644 if kind == "readable by others" else 0o600)
    assert sealed(GONE, key) == GONE
    assert os.listdir(key.parent) == ["key"]


def test_without_a_home_there_is_no_key() -> None:
    assert key_file({}) is None
    assert key_file({"HOME": "relative"}) is None
    assert key_file({"HOME": "/h"}) == Path("/h/.local/state/profkit/key")
    assert key_file({"HOME": "/h", "XDG_STATE_HOME": "/s"}) == Path("/s/profkit/key")
    assert sealed(GONE, None) == GONE
    assert sealed(GONE, Path("/proc/no/key")) == GONE
