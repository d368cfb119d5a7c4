"""What a manifest says of the process: the commit is read as git itself tells it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from profkit.process.manifest import git_commit, process_info


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


def test_a_branch(checkout: Path) -> None:
    assert git_commit(checkout / "deep" / "er") == git(checkout, "rev-parse", "HEAD")


def test_packed_references(checkout: Path) -> None:
    git(checkout, "pack-refs", "--all")
    assert git_commit(checkout) == git(checkout, "rev-parse", "HEAD")


def test_a_detached_head(checkout: Path) -> None:
    git(checkout, "checkout", "-q", "--detach")
    assert git_commit(checkout) == git(checkout, "rev-parse", "HEAD")


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
