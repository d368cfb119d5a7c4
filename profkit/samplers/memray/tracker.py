"""Memray's tracker in this process: one at a time, from the start of a call to its end.

It writes a capture of all allocations into a file, which another process reads.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from logging import ERROR
from pathlib import Path
from typing import TYPE_CHECKING

from profkit.errors import SamplerError, SamplerFailed
from profkit.model.region import MEMRAY
from profkit.process.guard import reraise_signal_error
from profkit.regular_files import own_folder

if TYPE_CHECKING:
    from memray import Tracker

_ONE_ONLY = "No more than one Tracker"
"""Beginning of memray's message about another tracker."""


class TrackerMissing(SamplerError):
    """Memray, which tracks memory and reads what it has written, cannot be imported."""

    def __init__(self, detail: str) -> None:
        self.detail = detail
        super().__init__(f"mode='memory' needs memray ({detail}); install it: pip install 'profkit[memory]'")


class TrackerBusy(SamplerError):
    """The process has another tracker of memray, and there can be only one."""

    def __init__(self) -> None:
        super().__init__(
            "another tracker of memray is active in this process, which can have only one; run the program "
            "without `memray run`, or end that Tracker before the call"
        )


_active: list[Tracking] = []
"""The tracking that goes on, if any."""
_hooks: list[None] = []
"""Not empty if `stop_all` is registered for forks."""


class Tracking:
    """A tracker that has been started; `stop` ends it."""

    __slots__ = ("_tracker",)

    def __init__(self, tracker: Tracker) -> None:
        self._tracker: Tracker | None = tracker
        _active.append(self)

    def stop(self) -> None:
        """End the tracker and complete its file; do nothing if that is done."""
        tracker = self._tracker
        if tracker is not None:
            tracker.__exit__(None, None, None)
        self._tracker = None  # forgotten when it has ended: an interrupt may come before
        if self in _active:
            _active.remove(self)


def stop_all() -> None:
    """End a tracker that is active, such as one whose caller an interrupt has made forget it.

    In a forked child that removes memray's hooks; its file is the parent's, and memray leaves it alone.
    """
    for tracking in list(_active):
        tracking.stop()


def _stop_in_children() -> None:
    # After memray is imported: it holds a lock from its own hook before a fork to the one after it, and the
    # latter must come first.
    if not _hooks:
        _hooks.append(None)
        os.register_at_fork(after_in_child=stop_all)


def version() -> str | None:
    """Return memray's version, None if it is not installed; does not import it."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as version_of

    try:
        return version_of(MEMRAY)
    except PackageNotFoundError:
        return None


def start_tracking(file: Path, *, python_allocators: bool) -> Tracking:
    """Start memray's tracker on this process, with a new file; nothing is left if that fails.

    Raises TrackerMissing if memray is not installed, TrackerBusy if another tracker runs, and SamplerFailed.
    """
    is_new = MEMRAY not in sys.modules
    try:
        from memray import FileDestination, Tracker
        from memray._memray import set_log_level
    except ImportError as error:
        raise TrackerMissing(str(error)) from error
    if is_new:  # the program does not use memray itself: its remarks on symbols are not the program's output
        set_log_level(ERROR)
    if sys.getprofile() is not None:
        raise SamplerFailed(
            MEMRAY, "start",
            "a profile function is set (sys.setprofile, as by cProfile), and it would replace that one",
            "end that profiler before the call",
        )  # fmt: skip
    # Not compressed: that would hold the program up. Not buffered: a killed program leaves what it wrote.
    try:
        with own_folder(file.parent) as folder:
            path = f"/proc/self/fd/{folder}/{file.name}"
            destination = FileDestination(path, overwrite=False, compress_on_exit=False)
            tracker = Tracker(destination=destination, trace_python_allocators=python_allocators)
    except Exception as error:
        raise _failure(error, file) from error
    _stop_in_children()
    try:
        tracker.__enter__()
        return Tracking(tracker)
    except BaseException as error:
        if not _is_busy(error):
            with suppress(Exception):  # a signal handler may have raised when it was just entered
                tracker.__exit__(None, None, None)
        if not isinstance(error, Exception):
            file.unlink(missing_ok=True)
            raise
        raise _failure(error, file) from error


def _is_busy(error: BaseException) -> bool:
    return str(error).startswith(_ONE_ONLY)


def _failure(error: Exception, file: Path) -> SamplerError:
    """Return the error for a failed start, and remove its file; raises the program's own exception."""
    file.unlink(missing_ok=True)
    reraise_signal_error(error)
    if _is_busy(error):
        return TrackerBusy()
    fix = "free space on its disk, or set PROFKIT_SPOOL to a folder on another one"
    return SamplerFailed(MEMRAY, "start", str(error) or type(error).__name__, fix)
