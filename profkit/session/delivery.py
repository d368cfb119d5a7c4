"""Delivery of finished runs to the program's callbacks (`on_run`)."""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from profkit.errors import ProfkitError
from profkit.process.background import BackgroundThread
from profkit.process.guard import LOG, call_back, guarded
from profkit.session.counters import Counters
from profkit.session.record import SessionRecord
from profkit.session.results import runs_in

if TYPE_CHECKING:
    from profkit.model.run import Run


LONGEST_PAUSE_S = 1.0
"""Maximum time for which a fork waits for a callback."""
LONGEST_CALL_S = 60.0
"""Maximum time for which the end of the program waits for a callback that has begun."""


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
        from profkit.errors import RunNotFound
        from profkit.ingest.read import run_id
        from profkit.model.run import Run
        from profkit.store.runs import open_store

        with open_store(self._store_url) as store:
            try:
                run = store.load(run_id(session, region))
            except RunNotFound:
                return None
        return run if isinstance(run, Run) else None
