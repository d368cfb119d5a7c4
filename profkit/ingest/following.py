"""Repeated sending of sessions while others are recorded: pauses, retries after failures, and its end."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from profkit.clock import SYSTEM_CLOCK, Clock
from profkit.errors import DamagedFile, ProfkitError
from profkit.samplers.base import Pauses
from profkit.store.clearing import PUSHING, alone_in, has_companion, newest_of_processes
from profkit.store.files import OwnedFolder, open_spool
from profkit.store.spool import PACKED, in_spool, is_live, read_manifest_in, session_names

_PAUSE_S, _POLL_S = 1.0, 0.1
_LONGEST_START_S, _LONGEST_END_S = 3.0, 20.0
"""Time that the start of a companion may take, and its last attempts, before nobody waits for it."""
_SHARE = 0.02
"""Maximum share of a processor for looking for finished sessions."""
_BACK_OFF = Pauses(first_s=2.0, growth=2.0, longest_s=60.0)
_LAST_ATTEMPTS = 3
"""Attempts after the end of the last recording, if the place cannot be used."""


def follow(
    spool: Path, send: Callable[[], object], say: Callable[[str], None], clock: Clock = SYSTEM_CLOCK
) -> bool:
    """Call `send` again and again while sessions are being recorded; return False if another process does.

    Errors are reported once, until it works again. Meanwhile sessions wait in the spool, whose limit is that
    of their number. Raises OSError if there is no spool.
    """
    with open_spool(spool, os.geteuid()) as opened, alone_in(opened, wait=False, lock=PUSHING) as is_mine:
        if is_mine:
            _follow(spool, send, say, clock)
        return is_mine


def _follow(spool: Path, send: Callable[[], object], say: Callable[[str], None], clock: Clock) -> None:
    failures = last_attempts = 0
    while True:
        began_s = time.process_time()
        goes_on = is_recording(spool)  # before: what ends meanwhile is sent by the next attempt
        try:
            send()
            failures = 0
        except (ProfkitError, OSError) as error:
            if not failures:
                say(str(error))
            failures += 1
        if not goes_on:
            last_attempts += 1
            if not failures or last_attempts == _LAST_ATTEMPTS:
                return
        busy_s = time.process_time() - began_s
        pause_s = _BACK_OFF.after_s(failures - 1) if failures else max(_PAUSE_S, busy_s / _SHARE)
        if goes_on:
            _wait(spool, pause_s, clock)
        else:
            clock.sleep(_PAUSE_S)


def _wait(spool: Path, pause_s: float, clock: Clock) -> None:
    """Wait, but not longer than sessions are being recorded."""
    end_s = clock.monotonic_s() + pause_s
    while (left_s := end_s - clock.monotonic_s()) > 0 and is_recording(spool):
        clock.sleep(min(_PAUSE_S, left_s))


def await_companion(spool: Path, clock: Clock = SYSTEM_CLOCK) -> int:
    """Wait until a companion has sent all, or has ended; return the number of sessions that it left."""
    seen_s = began_s = clock.monotonic_s()
    while left := in_spool(spool, None, lambda opened: len(session_names(opened)), 0):
        now_s = clock.monotonic_s()
        if in_spool(spool, None, has_companion, False):
            seen_s = now_s
        if now_s - seen_s > _LONGEST_START_S or now_s - began_s > _LONGEST_END_S:
            break
        clock.sleep(_POLL_S)
    return left


def is_recording(spool: Path) -> bool:
    """Return whether the newest session of a process may still be written to."""
    return in_spool(spool, None, _has_live, False)


def _has_live(spool: OwnedFolder) -> bool:
    names = [name for name in spool.names() if name[0] != "." and not name.endswith(PACKED)]
    return any(_is_live(spool, name) for name in newest_of_processes(names))


def _is_live(spool: OwnedFolder, name: str) -> bool:
    with suppress(DamagedFile, OSError), spool.folder(name) as folder:
        return is_live(read_manifest_in(folder), folder)
    return False
