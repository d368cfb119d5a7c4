"""git, as far as comparing commits needs it: commits by their names, and work trees for a while.

A work tree is linked to the user's repository while it exists, as git-worktree(1) describes. Nothing else
in there is touched: no branch, no index, no file that is checked out, and no hook runs.
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
from profkit.process.signals import undisturbed

_QUIET = (
    "core.hooksPath=/dev/null", "core.fsmonitor=false", "advice.detachedHead=false",
    "submodule.recurse=false", "gc.auto=0", "maintenance.auto=false",
)  # fmt: skip
"""What else `git worktree add` might start in the user's repository."""

_OF_A_REPOSITORY = (
    "GIT_DIR", "GIT_COMMON_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_PREFIX",
)  # fmt: skip
"""What tells git which repository to work on, whatever folder it is in."""

_TREES = "profkit-git-{pid}-{ticks}-{random}"
_OURS = re.compile(r"profkit-git-(\d+)-(\d+)-[0-9a-f]+")


def checkout_of(folder: Path) -> Path:
    """The top folder of the checkout around a folder; raises UsageError where there is none."""
    try:
        return Path(_git(folder, "rev-parse", "--show-toplevel"))
    except GitFailed as error:
        raise UsageError(f"{folder} is in no git checkout: {error.detail}", "go into one") from error


def commit_of(revision: str, folder: Path) -> str:
    """The commit that a revision names, as gitrevisions(7) has it; raises UsageError where it names none.

    What is missing from a shallow clone, which is what CI makes unless told otherwise, is said to be that.
    """
    try:
        return _git(folder, "rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}")
    except GitFailed as error:
        checkout_of(folder)
        if _git(folder, "rev-parse", "--is-shallow-repository") == "true":
            raise UsageError(
                f"{revision!r} names no commit of this shallow clone",
                "fetch the rest: git fetch --unshallow --tags (in CI, check out with fetch-depth: 0)",
            ) from error
        raise UsageError(f"{revision!r} names no commit here", "give a branch, a tag or a commit") from error


def commit_times_s(commits: Sequence[str], folder: Path) -> dict[str, int]:
    """When commits were made, as Unix times; without those that the repository around the folder lacks.

    Empty where there is no repository, or no git.
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
    """A folder for each commit with its files, gone at the end whatever happens.

    What earlier processes left behind because they were killed goes as well. Raises GitFailed.
    """
    remove_stale(checkout)
    folder = _new_folder()
    # Names of the same length: what a statement executes depends a little on the length of paths.
    trees = tuple(folder / f"{number:03}" for number in range(len(commits)))
    try:
        folder.mkdir(mode=0o700)
        for tree, commit in zip(trees, commits, strict=True):
            _git(checkout, "worktree", "add", "--quiet", "--detach", str(tree), commit)
        yield trees
    finally:
        with undisturbed():
            _remove(checkout, folder, trees)


def has_submodules(tree: Path) -> bool:
    """Whether files of a tree are in submodules, which work trees have empty."""
    return (tree / ".gitmodules").is_file()


def remove_stale(checkout: Path) -> None:
    """Remove work trees of processes that are gone; those of anybody else stay. Raises GitFailed."""
    listed = _git(checkout, "worktree", "list", "--porcelain").splitlines()
    for line in listed:
        tree = Path(line.removeprefix("worktree "))
        ours = _OURS.fullmatch(tree.parent.name) if line.startswith("worktree ") else None
        if ours is not None and start_ticks(int(ours[1])) != int(ours[2]):
            _remove(checkout, tree.parent, (tree,))


def _new_folder() -> Path:
    """A name that tells whose the folder is, also when that process is gone."""
    pid = os.getpid()
    name = _TREES.format(pid=pid, ticks=start_ticks(pid) or 0, random=os.urandom(4).hex())
    return Path(os.path.realpath(tempfile.gettempdir())) / name


def _remove(checkout: Path, folder: Path, trees: Sequence[Path]) -> None:
    for tree in trees:
        # Given twice it also removes one that git had not finished; git need not know all of them.
        with suppress(GitFailed):
            _git(checkout, "worktree", "remove", "--force", "--force", str(tree))
    shutil.rmtree(folder, ignore_errors=True)


def _git(folder: Path, *arguments: str) -> str:
    """What git prints; raises GitFailed, and ToolMissing where there is no git."""
    program = shutil.which("git")
    if program is None:
        raise ToolMissing("git", "comparing commits", "install it: apt-get install git")
    settings = [word for setting in _QUIET for word in ("-c", setting)]
    done = subprocess.run(
        [program, "-C", str(folder), *settings, *arguments],
        env=_environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True,
        errors="surrogateescape", check=False,
        start_new_session=True,  # Ctrl-C is ours: git must not be ended in the middle of a removal
    )  # fmt: skip
    if done.returncode != 0:
        raise GitFailed(" ".join(arguments[:2]), done.stderr.strip())
    return done.stdout.strip()


def _environment() -> dict[str, str]:
    """Ours, without what makes git work on another repository, as hooks have it; messages in English."""
    kept = {name: value for name, value in os.environ.items() if name not in _OF_A_REPOSITORY}
    return kept | {"LC_ALL": "C.UTF-8", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"}
