"""A sampler that does what a test tells it: no process, no time."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from profkit.clock import Clock
from profkit.errors import SamplerFailed, SamplerMissing
from profkit.model.notes import Note, NoteCode
from profkit.model.profile import Profile
from profkit.model.session import SamplerPlan, Segment, SessionState
from profkit.samplers.base import LiveStacks, Pauses, Recording, SegmentFiles
from profkit.samplers.options import SamplerOptions
from profkit.samplers.registry import Fallback


@dataclass
class Script:
    """What the sampler is to do, and what was done with it."""

    missing: bool = False
    fail_start: str | None = None
    never_running: bool = False
    never_done: bool = False
    fail_starts: int = 0
    """How many starts fail with an error that may pass."""
    warning: str | None = None
    lives: list[LiveStacks] = field(default_factory=list)
    """What each plan was made for."""
    most_frames: int = 10**9
    """Frames above which it does not stop the program."""
    resident: int = 0
    attached: int = 0
    stopped: int = 0
    killed: int = 0
    interrupts: int = 0
    """How many attempts to kill it a signal handler interrupts."""
    died: bool = False
    attachments: list[ScriptedAttachment] = field(default_factory=list)


class ScriptedAttachment:
    pauses = Pauses(0.01, 1.0, 0.01)

    def __init__(self, script: Script) -> None:
        self.script = script
        self.state = SessionState.PREPARING

    def segment(self) -> Segment:
        return Segment(index=0, started_ns=0, pid=1)

    def poll(self) -> SessionState:
        if self.script.fail_starts > 0:
            self.script.fail_starts -= 1
            raise SamplerFailed("scripted", "start", "bad luck", "try again", passing=True)
        if self.script.died:
            raise SamplerFailed("scripted", "sampling", "it died", "start it again")
        if self.state is SessionState.PREPARING and not self.script.never_running:
            self.state = SessionState.RUNNING
        elif self.state is SessionState.PROCESSING and not self.script.never_done:
            self.state = SessionState.SUCCESS
        return self.state

    def request_stop(self) -> None:
        self.state = SessionState.PROCESSING
        self.script.stopped += 1

    def stop_timeout_s(self) -> float:
        return 2.0

    def resident_bytes(self) -> int:
        return self.script.resident

    def warning(self) -> str | None:
        return self.script.warning

    def kill(self) -> None:
        if self.script.interrupts > 0:
            self.script.interrupts -= 1
            raise KeyboardInterrupt
        if self.state is not SessionState.SUCCESS:
            self.script.killed += 1


class ScriptedSampler:
    name = "scripted"

    def __init__(self, script: Script) -> None:
        self.script = script

    def find(self) -> str:
        if self.script.missing:
            raise SamplerMissing("scripted", "scripted", "write one")
        return "/scripted"

    def version(self) -> str | None:
        return "1"

    def check(self, options: SamplerOptions) -> None:
        return None

    def plan(self, options: SamplerOptions, live: LiveStacks) -> SamplerPlan:
        self.script.lives.append(live)
        blocking = options.native or not (live.timed_sockets or live.frames > self.script.most_frames)
        notes = (Note(_socket_code(options, blocking=blocking)),) if live.timed_sockets else ()
        return SamplerPlan(
            "scripted", options.rate_hz or 100.0, blocking, options.idle, options.native,
            options.subprocesses, options.scope, options.max_duration_s, notes=notes,
        )  # fmt: skip

    def attach(
        self, pid: int, plan: SamplerPlan, folder: Path, index: int, clock: Clock
    ) -> ScriptedAttachment:
        if self.script.fail_start is not None:
            raise SamplerFailed("scripted", "start", self.script.fail_start, "mend the script")
        self.script.attached += 1
        attachment = ScriptedAttachment(self.script)
        self.script.attachments.append(attachment)
        (folder / f"segment-{index:03d}.json").write_text(json.dumps(index))
        return attachment

    def read(self, files: SegmentFiles, segment: Segment, plan: SamplerPlan) -> Recording | None:
        return Recording(Profile(), rounds=0)


def scripted_fallbacks(script: Script) -> Callable[[SamplerOptions], Sequence[Fallback]]:
    """Offer the scripted sampler alone."""

    def list_fallbacks(options: SamplerOptions) -> Sequence[Fallback]:
        sampler = ScriptedSampler(script)
        try:
            sampler.find()
        except SamplerMissing as error:
            return (Fallback(sampler, options, missing=error),)
        return (Fallback(sampler, options),)

    return list_fallbacks


def _socket_code(options: SamplerOptions, *, blocking: bool) -> NoteCode:
    if blocking:
        return NoteCode.TIMEOUTS_RESTART
    return NoteCode.BLOCKING_NOT_KEPT if options.blocking is True else NoteCode.NONBLOCKING_SOCKETS
