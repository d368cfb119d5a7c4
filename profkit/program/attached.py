"""Sampling of another process from here: a session whose only region is its whole program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from profkit.clock import SYSTEM_CLOCK, Clock
from profkit.config import Config
from profkit.errors import SamplerError
from profkit.model.session import Cover, SessionState
from profkit.process import procfs
from profkit.program.target import Target, fallbacks_for, live_stacks_of, region_of
from profkit.samplers.options import SamplerOptions
from profkit.session import windows
from profkit.session.counters import Counters, Policy
from profkit.session.fallbacks import RecentFailures
from profkit.session.pushing import keep_pushing
from profkit.session.session import SEGMENT_S, Session
from profkit.session.ticker import TICK_S
from profkit.store.clearing import keep_within, remove_folder

_MARGIN_S = 10.0
"""Time after a segment at which its sampler ends by itself."""

Wait = Callable[[float], bool]
"""Waits for some seconds; returns whether to stop."""


@dataclass(frozen=True, slots=True)
class Attaching:
    """How to sample another process."""

    options: SamplerOptions
    label: str | None = None
    duration_s: float | None = None
    """None: until it ends, or until `wait` says so."""


class AttachedProgram:
    """A session on another process; not thread-safe."""

    def __init__(
        self, target: Target, how: Attaching, config: Config, say: Callable[[str], None],
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:  # fmt: skip
        """Make the session's folder; raises UsageError, SamplerError and OSError."""
        self._target, self._how, self._clock = target, how, clock
        self._config, self._say = config, say
        region = region_of(target, how.options, how.label)
        # Each segment's sampler ends by itself soon after its segment, if nobody is left who ends it.
        options = replace(how.options, max_duration_s=SEGMENT_S + _MARGIN_S)
        self._policy = Policy(strict=True)
        self._counters = Counters(region, options, self._policy)
        self.session = self._new_session()

    def sample(self, wait: Wait, on_start: Callable[[str], None] = lambda sampler: None) -> None:
        """Sample until the process ends, the time is over, or `wait` says so; raises SamplerError.

        `on_start` gets the sampler's name when the first sample can be taken. In any case the session is
        ended; if nothing was sampled, nothing is left of it.
        """
        began_s = self._clock.monotonic_s()
        error: str | None = None
        try:
            self.session.join(self._counters, self._policy, Cover(self._counters.region.id, None))
            began_s = self._clock.monotonic_s()
            on_start(self.session.plan.sampler)
            while self._goes_on(began_s) and not wait(self._pause_s(began_s)):
                self._tick()
        except SamplerError as failure:
            error = str(failure)
            raise
        finally:
            self._counters.durations.append(round((self._clock.monotonic_s() - began_s) * 1e9))
            self.session.end(error)
            if all(segment.running_ns is None for segment in self.session.manifest.segments):
                remove_folder(self.session.folder)

    def _new_session(self) -> Session:
        keep_within(self._config.spool, self._config.spool_limit, self._say, self._clock)
        session = Session(
            self._config.spool, partial(fallbacks_for, self._target), RecentFailures(self._clock, self._say),
            self._counters.options, self._policy, self._target.process, self._clock,
            live_stacks_of(self._target),
        )  # fmt: skip
        if self._config.push:
            keep_pushing(self._config.spool, self._config.push, self._say)
        return session

    def _goes_on(self, began_s: float) -> bool:
        process = self._target.process
        is_there = procfs.is_same_process(process.pid, process.start_ticks)
        return is_there and self._pause_s(began_s) > 0

    def _pause_s(self, began_s: float) -> float:
        if self._how.duration_s is None:
            return TICK_S
        return min(TICK_S, began_s + self._how.duration_s - self._clock.monotonic_s())

    def _tick(self) -> None:
        session, now_s = self.session, self._clock.monotonic_s()
        session.write_resources()
        attachment = session.attachment
        if attachment is None or attachment.poll() is not SessionState.RUNNING:
            return  # the process has ended, or ends
        if windows.is_over(session, now_s):
            self.session = self._new_session()
            windows.follow(self.session, session)
        elif now_s - session.segment_started_s >= SEGMENT_S:
            session.rotate(self._policy)
            if self._how.duration_s is None:
                session.thin_out()
