"""Opening a session: everything that can go wrong before a sampler is started."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from profkit.clock import Clock
from profkit.process.procfs import crowding
from profkit.samplers.base import LiveStacks, Sampler, SamplerOptions
from profkit.session.activity import live_stacks
from profkit.session.session import Session
from profkit.session.surroundings import process_info


def open_session(
    spool: Path, options: SamplerOptions, resolve: Callable[[str], Sampler], clock: Clock
) -> Session:  # fmt: skip
    """A session of this process that has a folder and no segment yet.

    Raises SamplerMissing, UsageError for what the sampler cannot honour, and OSError where there can be
    no folder.
    """
    sampler = resolve(options.sampler)
    sampler.check(options)
    sampler.find()
    return Session(spool, sampler, options, process_info(), clock, LiveStacks(*live_stacks(), crowding()))
