"""git commands for comparing commits: look up revisions, and check commits out into temporary work trees.

A work tree is linked to the user's repository while it exists, as git-worktree(1) describes. Nothing else
in the repository changes: no branch, no index, no checked-out file. No hook runs.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from profkit.errors import GitFailed, ToolMissing, UsageError
from profkit.process.procfs import start_ticks
from profkit.process.signals import signals_delayed

_QUIET = (
    "core.hooksPath=/dev/null", "core.fsmonitor=false", "advice.detachedHead=false",
    "submodule.recurse=false", "gc.auto=0", "maintenance.auto=false",
)  # fmt: skip
"""Settings that disable everything else `git worktree add` might start in the user's repository."""

_OF_A_REPOSITORY = (
    "GIT_DIR", "GIT_COMMON_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_PREFIX",
)  # fmt: skip
"""Variables that make git work on another repository than that of its current folder."""

_TREES = "profkit-git-{pid}-{ticks}-{random}"
_OURS = re.compile(r"profkit-git-(\d+)-(\d+)-[0-9a-f]+")


def checkout_of(folder: Path) -> Path:
    """Return the top folder of the checkout around a folder; raises UsageError if there is none."""
    try:
        return Path(_git(folder, "rev-parse", "--show-toplevel"))
    except GitFailed as error:
        raise UsageError(f"{folder} is not in a git checkout: {error.detail}", "run this in one") from error


def commit_of(revision: str, folder: Path) -> str:
    """Return the commit that a revision (gitrevisions(7)) names; raises UsageError if it names none.

    The message names the cause if the repository is a shallow clone, the default in CI.
    """
    try:
        return _git(folder, "rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}")
    except GitFailed as error:
        checkout_of(folder)
        if _git(folder, "rev-parse", "--is-shallow-repository") == "true":
            raise UsageError(
                f"{revision!r} is not a commit of this shallow clone",
                "fetch the rest: git fetch --unshallow --tags (in CI, check out with fetch-depth: 0)",
            ) from error
        raise UsageError(f"{revision!r} is not a commit here", "give a branch, a tag or a commit") from error


def commit_times_s(commits: Sequence[str], folder: Path) -> dict[str, int]:
    """Return the Unix times of those commits that the repository around the folder has.

    Empty if there is no repository or no git.
    """
    if not commits:
        return {}
    listing = ("rev-list", "--no-walk=unsorted", "--ignore-missing", "--timestamp", "--end-of-options")
    try:
        lines = _git(folder, *listing, *commits).splitlines()
    except (GitFailed, ToolMissing):
        return {}
    return {commit: int(time_s) for time_s, _, commit in (line.partition(" ") for line in lines)}


@contextmanager
def work_trees(checkout: Path, commits: Sequence[str]) -> Iterator[tuple[Path, ...]]:
    """Check out each commit into a temporary folder, always removed at the end.

    Also removes work trees that killed processes left behind. Raises GitFailed.
    """
    remove_stale(checkout)
    folder = _new_folder()
    # Names have equal length: instruction counts depend slightly on the length of paths.
    trees = tuple(folder / f"{number:03}" for number in range(len(commits)))
    try:
        folder.mkdir(mode=0o700)
        for tree, commit in zip(trees, commits, strict=True):
            _git(checkout, "worktree", "add", "--quiet", "--detach", str(tree), commit)
        yield trees
    finally:
        with signals_delayed():
            _remove(checkout, folder, trees)


def has_submodules(tree: Path) -> bool:
    """Return whether a tree has submodules, which are empty in work trees."""
    return (tree / ".gitmodules").is_file()


def remove_stale(checkout: Path) -> None:
    """Remove profkit's work trees of processes that have ended, and no others. Raises GitFailed."""
    listed = _git(checkout, "worktree", "list", "--porcelain").splitlines()
    for line in listed:
        tree = Path(line.removeprefix("worktree "))
        ours = _OURS.fullmatch(tree.parent.name) if line.startswith("worktree ") else None
        if ours is not None and start_ticks(int(ours[1])) != int(ours[2]):
            _remove(checkout, tree.parent, (tree,))


def _new_folder() -> Path:
    """Return a folder path that identifies its process, even after that process has ended."""
    pid = os.getpid()
    name = _TREES.format(pid=pid, ticks=start_ticks(pid) or 0, random=os.urandom(4).hex())
    return Path(os.path.realpath(tempfile.gettempdir())) / name


def _remove(checkout: Path, folder: Path, trees: Sequence[Path]) -> None:
    for tree in trees:
        # A second --force also removes an unfinished work tree; git may not know all of them.
        with suppress(GitFailed):
            _git(checkout, "worktree", "remove", "--force", "--force", str(tree))
    shutil.rmtree(folder, ignore_errors=True)


def _git(folder: Path, *arguments: str) -> str:
    """Run git and return its output; raises GitFailed, or ToolMissing if there is no git."""
    program = shutil.which("git")
    if program is None:
        raise ToolMissing("git", "comparing commits", "install it: apt-get install git")
    settings = [word for setting in _QUIET for word in ("-c", setting)]
    done = subprocess.run(
        [program, "-C", str(folder), *settings, *arguments],
        env=_environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True,
        errors="surrogateescape", check=False,
        start_new_session=True,  # so that Ctrl-C does not end git in the middle of a removal
    )  # fmt: skip
    if done.returncode != 0:
        raise GitFailed(" ".join(arguments[:2]), done.stderr.strip())
    return done.stdout.strip()


def _environment() -> dict[str, str]:
    """Return our environment, with English messages, without a hook's variables for another repository."""
    kept = {name: value for name, value in os.environ.items() if name not in _OF_A_REPOSITORY}
    return kept | {"LC_ALL": "C.UTF-8", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"}
