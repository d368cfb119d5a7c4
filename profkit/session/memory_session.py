"""Session of tracked memory: its folder in the spool, with the journals and a capture for each call.

Not thread-safe: the recorder calls it under its lock.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from profkit.clock import Clock
from profkit.config import Config
from profkit.model.region import MEMRAY
from profkit.model.session import Capture, Lines, Manifest, SamplerPlan, SessionState
from profkit.process.manifest import process_info
from profkit.samplers.memray.tracker import version
from profkit.session.counters import Counters, forget_gone
from profkit.store import spool as files
from profkit.store.clearing import keep_within, remove_folder


class MemorySession:
    """Folder of tracked calls; open until `end`."""

    def __init__(self, folder: Path, manifest: Manifest, clock: Clock) -> None:
        self.folder, self._manifest, self._clock = folder, manifest, clock
        self.counters: list[Counters] = []
        self.captures = 0
        """Number of captures so far."""
        self._lines = Lines()

    @classmethod
    def open(cls, config: Config, clock: Clock, say: Callable[[str], None]) -> MemorySession:
        """Make a session with a folder; raises OSError, and leaves nothing behind then."""
        keep_within(config.spool, config.spool_limit, say, clock)
        process = process_info()
        name = files.new_session_id(process.pid)
        plan = SamplerPlan.unknown(MEMRAY, scope="process")
        manifest = Manifest(
            name, SessionState.RUNNING, clock.unix_ns(), process, plan, sampler_version=version()
        )
        folder = files.create_folder(config.spool, name)
        try:
            files.write_manifest(folder, manifest)
        except BaseException:
            remove_folder(folder)
            raise
        return cls(folder, manifest, clock)

    def mention(self, counters: Counters) -> None:
        """Record a region, so that it has a run in this session even if no call of it is tracked."""
        if counters.has_joined(self.folder.name):
            return
        self.counters.append(counters)
        counters.sessions.append(self.folder.name)
        written = files.append_regions(self.folder, (counters.region,))
        self._lines = replace(self._lines, regions=self._lines.regions + written)

    def append_capture(self, capture: Capture) -> None:
        """Record that a call begins or has ended; raises OSError if the disk is full."""
        files.append_captures(self.folder, (capture,))

    def finish(self, capture: Capture) -> None:
        """Record that a call has ended, and the counts until now."""
        self.append_capture(replace(capture, ended=True))
        self.drain()

    def drain(self) -> None:
        """Move the counts of the hot path to the folder."""
        now_ns = self._clock.unix_ns()
        here = (counters for counters in self.counters if counters.has_joined(self.folder.name))
        deltas = [delta for counters in here if (delta := counters.drain(now_ns)) is not None]
        written = files.append_calls(self.folder, deltas)
        self._lines = replace(self._lines, calls=self._lines.calls + written)
        forget_gone(self.counters)

    def end(self) -> None:
        """Write remaining counts and close the folder; raises OSError if the disk is full."""
        self.drain()
        now_ns = self._clock.unix_ns()
        ended = replace(self._manifest, state=SessionState.SUCCESS, ended_ns=now_ns, lines=self._lines)
        files.close_folder(self.folder, ended)
