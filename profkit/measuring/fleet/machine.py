"""What a job finds where it runs: versions, and the lock by which one job at a time is measured there."""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from profkit.clock import SYSTEM_CLOCK
from profkit.regular_files import open_regular
from profkit.version import VERSION

LOCK = Path("/tmp/profkit-measuring.lock")
"""File of the lock: one for all users and jobs of a machine, so it does not depend on TMPDIR."""
_TRY_EVERY_S = 0.1


def versions() -> dict[str, str]:
    """Return the versions that must be equal where orders are packed and where they are measured."""
    return {"profkit": VERSION, "Python": sys.version.split()[0], "torch": _torch()}


def differing(here: Mapping[str, str], there: Mapping[str, str]) -> list[str]:
    """Describe the versions that differ between two processes."""
    return [
        f"{name} {there.get(name, 'unknown')} instead of {known}"
        for name, known in here.items()
        if there.get(name) != known
    ]


def _torch() -> str:
    from importlib.metadata import PackageNotFoundError, version  # slow to import

    try:
        return version("torch")  # importing it would take seconds
    except PackageNotFoundError:
        return "none"


def machine_id() -> str:
    """Return a name that workers share if, and only if, they share the lock."""
    descriptor = _open_lock()
    status = os.fstat(descriptor)
    os.close(descriptor)
    return f"{os.uname().nodename}:{status.st_dev}:{status.st_ino}"


@contextmanager
def alone_on_machine(*, wait: bool, is_wanted: Callable[[], bool]) -> Iterator[bool]:
    """Hold the machine's lock; yield whether it is held. The system releases it if this process ends.

    Without `wait`, it is not held if another process has it, else only if nobody wants the job any more.
    """
    descriptor = _open_lock()
    try:
        held = _locked(descriptor)
        while not held and wait and is_wanted():
            SYSTEM_CLOCK.sleep(_TRY_EVERY_S)
            held = _locked(descriptor)
        yield held
    finally:
        # Closing is not enough: a child that was forked meanwhile may still hold the descriptor.
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _open_lock() -> int:
    """Open the file for reading, which other users may do as well."""
    with suppress(FileExistsError):
        os.close(os.open(LOCK, os.O_RDONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644))
    return open_regular(LOCK, os.O_NOFOLLOW)
