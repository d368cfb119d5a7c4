"""Nothing in a spool makes profkit read, wait for or delete anything else."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from profkit.errors import DamagedFile, RefusedFile, SpoolUnavailable
from profkit.store.clearing import remove_folder
from profkit.store.files import open_spool
from profkit.store.spool import session_folders
from tests.support.spool_folders import open_folder, set_aside

SOMEBODY = os.geteuid() + 1

SWAPPED = """
import os, sys
from pathlib import Path
from profkit.store.clearing import remove_folder

root, moment = Path(sys.argv[1]), int(sys.argv[2])
spool, victim = root / "spool", root / "victim"
folder, doomed = spool / "s1", spool / ".s1.removed"
(folder / "inner").mkdir(parents=True)
victim.mkdir()
for place in (folder, folder / "inner", victim):
    for name in ("manifest.json", "precious"):
        (place / name).write_text("text")
state = {"armed": False, "seen": 0}

def swap(event, arguments):
    steps = ("os.rename", "os.remove", "os.rmdir", "os.scandir", "os.listdir", "open")
    if not state["armed"] or event not in steps:
        return
    state["seen"] += 1
    if state["seen"] == moment:
        state["armed"] = False
        level = sys.argv[3]
        for place in (folder, doomed):
            target = place if level == "top" else place / "inner"
            if target.is_dir() and not target.is_symlink():
                target.rename(root / "moved")
                target.symlink_to(victim)
                break

sys.addaudithook(swap)
state["armed"] = True
try:
    remove_folder(folder)
except Exception as error:
    print(type(error).__name__, file=sys.stderr)
state["armed"] = False
print(state["seen"], sorted(path.name for path in victim.iterdir()))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "spool" / "s1"
    made.mkdir(parents=True)
    return made


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_link(path: Path) -> None:
    target = path.parents[2] / "elsewhere"
    target.write_text("{}")
    path.symlink_to(target)


def make_device_link(path: Path) -> None:
    path.symlink_to("/dev/zero")


def make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        here = os.open(path.parent, os.O_PATH)
        server.bind(f"/proc/self/fd/{here}/{path.name}")  # names of sockets are short
        os.close(here)


@pytest.mark.parametrize("make", [make_pipe, make_link, make_device_link, make_socket])
def test_only_regular_files_are_read(folder: Path, make: object) -> None:
    make(folder / "manifest.json")  # type: ignore[operator]
    with open_folder(folder) as opened, pytest.raises(RefusedFile, match="it is a"):
        opened.read("manifest.json", 1000)
    assert os.path.lexists(folder / "manifest.json")


def test_files_of_another_user_are_refused(folder: Path) -> None:
    (folder / "manifest.json").write_text("{}")
    with open_folder(folder) as opened:
        opened.owner = SOMEBODY
        with pytest.raises(RefusedFile, match="belongs to user"):
            opened.read("manifest.json", 1000)
        assert [refused.path.name for refused in opened.empty()] == ["manifest.json"]
    assert (folder / "manifest.json").exists()


@pytest.mark.parametrize("limit", [5000, 2**35])
def test_a_larger_file_is_not_read(folder: Path, limit: int) -> None:
    """To read a sparse file up to the larger limit would take many minutes."""
    with (folder / "manifest.json").open("wb") as file:
        file.truncate(2**40)
    larger = pytest.raises(DamagedFile, match=f"larger than the limit of {limit} bytes")
    with open_folder(folder) as opened, larger:
        opened.read("manifest.json", limit)


def test_a_folder_that_is_a_link_is_not_opened(folder: Path) -> None:
    folder.with_name("s2").symlink_to(folder)
    with open_folder(folder.parent) as spool, pytest.raises(RefusedFile, match="symbolic link"):
        spool.folder("s2")
    with pytest.raises(RefusedFile):
        set_aside(folder.parent, folder.with_name("s2"))
    with pytest.raises(RefusedFile):
        remove_folder(folder.with_name("s2"))
    assert folder.with_name("s2").is_symlink()


def test_the_spool_itself_may_be_a_link(folder: Path, tmp_path: Path) -> None:
    (folder / "calls.jsonl").touch()
    (tmp_path / "link").symlink_to(folder.parent)
    assert session_folders(tmp_path / "link") == (tmp_path / "link" / "s1",)


def test_the_spool_of_another_user_is_refused_and_the_option_named(folder: Path) -> None:
    with pytest.raises(SpoolUnavailable, match=r"belongs to user .*profkit --owner "):
        open_spool(folder.parent, SOMEBODY)
    with pytest.raises(SpoolUnavailable, match=r"profkit --owner "):
        session_folders(folder.parent, SOMEBODY)


def test_what_is_refused_stays_and_everything_else_is_removed(folder: Path) -> None:
    (folder / "manifest.json").write_text("{}")
    (folder / "inner").mkdir()
    (folder / "inner" / "link").symlink_to("/")
    with pytest.raises(RefusedFile, match="symbolic link"):
        remove_folder(folder)
    assert [str(path.relative_to(folder)) for path in folder.rglob("*")] == ["inner", "inner/link"]


@pytest.mark.parametrize("level", ["top", "inner"])
def test_a_link_that_is_swapped_in_at_any_step_is_not_followed(tmp_path: Path, level: str) -> None:
    """The swap happens within the operation, at each system call that Python announces."""
    for moment in range(1, 100):
        command = [sys.executable, "-c", SWAPPED, str(tmp_path / str(moment)), str(moment), level]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        seen, left = done.stdout.strip().split(" ", 1)
        assert left == "['manifest.json', 'precious']", (moment, done.stderr)
        if int(seen) < moment:  # there is no such step any more
            break
    assert 5 < moment < 99


def test_another_process_may_complete_a_removal(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    remove = os.rmdir

    def remove_twice(name: str, **place: int) -> None:
        remove(name, **place)
        remove(name, **place)

    monkeypatch.setattr(os, "rmdir", remove_twice)
    remove_folder(folder)
    assert list(folder.parent.iterdir()) == []
