"""`profkit.continuous`: profile the rest of a program in windows, from a line of it."""

from __future__ import annotations

import atexit
from typing import TYPE_CHECKING

from profkit.calls.options import settings_over_defaults
from profkit.config import CONFIG
from profkit.errors import InvalidOption
from profkit.program.whole import Program, enter_program
from profkit.session.activity import OPEN_BLOCKS, calls_under_way
from profkit.session.manager import MANAGER
from profkit.store.clearing import parse_limit

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Unpack

    from profkit.calls.keywords import ProfilerOptions

_WINDOW_S = 60.0


class Continuous:
    """Profiling that has been started by `continuous`; as a context manager, it stops at the block's end."""

    def __init__(self, program: Program | None) -> None:
        self._program = program

    @property
    def running(self) -> bool:
        """Whether this process is profiled; not in a forked child."""
        return self._program is not None and self._program in OPEN_BLOCKS

    def stop(self) -> None:
        """End the window and profile no more; do nothing if it has been stopped."""
        program = self._program
        if program is not None and program in OPEN_BLOCKS:
            program.end()
            atexit.unregister(program.end)
            MANAGER.leave(program.counters)
            if not calls_under_way():
                MANAGER.end_session()

    def __enter__(self) -> Continuous:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()


def continuous(
    *, keep: str | None = None, push: str | None = None, **options: Unpack[ProfilerOptions]
) -> Continuous:
    """Profile all threads of this process in windows from now on, each a session of its own.

    `window` is their duration in seconds, by default 60, and `keep` the size beyond which the oldest are
    deleted, such as "100MB". Finished ones are sent to `push`: a store, folder or URL, as `profkit push --to`
    takes it. All other options are those of `profile`. Raises UsageError for invalid options.
    """
    if CONFIG.disabled:
        return Continuous(None)
    if keep is not None:
        _check_size(keep)
        MANAGER.configure(spool_limit=keep)
    if push is not None:
        MANAGER.configure(push=push)
    given: ProfilerOptions = {"threads": True, **options}
    if "window" not in CONFIG.profile:
        given.setdefault("window", _WINDOW_S)
    chosen = settings_over_defaults(given)
    return Continuous(enter_program(chosen, MANAGER) if chosen.enabled else None)


def _check_size(keep: str) -> None:
    try:
        parse_limit(keep)
    except ValueError as error:
        raise InvalidOption("keep", keep, "give a size such as 100MB") from error
