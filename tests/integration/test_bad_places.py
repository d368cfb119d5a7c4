"""Where profkit cannot work the program does: it says so, once, and leaves nothing running."""

from __future__ import annotations

from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.integration.harness import (
    AUTO,
    NO_SUPERUSER,
    PREFERS_READER,
    PROGRAMS,
    await_samplers_end,
    listed,
    run_program,
)

pytestmark = pytest.mark.sampler

BEHAVED = "15 calls\n"
CALLS = 15 + 10
"""Of the function, and entries of blocks."""
DISK = (f"{AUTO} failed at stop", f"{AUTO} failed at sampling")
"""On a busy machine, the file is full before the stop."""
SPOOL = "the spool "


def run(folder: Path, scenario: str, *, launcher: tuple[str, ...] = ()) -> CompletedProcess[str]:
    done = run_program(folder, [str(PROGRAMS / "bad_places.py"), scenario], launcher=launcher, code=0)
    await_samplers_end(folder)
    return done


def test_a_program_that_replaces_what_profkit_needs_leaves_no_folder(tmp_path: Path) -> None:
    text = (
        "import json; json.dumps = None\n"
        "from profkit import profile\n"
        "print(profile()(lambda: 'called')())"
    )  # fmt: skip
    done = run_program(tmp_path, ["-c", text])
    assert done.stdout == "called\n"
    assert len(done.stderr.splitlines()) == 1
    assert list((tmp_path / ".profkit" / "spool").glob("[!.]*")) == []


def said(done: CompletedProcess[str]) -> list[str]:
    lines = done.stderr.splitlines()
    assert len(lines) == len(set(lines)), done.stderr
    return lines


@pytest.mark.outside
@pytest.mark.parametrize(
    ("scenario", "told"),
    [
        ("full", [SPOOL]),
        ("full_after_the_manifest", [SPOOL, *DISK]),
        ("full_after_some_samples", [*DISK]),
        ("filled", [SPOOL]),
        ("no_more_files", [SPOOL]),
        ("spool_removed", [SPOOL, *DISK]),
        ("folder_removed", [SPOOL, *DISK]),
    ],
)
def test_what_cannot_be_written_is_reported_once(tmp_path: Path, scenario: str, told: list[str]) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    done = run(folder, scenario)
    assert done.stdout == BEHAVED
    lines = said(done)
    assert 0 < len(lines) <= 4
    assert all(any(part in line for part in told) for line in lines), done.stderr


@pytest.mark.parametrize(
    ("scenario", "more"),
    [("elsewhere", "False\n"), ("closed_files", "[0, 1, 2] 0\n"), ("no_environment", "")],
)
def test_elsewhere_everything_works(tmp_path: Path, scenario: str, more: str) -> None:
    done = run(tmp_path, scenario)
    assert (done.stdout, done.stderr) == (BEHAVED + more, "")
    runs = listed(tmp_path)
    assert sum(run["calls"] for run in runs) == CALLS
    assert sum(run["samples"] for run in runs) > 15


def test_a_folder_that_is_read_only(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    done = run(tmp_path, "elsewhere", launcher=NO_SUPERUSER)
    assert done.stdout == f"{BEHAVED}False\n"
    assert [line.split(" cannot be used: ")[1].split(";")[0] for line in said(done)] == 2 * [
        "Permission denied"
    ]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.outside
def test_what_a_full_disk_left_is_read(tmp_path: Path) -> None:
    run(tmp_path, "full_after_some_samples")
    runs = listed(tmp_path)
    assert sum(run["calls"] for run in runs) == CALLS + 1
    if PREFERS_READER:  # it writes as it goes
        (cut,) = [run for run in runs if run["label"] == "deep"]
        assert cut["calls"] == 1
        assert cut["error"] or any(note["code"] == "segment-failed" for note in cut["notes"])
        return
    (lost,) = [run for run in runs if any(note["code"] == "file-unreadable" for note in run["notes"])]
    assert (lost["label"], lost["calls"], lost["samples"]) == ("deep", 1, 0)
    assert len(list((tmp_path / ".profkit" / "spool" / "damaged").rglob("*.speedscope.json"))) == 1
