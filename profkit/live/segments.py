"""Outputs of a sampler that runs: what is new in a journal, and what an ended py-spy has written."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from profkit.errors import DamagedFile, SamplerError
from profkit.live.samples import Batch
from profkit.model.session import SamplerPlan, Segment, SessionState
from profkit.samplers.base import (
    Recording,
    await_state,
    kill_stopped,
    log_path,
    output_path,
    rounds_path,
)
from profkit.session.fallbacks import Start, start_sampler
from profkit.store.files import open_spool
from profkit.transforms.simplify import fold_addresses

_LARGEST_READ = 2**24


def remove_files(start: Start) -> None:
    """Delete the files of a segment."""
    for path_of in (log_path, rounds_path):
        path_of(start.folder, start.index).unlink(missing_ok=True)
    output_path(start.folder, start.index, start.sampler.name).unlink(missing_ok=True)


class OpenSegment:
    """A sampler that is attached, and its output; not thread-safe."""

    def __init__(self, start: Start) -> None:
        """Start the sampler and wait until it is RUNNING; raises SamplerError, and leaves no files then."""
        try:
            self._attachment, _ = start_sampler(start)
        except SamplerError:
            remove_files(start)
            raise
        self._start, self._clock = start, start.clock
        self.began_s = self._read_s = start.clock.monotonic_s()
        output = output_path(start.folder, start.index, start.sampler.name)
        self._tail = _Tail(output) if self.is_followed else None

    @property
    def is_followed(self) -> bool:
        """Whether samples can be read while the sampler runs."""
        return self._start.sampler.name == "cpython"

    def poll(self) -> SessionState:
        """Return the sampler's state; raises SamplerError if it failed."""
        return self._attachment.poll()

    def new(self) -> Batch | None:
        """Return what was written since the last call; raises DamagedFile."""
        return None if self._tail is None else self._followed(self._tail, is_over=False)

    def end(self) -> tuple[Batch | None, SamplerError | DamagedFile | None]:
        """Stop the sampler and delete its files; return the rest of its samples, and what went wrong."""
        ended_s, problem = self._stop()
        try:
            return self._rest(ended_s), problem
        except DamagedFile as damage:
            return None, problem or damage
        finally:
            remove_files(self._start)

    def _stop(self) -> tuple[float, SamplerError | None]:
        """Stop the sampler; return when it was asked to, and why it failed."""
        attachment = self._attachment
        try:
            ended_s = self._clock.monotonic_s()
            attachment.request_stop()
            await_state(
                attachment, SessionState.SUCCESS, attachment.stop_timeout_s(), self._clock, "",
                self._start.sampler.name,
            )  # fmt: skip
        except SamplerError as failure:
            return ended_s, failure
        finally:
            kill_stopped(attachment)
        return ended_s, None

    def _rest(self, ended_s: float) -> Batch | None:
        if self._tail is not None:
            return self._followed(self._tail, is_over=True, ended_s=ended_s)
        with open_spool(self._start.folder, None) as folder:
            recording = self._start.sampler.read(folder, Segment(self._start.index, 0), self._start.plan)
        return None if recording is None else _batch(self.began_s, ended_s, recording)

    def _followed(self, tail: _Tail, *, is_over: bool, ended_s: float | None = None) -> Batch | None:
        before = tail.rounds
        recording = tail.new(self._start.plan, is_over=is_over)
        if recording is None or not (recording.profile.samples or recording.rounds or recording.errors):
            return None
        now_s = self._clock.monotonic_s() if ended_s is None else ended_s
        began_s, self._read_s = self._read_s, max(self._read_s, now_s)
        profile = recording.profile
        starts = tuple(max(0, start - before) for start in profile.starts)
        return _batch(began_s, now_s, replace(recording, profile=replace(profile, starts=starts)))


def _batch(began_s: float, ended_s: float, recording: Recording) -> Batch:
    return Batch(
        began_s=began_s,
        ended_s=max(began_s, ended_s),
        profile=fold_addresses(recording.profile),
        rounds=recording.rounds,
        errors=recording.errors,
        notes=recording.notes,
    )


class _Tail:
    def __init__(self, path: Path) -> None:
        from profkit.samplers.stack_journal import JournalReader

        self._path, self._reader, self._position = path, JournalReader(), 0
        self.rounds = 0
        """Rounds that were returned."""

    def new(self, plan: SamplerPlan, *, is_over: bool) -> Recording | None:
        """Return what is new; raises DamagedFile."""
        from profkit.samplers.cpython import recorded
        from profkit.samplers.stack_journal import DamagedJournal

        try:
            with suppress(FileNotFoundError), self._path.open("rb") as file:
                os.lseek(file.fileno(), self._position, os.SEEK_SET)
                while data := file.read(_LARGEST_READ):
                    self._position += len(data)
                    self._reader.feed(data)
            journal = self._reader.take(is_over=is_over)
        except (DamagedJournal, OSError) as error:
            raise DamagedFile(self._path, str(error)) from error
        if journal is None:
            return None
        self.rounds += journal.rounds
        return recorded(journal, plan)
