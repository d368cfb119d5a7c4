"""Folders that stand for /proc/PID, as the kernel has them of a process and its threads."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PID = 4_194_305
"""Above the largest pid that Linux gives out."""

VARIABLES = 0x5000
"""An address in the interpreter's variables."""
FUTEX = {"x86_64": 202, "aarch64": 98}[os.uname().machine]
MAPS = """\
00001000-00002000 r-xp 00000000 08:01 1 /usr/bin/python3.11
00004000-00005000 rw-p 00000000 08:01 1 /usr/bin/python3.11
00005000-00006000 rw-p 00000000 00:00 0
00008000-00009000 rw-p 00000000 00:00 0 [heap]
0000a000-0000b000 rw-p 00000000 08:01 2 /usr/lib/libc.so.6
"""


class MadeProcess:
    """A process without threads, in a folder used instead of /proc."""

    def __init__(self, proc: Path, pid: int = PID) -> None:
        self.pid, self.folder = pid, proc / str(pid)
        (self.folder / "task").mkdir(parents=True)
        (self.folder / "stat").touch()
        (self.folder / "maps").write_text(MAPS)

    def thread(
        self, tid: int, letter: str, call: str = "running", times: tuple[int, ...] = (0, 0, 0)
    ) -> None:
        """Add or change a thread: the letter of its state, its system call and its times."""
        folder = self.folder / "task" / str(tid)
        folder.mkdir(exist_ok=True)
        (folder / "stat").write_text(f"{tid} (a) R (b)) {letter} 1 2 3\n")
        (folder / "syscall").write_text(f"{call}\n")
        (folder / "schedstat").write_text(" ".join(map(str, times)) + "\n")
        (folder / "children").touch()

    def end(self, tid: int) -> None:
        """Remove a thread."""
        shutil.rmtree(self.folder / "task" / str(tid))

    def be_listed(self, lists: int = 1) -> None:
        """Do what a sampler does at the beginning of a round."""
        for _ in range(lists):
            os.listdir(self.folder / "task")
        os.close(os.open(self.folder / "stat", os.O_RDONLY))


def futex(address: int) -> str:
    """The system call of a thread that waits for the futex at an address."""
    return f"{FUTEX} {address:#x} 0x80 0x0"


@contextmanager
def new_files_closed() -> Iterator[None]:
    """Close the files that were not open before: observers live as long as their process."""
    before = set(os.listdir("/proc/self/fd"))
    yield
    for name in set(os.listdir("/proc/self/fd")) - before:
        with suppress(OSError):  # the list itself
            os.close(int(name))
