"""Sampler `none`: no samples. Calls and wall times need none; the profiled process counts them itself."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from profkit.clock import Clock
from profkit.errors import InvalidOption
from profkit.model.region import CALLS_ONLY
from profkit.model.session import SamplerPlan, Segment, SessionState
from profkit.samplers.base import Attachment, LiveStacks, Pauses, Recording, SegmentFiles, plain_plan
from profkit.samplers.options import OPTION_NAMES, SamplerOptions, check_common

_FIX = "leave it out, or choose another sampler: sampler='none' takes no samples"


class CallsOnlySampler:
    name = CALLS_ONLY

    def find(self) -> str:
        """See `Sampler.find`; there is no program."""
        return ""

    def version(self) -> None:
        return

    def check(self, options: SamplerOptions) -> None:
        """Raise `InvalidOption` for each option about samples."""
        check_common(options)
        without = SamplerOptions(
            CALLS_ONLY,
            scope=options.scope,
            max_duration_s=options.max_duration_s,
            tags=options.tags,
            window_s=options.window_s,
        )
        for name, option in OPTION_NAMES.items():
            value = getattr(options, name)
            if name != "sampler" and value != getattr(without, name):
                raise InvalidOption(option, value, _FIX)

    def plan(self, options: SamplerOptions, live: LiveStacks) -> SamplerPlan:
        return replace(plain_plan(CALLS_ONLY, options, 0.0), idle=True, sample_each=None)

    def attach(self, pid: int, plan: SamplerPlan, folder: Path, index: int, clock: Clock) -> NoAttachment:
        """See `Sampler.attach`; starts nothing."""
        return NoAttachment(index)

    def read(self, files: SegmentFiles, segment: Segment, plan: SamplerPlan) -> Recording | None:
        """See `Sampler.read`; there is none."""
        return None


class NoAttachment(Attachment):
    """See `Attachment`: RUNNING at once, and done as soon as it is asked to stop."""

    pauses = Pauses(0.0, 1.0, 0.0)

    def __init__(self, index: int) -> None:
        self._index, self._stopped = index, False

    def segment(self) -> Segment:
        return Segment(self._index, started_ns=0)

    def poll(self) -> SessionState:
        return SessionState.SUCCESS if self._stopped else SessionState.RUNNING

    def request_stop(self) -> None:
        self._stopped = True

    def stop_timeout_s(self) -> float:
        return 0.0

    def kill(self) -> None:
        """See `Attachment.kill`; there is no process."""
