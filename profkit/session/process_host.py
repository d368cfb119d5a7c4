"""The host of this process: made when a profiled call first needs it, and told of forks and of the exit."""

from __future__ import annotations

import atexit
import os
import sys

import profkit.stats  # noqa: F401 - accounts need it later, when it may be out of reach
from profkit.process.guard import guarded
from profkit.session.activity import is_spawned
from profkit.session.host import SessionHost
from profkit.session.ticker import Ticker

HOST = SessionHost()
_TICKER = Ticker(HOST)


_close = guarded("ending the session with the program", HOST.close)


def _begin() -> None:
    """A session has begun: mind it, and see to its end."""
    _TICKER.start()
    if is_spawned():  # forked workers of multiprocessing run its finalizers, and no exit handlers
        sys.modules["multiprocessing.util"].Finalize(None, _close, exitpriority=0)


HOST.on_start = _begin

# Since 3.12 CPython warns where a process with several threads forks: without the ticker, a
# single-threaded program stays one.
os.register_at_fork(
    before=guarded("preparing for a fork", _TICKER.stop),
    after_in_parent=guarded("going on after a fork", _TICKER.restart),
    after_in_child=guarded("starting anew in a forked child", HOST.become_child),
)
atexit.register(_close)
