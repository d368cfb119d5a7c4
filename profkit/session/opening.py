"""Opening of a session: room in the spool, the ways to sample it, and its folder."""

from __future__ import annotations

from pathlib import Path

from profkit.clock import Clock
from profkit.config import CONFIG
from profkit.model.notes import Note, NoteCode
from profkit.process.manifest import process_info
from profkit.process.sockets import SocketWatch
from profkit.samplers.options import SamplerOptions
from profkit.session.ladder import Ladder, Refusals, Rungs
from profkit.session.session import Session
from profkit.session.starting import live_facts, socket_message
from profkit.store.clearing import keep_within, remove_folder


def open_session(
    spool: Path, options: SamplerOptions, rungs: Rungs, clock: Clock, refusals: Refusals, *, strict: bool
) -> Session:
    """Make a session with a folder and no segment yet; it reports problems to `refusals.say`.

    Raises UsageError for options that no sampler can honour, OSError if no folder can be made, and with
    `strict` the SamplerError if no sampler may be tried. No folder is left behind then, nor if a signal
    handler of the program raises.
    """
    keep_within(spool, CONFIG.spool_limit, refusals.say, clock)
    ladder = Ladder(rungs, options, refusals, strict=strict)
    sockets = SocketWatch(clock=clock)
    session = Session(
        spool, ladder, options, process_info(), clock, live_facts(sockets), refusals.say, sockets
    )
    try:
        session.save()
    except BaseException:  # also if the program has patched a function that profkit needs
        remove_folder(session.folder)
        raise
    if Note(NoteCode.BLOCKING_NOT_KEPT) in session.plan.notes:
        refusals.say(socket_message(blocking=False))
    return session
