"""Two commits measured in work trees: what is measured, and that the user's repository is left as it was."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from profkit.errors import GitFailed, UsageError
from profkit.process.git import checkout_of, commit_of, commit_times_s, remove_stale, work_trees
from tests.integration.harness import environment, run_program
from tests.support.waiting import until
from tests.unit.cli.commands.test_compare import git

SLOW = "def run():\n    return sum(range({}))\n"
QUICK = ("--quick", "--min-run-time", "20ms")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Three commits: the code, much slower, broken; then files changed, staged and never added."""
    folder = tmp_path / "checkout"
    (folder / "src").mkdir(parents=True)
    (folder / "bench").mkdir()
    git(folder, "init", "-q", "-b", "trunk", ".")
    (folder / "bench" / "data.txt").write_text("here")
    (folder / ".gitignore").write_text(".profkit\n")
    for tag, text in (("v1", SLOW.format(2000)), ("v2", SLOW.format(20_000)), ("v3", "1 / 0")):
        (folder / "src" / "work.py").write_text(text)
        git(folder, "add", ".")
        git(folder, "commit", "-q", "-m", tag)
        git(folder, "tag", tag)
    hook = folder / ".git" / "hooks" / "post-checkout"
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/hooked\n")
    hook.chmod(0o755)
    (folder / "src" / "work.py").write_text("raise SystemExit('the checkout itself was measured')")
    (folder / "staged.txt").write_text("staged")
    git(folder, "add", "staged.txt")
    (folder / "never-added.txt").write_text("mine")
    return folder


@pytest.fixture
def temporary(tmp_path: Path) -> Path:
    folder = tmp_path / "tmp"
    folder.mkdir()
    return folder


def state(folder: Path) -> dict[str, str]:
    """Every file of a checkout, those in .git as well, but what profkit itself keeps."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and ".profkit" not in path.parts)
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def compare(
    checkout: Path, temporary: Path, *arguments: str, folder: str = "bench"
) -> subprocess.CompletedProcess[str]:
    return run_program(
        checkout / folder,
        ["-m", "profkit", "compare", *arguments],
        environ=environment(TMPDIR=str(temporary), GIT_DIR="/nowhere"),
    )


@pytest.mark.alone  # it asserts a ratio of times
@pytest.mark.valgrind
@pytest.mark.slow
def test_each_commit_is_measured_as_it_is(checkout: Path, temporary: Path) -> None:
    before = state(checkout)
    statement = "work.run(); assert open('data.txt').read() == 'here'"
    done = compare(
        checkout, temporary, "--git", "v1", "v2", "--mode", "timer+callgrind", *QUICK,
        "--setup", "import work", "--json", "--", statement,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (order,) = json.loads(done.stdout)["orders"]
    assert (order["times"]["verdict"], order["times"]["design"]) == ("slower", "alternating")
    assert order["times"]["minimum_detectable_effect"] > 0
    assert 2 < order["times"]["ratio"] < 12
    assert order["instructions"]["delta"] > 18_000 * 20
    assert order["instructions"]["functions"][0]["delta"] > 0
    commits = [order[side]["runs"][0]["git_commit"] for side in "ab"]
    assert commits == [git(checkout, "rev-parse", tag) for tag in ("v1", "v2")]
    assert state(checkout) == before
    assert list(temporary.glob("profkit-git-*")) == []
    assert not (checkout.parent / "hooked").exists()

    done = run_program(checkout / "bench", ["-m", "profkit", "history", statement, "--json"])
    times, counts = json.loads(done.stdout)["series"]
    assert [point["commit"] for point in times["points"]] == commits
    assert counts["points"][1]["beyond_noise"]


def test_what_fails_at_one_commit_is_reported_and_cleaned_up(checkout: Path, temporary: Path) -> None:
    before = state(checkout)
    done = compare(
        checkout, temporary, "--git", "v2", "v3", *QUICK, "--no-keep", "--", "work:run", folder="."
    )
    assert done.returncode == 3
    commit = git(checkout, "rev-parse", "v3")[:10]
    assert f"'work:run at {commit}' raised ZeroDivisionError" in done.stdout
    assert state(checkout) == before
    assert list(temporary.glob("profkit-git-*")) == []


def test_a_checkout_that_is_imported_all_the_same_is_no_commit(checkout: Path, temporary: Path) -> None:
    """As by the import hook of an editable install."""
    git(checkout, "checkout", "-q", "-f", "v2")
    setup = f"import sys; sys.path.insert(0, {str(checkout / 'src')!r}); import work"
    done = compare(checkout, temporary, "--git", "v1", "v2", *QUICK, "--setup", setup, "--", "work.run()")
    assert done.returncode == 3
    assert (
        f"work was imported from {checkout / 'src' / 'work.py'}, which is not in the commit's work tree"
        in done.stdout
    )


def _in_folder(temporary: Path) -> list[int]:
    """The processes that have this folder for temporary files: the command, and those that work for it."""
    processes = psutil.process_iter(["environ"])
    return [p.pid for p in processes if (p.info["environ"] or {}).get("TMPDIR") == str(temporary)]


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_an_end_from_outside_cleans_up(checkout: Path, temporary: Path, ending: signal.Signals) -> None:
    before = state(checkout)
    program = subprocess.Popen(
        [sys.executable, "-m", "profkit", "compare", "--git", "v1", "v2", "--", "while True: pass"],
        cwd=checkout, env=environment(TMPDIR=str(temporary)), stderr=subprocess.PIPE, stdout=subprocess.PIPE,
        start_new_session=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    until(lambda: len(list(temporary.glob("profkit-git-*/*/src"))) == 2)
    until(lambda: len(_in_folder(temporary)) > 1, "it starts no interpreter to measure with")
    program.send_signal(ending)
    program.communicate(timeout=30)
    assert program.returncode == (130 if ending is signal.SIGINT else -ending)
    assert state(checkout) == before
    assert list(temporary.glob("profkit-git-*")) == []


def test_what_a_killed_process_left_goes_and_what_others_have_stays(
    checkout: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    before = state(checkout)
    stale, users = temporary / f"profkit-git-{os.getpid()}-1-0f" / "000", temporary / "mine"
    git(checkout, "worktree", "add", "--detach", str(stale), "v1")
    git(checkout, "worktree", "lock", str(stale))
    git(checkout, "worktree", "add", "--detach", str(users), "v1")
    with work_trees(checkout, [commit_of("v1", checkout)]) as (tree,):
        assert not stale.exists()
        remove_stale(checkout)
        assert (tree / "src" / "work.py").read_text() == SLOW.format(2000)
        assert f"-{os.getpid()}-" in tree.parent.name
    assert (users / "src").is_dir()
    git(checkout, "worktree", "remove", str(users))
    assert state(checkout) == before


def test_half_made_trees_go_as_well(checkout: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    before = state(checkout)
    with (
        pytest.raises(GitFailed, match="worktree add"),
        work_trees(checkout, [commit_of("v1", checkout), "0" * 40]),
    ):
        raise AssertionError
    assert state(checkout) == before
    assert list(temporary.glob("profkit-git-*")) == []


def test_commits_by_name(checkout: Path, tmp_path: Path) -> None:
    assert checkout_of(checkout / "bench") == checkout
    assert commit_of("trunk~1", checkout / "bench") == commit_of("v2", checkout)
    times_s = commit_times_s([commit_of("v2", checkout), "0" * 40, commit_of("v1", checkout)], checkout)
    assert list(times_s) == [commit_of("v2", checkout), commit_of("v1", checkout)]
    assert times_s == {name: int(git(checkout, "log", "-1", "--format=%ct", name)) for name in times_s}
    assert commit_times_s(list(times_s), tmp_path) == {}
    for name in ("nowhere", "--all", "v1:src/work.py", ""):
        with pytest.raises(UsageError, match="is not a commit"):
            commit_of(name, checkout)
    shallow = tmp_path / "shallow"
    git(tmp_path, "clone", "-q", "--depth", "1", checkout.as_uri(), str(shallow))
    with pytest.raises(UsageError, match="'v1' is not a commit of this shallow clone; fetch the rest: git "):
        commit_of("v1", shallow)
    with pytest.raises(UsageError, match="not in a git checkout"):
        commit_of("v1", tmp_path)
    with pytest.raises(UsageError, match="not in a git checkout"):
        checkout_of(tmp_path)


def test_two_statements_in_the_same_processes(tmp_path: Path) -> None:
    done = run_program(
        tmp_path,
        [
            "-m",
            "profkit",
            "compare",
            "--ab",
            "sum(x)",
            "sum(x); sum(x)",
            "--setup",
            "x = list(range(200))",
            *QUICK,
            "--json",
        ],
    )
    assert done.returncode == 0, done.stderr
    (order,) = json.loads(done.stdout)["orders"]
    assert (order["times"]["verdict"], order["times"]["design"]) == ("slower", "interleaved")
    assert 1.6 < order["times"]["ratio"] < 2.4
    assert order["times"]["sizes"] == [6, 6]
    ids = [order[side]["runs"][0]["id"] for side in "ab"]
    kept = run_program(tmp_path, ["-m", "profkit", "compare", *ids, "--format", "markdown"])
    assert "timed: interleaved, block by block in the same processes" in kept.stdout


def test_a_comparison_in_a_file_is_a_message_as_well(tmp_path: Path) -> None:
    command = ["-m", "profkit", "compare", "--ab", "sum(range(9))", "sum(nothing)", *QUICK]
    for options, wrote in ((("-o", "ab.html"), "wrote ab.html"), (("--html",), "the report is in profkit-")):
        done = run_program(tmp_path, [*command, *options])
        assert (done.returncode, done.stdout) == (3, "")
        assert "raised NameError: name 'nothing' is not defined" in done.stderr
        assert wrote in done.stderr
