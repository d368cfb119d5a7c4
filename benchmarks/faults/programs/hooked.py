"""Run a program, and break its disk just before its N-th write: `hooked.py SPEC PROGRAM ARGUMENTS…`.

SPEC is JSON: `disk` (a folder that is a tmpfs), `variant`, `write` (counted from 1), `pages` (that stay free
on a full disk) and `log`. PROGRAM is a path, or `-m` and a module. Writes are Python's audit events for
opening a file to write, creating, renaming or removing it.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import runpy
import shutil
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

FILLER = "filler"
_PAGE = 4096
_WRITES = ("os.mkdir", "os.rename", "os.link", "os.symlink", "os.truncate")
_ELSEWHERE = ("/proc", "/dev", "/sys")
_MS_RDONLY, _MS_REMOUNT, _MS_BIND = 1, 32, 4096
_LIBC = ctypes.CDLL(None, use_errno=True)


class Breaker:
    """Audit hook that breaks the disk."""

    def __init__(self, disk: str, variant: str, write: int, log: str, pages: int = 0) -> None:
        self._disk, self._variant, self._pages = Path(disk), variant, pages
        self._left, self._log, self._pid = write, log, os.getpid()

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Count the event if it is a write, and break the disk at the requested one."""
        if self._left > 0 and os.getpid() == self._pid and self._is_write(event, arguments):
            self._left -= 1
            if not self._left:
                break_disk(self._disk, self._variant, self._pages)
                with open(self._log, "a") as log:
                    log.write(f"fault {event} {arguments[0]!r}\n".replace("\n ", " "))

    def _is_write(self, event: str, arguments: tuple[Any, ...]) -> bool:
        path = str(arguments[0]) if arguments else ""
        if path == self._log or path.startswith(_ELSEWHERE):
            return False
        if event == "open":
            flags = arguments[2] if isinstance(arguments[2], int) else 0
            return bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
        return event in _WRITES


def break_disk(disk: Path, variant: str, pages: int) -> None:
    """Break a tmpfs: `full`, `inodes`, `read-only` or `removed`."""
    if variant == "full":
        _fill(disk / FILLER, pages)
    elif variant == "inodes":
        (disk / f"{FILLER}s").mkdir()
        with suppress(OSError):
            for number in range(1 << 20):
                (disk / f"{FILLER}s" / str(number)).touch()
    elif variant == "read-only":
        _make_read_only(str(disk))
    else:
        for path in disk.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def repair_disk(disk: Path) -> None:
    """Undo `break_disk`, except for removed files."""
    while _LIBC.umount2(str(disk / ".profkit").encode(), 0) == 0:
        pass
    _mount(None, str(disk), _MS_REMOUNT)
    (disk / FILLER).unlink(missing_ok=True)
    shutil.rmtree(disk / f"{FILLER}s", ignore_errors=True)


def _fill(path: Path, pages: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        with suppress(OSError):
            while os.write(descriptor, bytes(_PAGE)):
                pass
        os.ftruncate(descriptor, max(0, os.fstat(descriptor).st_size - pages * _PAGE))
    finally:
        os.close(descriptor)


def _make_read_only(disk: str) -> None:
    """Remount the file system; if it has open writers, mount a read-only view over the spool."""
    if _mount(None, disk, _MS_REMOUNT | _MS_RDONLY) == 0:
        return
    if ctypes.get_errno() != errno.EBUSY:
        raise OSError(ctypes.get_errno(), "mount")
    spool = f"{disk}/.profkit"
    if _mount(spool, spool, _MS_BIND) or _mount(None, spool, _MS_REMOUNT | _MS_BIND | _MS_RDONLY):
        raise OSError(ctypes.get_errno(), "mount")


def _mount(source: str | None, target: str, flags: int) -> int:
    origin = None if source is None else source.encode()
    result: int = _LIBC.mount(origin, target.encode(), None, ctypes.c_ulong(flags), None)
    return result


def main(spec: str, program: str, *arguments: str) -> None:
    """Install the hook and run the program."""
    sys.addaudithook(Breaker(**json.loads(spec)))
    if program == "-m":
        module, *rest = arguments
        sys.argv = [module, *rest]
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    else:
        sys.argv = [program, *arguments]
        sys.path[0] = str(Path(program).parent)
        runpy.run_path(program, run_name="__main__")


if __name__ == "__main__":
    main(*sys.argv[1:])
