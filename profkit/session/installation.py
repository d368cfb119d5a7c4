"""What connects the session manager with its process: the ticker, forks, and the end."""

from __future__ import annotations

import atexit
import sys
from collections.abc import Callable
from typing import Protocol

from profkit.process.fork_hooks import HOOKS, Hooks
from profkit.process.guard import guarded
from profkit.session.activity import is_spawned
from profkit.session.delivery import LONGEST_PAUSE_S
from profkit.session.ticker import Ticked, Ticker


class Installed(Ticked, Protocol):
    """The session manager, as far as its process needs it."""

    on_start: Callable[[], None]
    """Called after the start of a session."""

    def close(self) -> None:
        """End the session; nothing is profiled afterwards."""

    def become_child(self) -> None:
        """Reset in a forked child."""


def install(manager: Installed) -> None:
    """Have the process tick and end the manager's sessions, and fork without its threads."""
    ticker, close = Ticker(manager), guarded("ending the session at exit", manager.close)

    def begin() -> None:
        ticker.start()
        if is_spawned():  # forked workers of multiprocessing run its finalizers, but no exit handlers
            sys.modules["multiprocessing.util"].Finalize(None, close, exitpriority=0)

    def stop_threads() -> None:
        # Since 3.12 CPython warns if a process with several threads forks. The ticker may be waiting for the
        # lock that `forks` takes then, and a callback for one that the thread that forks holds.
        ticker.stop()
        manager.deliveries.wait(LONGEST_PAUSE_S)

    manager.on_start = begin
    HOOKS.add(Hooks(stop_threads, ticker.restart, manager.become_child))
    atexit.register(close)
