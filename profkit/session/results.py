"""Results of a region, read back from its sessions' folders, and their delivery to callbacks (`on_run`)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from profkit.errors import DamagedFile, ProfkitError, RunNotFound, SpoolUnavailable
from profkit.process.background import BackgroundThread
from profkit.process.guard import LOG, call_back, guarded, reraise_signal_error
from profkit.session.counters import Counters
from profkit.session.record import SessionRecord

if TYPE_CHECKING:
    from profkit.model.run import Run
    from profkit.model.session import Segment

_Stamp = tuple[int, int]
_READ: dict[tuple[Path, str, int], tuple[_Stamp, Run | None]] = {}
"""Runs that were read last, by folder, region and first segment, with the folder's state at that time."""
_MOST_READ = 30
LONGEST_PAUSE_S = 1.0
"""Maximum time for which a fork waits for a callback."""
LONGEST_CALL_S = 60.0
"""Maximum time for which the end of the program waits for a callback that has begun."""


def runs_in(folders: Sequence[Path], region_id: str, first_segment: int = 0) -> Iterator[Run]:
    """Yield a region's runs in the folders of sessions, in their order, as `slow_path.results_of`.

    A session that was never started, or whose folder is gone, has no run. Raises SpoolUnavailable if the
    recordings are no longer readable, as after a change of user.
    """
    try:
        for folder in folders:
            if (run := _run_in(folder, region_id, first_segment)) is not None:
                yield run
    except OSError as error:
        reraise_signal_error(error)
        raise SpoolUnavailable(folders[0].parent, error.strerror or str(error)) from error


def current_id(counters: Counters, spool: Path) -> str | int:
    """Return the id of a region's newest run, or its remote id, without reading the result."""
    from profkit.ingest.read import run_id

    remote = [segment.remote_id for segment in _segments(counters, spool) if segment.remote_id is not None]
    return int(remote[-1]) if remote else run_id(counters.sessions[-1], counters.region.id)


def is_lost(counters: Counters, spool: Path) -> bool:
    """Return whether the samples of the newest session's last segment are lost."""
    segments = _segments(counters, spool)
    return not segments or segments[-1].error is not None


def _segments(counters: Counters, spool: Path) -> tuple[Segment, ...]:
    """Return the segments of a region's newest session; none if its folder is gone."""
    from profkit.store.spool import read_session

    try:
        return read_session(spool / counters.sessions[-1]).manifest.segments
    except DamagedFile as error:
        reraise_signal_error(error)
        return ()


def _run_in(folder: Path, region_id: str, first_segment: int) -> Run | None:
    stamp = _stamp(folder)
    if stamp is None:
        return None
    key = folder, region_id, first_segment
    known = _READ.get(key)
    if known is not None and known[0] == stamp:
        return known[1]
    from profkit.ingest.read import read_runs

    runs = {run.info.region.id: run for run in read_runs(folder, first_segment=first_segment).runs}
    _READ.pop(key, None)
    for oldest in list(_READ)[: 1 - _MOST_READ]:
        _READ.pop(oldest, None)
    _READ[key] = stamp, runs.get(region_id)
    return runs.get(region_id)


def _stamp(folder: Path) -> _Stamp | None:
    from profkit.store.spool import CALLS, MANIFEST

    try:
        calls = folder / CALLS
        return (folder / MANIFEST).stat().st_mtime_ns, calls.stat().st_size if calls.exists() else 0
    except FileNotFoundError:
        return None


class Deliveries:
    """Callbacks that are due: the end of a session adds them, and a thread of their own calls them."""

    def __init__(self, store_url: str) -> None:
        self._store_url = store_url
        self._due: deque[tuple[Path, Counters]] = deque()
        self._thread: BackgroundThread | None = None

    def add(self, session: SessionRecord) -> None:
        """Add the callbacks of a session's regions; it has ended."""
        for counters in session.counters:
            if counters.policy.on_run is not None:
                self._due.append((session.folder, counters))

    def call_in_background(self) -> None:
        """Start a thread that calls those that are due, unless one does."""
        if self._due and (self._thread is None or not self._thread.is_alive()):
            self._thread = BackgroundThread(guarded("calling on_run", self.call))
            with suppress(RuntimeError):  # the interpreter is ending: `finish` calls them
                self._thread.start()

    def wait(self, timeout_s: float) -> bool:
        """Wait until no thread calls one any more; return whether that is so."""
        thread = self._thread
        return thread is None or thread.is_current() or thread.await_end(timeout_s)

    def finish(self) -> None:
        """Call those that are left, at the end of the program."""
        if not self.wait(LONGEST_CALL_S):
            LOG.warning("a callback `on_run` still runs %g s after the end; it is left", LONGEST_CALL_S)
        self.call()

    def call(self) -> None:
        """Call the callbacks that are due; what one raises is logged."""
        while self._due:
            try:
                folder, counters = self._due.popleft()
            except IndexError:  # another thread took it
                return
            self._call(folder, counters)

    def forget(self) -> None:
        """Drop all: in a forked child they are the parent's."""
        self._due.clear()
        self._thread = None

    def _call(self, folder: Path, counters: Counters) -> None:
        label, on_run = counters.region.key.label, counters.policy.on_run
        try:
            run = self._run(folder, counters.region.id)
        except ProfkitError as error:
            LOG.warning("the run of %r cannot be passed to on_run: %s", label, error)
            return
        if run is not None and on_run is not None:
            call_back(on_run, run, f"on_run of {label!r}")

    def _run(self, folder: Path, region: str) -> Run | None:
        found = next(runs_in((folder,), region), None)
        return found if found is not None else self._kept(folder.name, region)

    def _kept(self, session: str, region: str) -> Run | None:
        """Return a run that a command moved to the store meanwhile, None if there is none."""
        from profkit.ingest.read import run_id
        from profkit.model.run import Run
        from profkit.store.runs import open_store

        with open_store(self._store_url) as store:
            try:
                run = store.load(run_id(session, region))
            except RunNotFound:
                return None
        return run if isinstance(run, Run) else None
