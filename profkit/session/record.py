"""Record of a session in the spool: manifest, journals, and which minutes of a long session are kept."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from profkit.clock import Clock
from profkit.model.notes import Note, NoteCode
from profkit.model.region import Region
from profkit.model.session import CallDelta, Ending, Lines, Manifest, Segment
from profkit.process.guard import reraise_signal_error, suppressed
from profkit.process.membership import updated
from profkit.session.counters import Counters, forget_gone
from profkit.store import spool as files
from profkit.store.clearing import remove_folder
from profkit.store.spool_files import failure_text, make_reserve, note_ending

MOST_KEPT_S = 1200.0
"""Duration of samples above which a session keeps half of its minutes."""
_MINUTE_NS = 60 * 10**9
_AT_ONCE, _BURST_S = 20, 0.1
"""Number of regions that are always written at once, and time after a write for which others wait."""
_FLUSHING, _FLUSHING_S = 0.02, 0.05
"""Part of the time, and time besides, for which a processor may be used to write calls at their end."""


class SessionRecord:
    """Base of sessions: what is in the folder, what could not be written yet, and who takes part.

    Not thread-safe: the owner of the session calls it under its lock.
    """

    def __init__(self, spool: Path, manifest: Manifest, clock: Clock) -> None:
        """Make the folder with the manifest; raises OSError, and leaves no folder behind then.

        Nor does it if a signal handler of the program raises, or the program has patched what `save` needs.
        """
        self._manifest, self._clock = manifest, clock
        self.id = manifest.session
        self.folder = files.create_folder(spool, self.id)
        self.counters: list[Counters] = []
        """Regions that take part, the one that the session was started for first."""
        self._known: set[str] = set()
        self._unwritten_regions: list[Region] = []
        self._unwritten_calls: list[CallDelta] = []
        self._regions_written_s = float("-inf")
        self._since_s, self._spent_s = clock.monotonic_s(), 0.0
        """Start of the session, and processor time for writing calls since then."""
        self._lines = Lines()
        self._every = 1
        """Of the session's minutes, one in so many is kept."""
        self._has_reserve = self._unsaved = False
        self.failure: str | None = None
        """Reason and time of the first failed write to the folder."""
        try:
            self.save()
        except BaseException:
            remove_folder(self.folder)
            raise

    @property
    def manifest(self) -> Manifest:
        """Manifest, with changes that the next write saves."""
        return self._manifest

    @property
    def holder(self) -> str:
        """Label of the region for which the session was started."""
        return self.counters[0].region.key.label if self.counters else ""

    @property
    def open(self) -> bool:
        """True if calls may still join."""
        return self._manifest.ended_ns is None

    def save(self) -> None:
        """Write the manifest; if the disk is full, write that into the reserve and raise OSError."""
        process = updated(self._manifest.process)
        self._manifest = replace(self._manifest, lines=self._lines, process=process)
        try:
            if not self._has_reserve:
                make_reserve(self.folder)
                self._has_reserve = True
            if self.open:
                files.write_manifest(self.folder, self._manifest)
            else:
                files.close_folder(self.folder, self._manifest)
        except OSError as error:
            self._unsaved = True
            self._note_failure(error)
            raise
        self._unsaved = False

    def change(self, **changes: object) -> None:
        """Change members of the manifest and save it."""
        self._manifest = replace(self._manifest, **changes)  # type: ignore[arg-type]
        self.save()

    def add_note(self, note: Note) -> None:
        """Add a note for the report, unless it has been added."""
        if note not in self._manifest.notes:
            self.change(notes=(*self._manifest.notes, note))

    def mention(self, counters: Counters) -> None:
        """Record a region, so that it has a run in this session even if it is never called.

        The first regions are written at once, since the program may be killed. Of more, as labels that are
        made in a loop, one that comes soon after another is written with the counts of its calls.
        """
        region = counters.region
        if not counters.has_joined(self.id):
            self.counters.append(counters)
            counters.sessions.append(self.id)
        if region.id not in self._known:
            self._known.add(region.id)
            self._unwritten_regions.append(region)
        is_burst = self._clock.monotonic_s() - self._regions_written_s < _BURST_S
        if len(self._known) <= _AT_ONCE or not is_burst:
            self.write_regions()

    def drain(self) -> None:
        """Move the counts of the hot path to the folder."""
        # A region that has joined another session is counted there.
        self.write_calls(counters for counters in self.counters if counters.has_joined(self.id))
        forget_gone(self.counters)
        if self._unsaved and not self.open:
            self.save()

    def write_regions(self) -> None:
        """Write the regions that are not written yet."""
        if self._unwritten_regions:
            self.append(self._unwritten_regions)
            self._unwritten_regions.clear()
            self._regions_written_s = self._clock.monotonic_s()

    def write_calls(self, counted: Iterable[Counters]) -> bool:
        """Write what regions have counted, and what the disk refused before; return whether they counted."""
        self.write_regions()
        began_s, now_ns = time.thread_time(), self._clock.unix_ns()
        deltas = [delta for counters in counted if (delta := counters.drain(now_ns)) is not None]
        self._unwritten_calls += deltas
        refused = False
        try:
            self.append(self._unwritten_calls)
        except OSError as error:
            reraise_signal_error(error)
            refused = True
            raise
        finally:
            if not refused:  # an interrupt may come after the lines are written
                self._unwritten_calls.clear()
        self._spent_s += time.thread_time() - began_s
        return bool(deltas)

    def may_flush(self) -> bool:
        """Return whether writing each call at its end has taken only a small part of the time."""
        elapsed_s = self._clock.monotonic_s() - self._since_s
        return self._spent_s <= _FLUSHING_S + _FLUSHING * elapsed_s

    def append(self, records: Sequence[files.Record]) -> None:
        """Append lines to their journal and count them, so that a reader knows how many are lost."""
        try:
            self._lines = files.append(self.folder, records, self._lines)
        except OSError as error:
            self._note_failure(error)
            raise

    def thin_out(self) -> None:
        """Keep segments of evenly spread minutes if all are too many, so that a session may last for days."""
        *finished, running = self._manifest.segments
        kept = self._of_kept_minutes(finished)
        while sum(segment.sampled_ns or 0 for segment in kept) > MOST_KEPT_S * 1e9:
            self._every *= 2
            kept = self._of_kept_minutes(kept)
        if dropped := [segment for segment in finished if segment not in kept]:
            self.add_note(Note(NoteCode.MINUTES_KEPT))
            self.change(segments=(*kept, running))
            files.remove_segments(self.folder, dropped)

    def _of_kept_minutes(self, segments: list[Segment]) -> list[Segment]:
        return [one for one in segments if (one.offset_ns or 0) // _MINUTE_NS % self._every == 0]

    def forget(self) -> None:
        """Drop all counts in a forked child: the folder is the parent's."""
        for counters in self.counters:
            counters.forget()

    def _note_failure(self, error: OSError) -> None:
        """Write the reason and time of the first failed write to the folder into its reserve."""
        reraise_signal_error(error)
        now_ns = self._clock.unix_ns()
        if self.failure is None:
            self.failure = failure_text(error, now_ns)
        manifest = replace(self._manifest, lines=self._lines)
        ending = Ending.of(manifest, self.failure, now_ns, tuple(self._unwritten_calls))
        with suppressed(OSError):  # the folder is gone, or its disk is read-only now
            note_ending(self.folder, ending)
