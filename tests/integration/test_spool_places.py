"""The spool on a disk that fills up, above its limit, of another user, and with links in it."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from profkit.config import read_config
from tests.integration.harness import PROGRAMS, environment, listed, profkit, run_program
from tests.support.cli_runs import finished_session

SOMEBODY = 54321
CALLS = """
from profkit import profile
@profile(label={label!r})
def work():
    import time
    time.sleep(0.1)
work()
"""


def in_small_disk(folder: Path, options: str, *commands: list[str]) -> subprocess.CompletedProcess[str]:
    """Run commands one after another with a small disk of their own on `FOLDER/disk`."""
    (folder / "disk").mkdir()
    mount = f"mount -t tmpfs -o {options} small {shlex.quote(str(folder / 'disk'))}"
    lines = [mount, *(shlex.join([sys.executable, *command]) for command in commands)]
    environ = environment(
        PROFKIT_SPOOL=str(folder / "disk" / "spool"), PROFKIT_STORE=f"sqlite:///{folder}/runs.db"
    )
    return subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-ec", "\n".join(lines)],
        cwd=folder, env=environ, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


@pytest.mark.sampler
@pytest.mark.parametrize(("what", "options"), [("SPACE", "size=100k"), ("INODES", "nr_inodes=20")])
@pytest.mark.slow
def test_a_run_says_that_the_disk_was_full_and_when(tmp_path: Path, what: str, options: str) -> None:
    disk = str(tmp_path / "disk")
    done = in_small_disk(
        tmp_path, options,
        [str(PROGRAMS / "disk_filled.py"), what, disk],
        ["-c", f"import glob, os; [os.unlink(path) for path in glob.glob({disk + '/fill*'!r})]"],
        ["-m", "profkit", "list", "--json"],
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    full, listed = done.stdout.split("\n", 1)
    assert full == "full"
    (run,) = json.loads(listed)["runs"]
    assert run["state"] == "FAILED"
    assert "No space left on device; free space on its disk" in run["error"]
    assert run["error"].endswith(" UTC)")
    assert run["calls"] > 0
    assert "call it longer" not in done.stderr.lower()


@pytest.mark.sampler
@pytest.mark.slow
def test_the_limit_drops_the_oldest_session_and_says_so_once(tmp_path: Path) -> None:
    spool = tmp_path / ".profkit" / "spool"
    run_program(tmp_path, ["-c", CALLS.format(label="first")])
    (spool / ".checked").unlink(missing_ok=True)
    again = run_program(
        tmp_path, ["-c", CALLS.format(label="second")], environ=environment(PROFKIT_SPOOL_LIMIT="1KB")
    )
    assert "the oldest session" in again.stderr
    assert "was deleted unread" in again.stderr
    first, second = (profkit(tmp_path, "list", "--json") for _ in range(2))
    assert first.stdout == second.stdout
    (run,) = json.loads(second.stdout)["runs"]
    assert run["label"] == "second"
    assert "PROFKIT_SPOOL_LIMIT (1.00 KiB)" in first.stderr
    assert second.stderr == ""


@pytest.mark.sampler
def test_a_session_that_ended_counts_its_lines_and_leaves_no_reserve(tmp_path: Path) -> None:
    run_program(tmp_path, ["-c", CALLS.format(label="f")])
    (folder,) = (tmp_path / ".profkit" / "spool").glob("2*")
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["lines"] == {"regions": 1, "calls": 1, "resources": 2, "threads": 0}
    assert not (folder / "reserve.json").exists()


def test_the_spool_of_another_user_needs_the_option(tmp_path: Path) -> None:
    folder = finished_session(read_config({}, tmp_path), "s-1")
    spool = folder.parent
    # Only root can give files away: anybody else is refused by naming somebody else.
    is_root = os.geteuid() == 0
    if is_root:
        for path in (spool, folder, *folder.iterdir()):
            os.chown(path, SOMEBODY, -1)
    owner = () if is_root else ("--owner", str(SOMEBODY))
    refused = profkit(tmp_path, *owner, "list", "--json", code=7)
    assert refused.stderr.count("\n") == 1
    assert "profkit --owner" in refused.stderr
    assert folder.exists()
    taken = profkit(tmp_path, "--owner", str(SOMEBODY if is_root else os.geteuid()), "list", "--json")
    assert [run["label"] for run in json.loads(taken.stdout)["runs"]] == ["f"]
    assert not folder.exists()
    assert {path.stat().st_uid for path in spool.rglob("*")} <= {spool.stat().st_uid}


def test_a_user_that_there_is_none_is_named(tmp_path: Path) -> None:
    done = profkit(tmp_path, "--owner", "nobody-at-all", "list", code=2)
    assert done.stdout == ""
    assert "there is no user 'nobody-at-all'" in done.stderr


@pytest.mark.parametrize("name", ["manifest.json", "calls.jsonl", "segment-000.speedscope.json"])
def test_commands_neither_wait_for_a_pipe_nor_read_an_endless_device(tmp_path: Path, name: str) -> None:
    for session, make in (("s-1", os.mkfifo), ("s-2", lambda path: os.symlink("/dev/zero", path))):
        folder = finished_session(read_config({}, tmp_path), session)
        (folder / name).unlink()
        make(folder / name)
    program = ["-m", "profkit", "list", "--json"]
    limited = ("prlimit", f"--as={2**30}", "--cpu=20")
    done = run_program(tmp_path, program, launcher=limited, code=0)
    assert "it is a named pipe" in done.stderr
    assert "it is a symbolic link" in done.stderr


@pytest.mark.sampler
@pytest.mark.slow
def test_a_folder_whose_name_is_not_utf_8(tmp_path: Path) -> None:
    """py-spy takes no such path: the program runs, says so once, and no command fails."""
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff"))
    odd.mkdir()
    of_pyspy = CALLS.format(label="f").replace("@profile(", "@profile(sampler='pyspy', ")
    done = run_program(odd, ["-c", of_pyspy + "print(work())"])
    assert (done.returncode, done.stdout) == (0, "None\n")
    (line,) = done.stderr.splitlines()
    assert "not UTF-8, which py-spy does not support; set PROFKIT_SPOOL" in line
    for command in (["list"], ["report"], ["report", "--html", "-o", "page.html"], ["list", "--json"]):
        assert "Traceback" not in profkit(odd, *command).stderr
    elsewhere = environment(PROFKIT_SPOOL=str(tmp_path / "spool"))
    done = run_program(odd, ["-c", CALLS.format(label="f")], environ=elsewhere)
    assert done.stderr == ""
    taken = listed(odd, PROFKIT_SPOOL=str(tmp_path / "spool"))
    assert max(run["samples"] for run in taken) > 0
