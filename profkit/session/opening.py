"""Opening a session: everything that can go wrong before a sampler is started."""

from __future__ import annotations

import posix
from collections.abc import Callable
from pathlib import Path

from profkit.clock import Clock
from profkit.config import CONFIG
from profkit.process.manifest import process_info
from profkit.process.procfs import crowding, sampler_load
from profkit.process.sockets import SocketWatch
from profkit.samplers.base import LiveStacks, Sampler
from profkit.samplers.options import SamplerOptions
from profkit.session.activity import live_stacks
from profkit.session.session import Session
from profkit.store.clearing import keep_within, remove_folder


def open_session(
    spool: Path, options: SamplerOptions, resolve: Callable[[str], Sampler], clock: Clock,
    say: Callable[[str], None],
) -> Session:  # fmt: skip
    """A session of this process that has a folder and no segment yet; it will `say` what went wrong.

    Raises SamplerMissing, UsageError for what the sampler cannot honour, and OSError if there can be no
    folder with a manifest. No folder is left behind then, nor if a signal handler of the program raises.
    """
    keep_within(spool, CONFIG.spool_limit, say, clock)
    sampler = resolve(options.sampler)
    sampler.check(options)
    sampler.find()
    sockets = SocketWatch(clock=clock)
    session = Session(spool, sampler, options, process_info(), clock, _live(sockets), say, sockets)
    try:
        session.save()
    except BaseException:  # also if the program has replaced what profkit needs
        remove_folder(session.folder)
        raise
    if options.blocking is True and not session.plan.blocking:
        for note in session.plan.notes:
            say(note)
    return session


def _live(sockets: SocketWatch) -> LiveStacks:
    threads, frames = live_stacks()
    others = sampler_load()
    return LiveStacks(
        threads=threads,
        frames=frames,
        crowding=crowding(),
        processors=posix.cpu_count() or 1,
        other_samplers=others.count,
        other_rates_hz=others.rate_hz,
        timed_sockets=sockets.timed(),
    )
