"""Forks while profkit's ticker is at work, with a sampler that `auto` chooses; prints JSON."""

from __future__ import annotations

import faulthandler
import json
import os
import threading

from profkit import profile
from profkit.clock import SYSTEM_CLOCK

PATIENCE_S = 20.0


@profile(label="forking")
def fork_in_a_tick() -> int:
    """Fork once the ticker's thread is at work, which then lasts for another moment."""
    from profkit.session.session import Session

    tick, begun = Session.tick, threading.Event()

    def tick_slowly(self: Session) -> None:
        begun.set()
        SYSTEM_CLOCK.sleep(0.2)  # as psutil takes on a busy machine
        tick(self)

    Session.tick = tick_slowly  # type: ignore[method-assign]
    assert begun.wait(PATIENCE_S)
    pid = os.fork()
    if not pid:
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


if __name__ == "__main__":
    faulthandler.dump_traceback_later(PATIENCE_S, exit=True)
    status = fork_in_a_tick()
    faulthandler.cancel_dump_traceback_later()
    print(json.dumps({"status": status, "sampler": fork_in_a_tick.last_run.info.plan.sampler}))
