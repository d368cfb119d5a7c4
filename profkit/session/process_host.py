"""The host of this process: made when a profiled call first needs it, and told of forks and of the exit."""

from __future__ import annotations

import atexit
import os
import sys

from profkit.session.activity import is_spawned
from profkit.session.host import SessionHost
from profkit.session.ticker import Ticker

HOST = SessionHost()
_TICKER = Ticker(HOST)


def _begin() -> None:
    """A session has begun: mind it, and see to its end."""
    _TICKER.start()
    if is_spawned():  # forked workers of multiprocessing run its finalizers, and no exit handlers
        sys.modules["multiprocessing.util"].Finalize(None, HOST.close, exitpriority=0)


HOST.on_start = _begin

# Since 3.12 CPython warns where a process with several threads forks: without the ticker, a
# single-threaded program stays one.
os.register_at_fork(before=_TICKER.stop, after_in_parent=_TICKER.restart, after_in_child=HOST.become_child)
atexit.register(HOST.close)
