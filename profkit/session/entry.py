"""The slow path of a profiled call: the host is imported, asked, and kept off event loops."""

from __future__ import annotations

import contextlib
import sys
import threading
from typing import TYPE_CHECKING

from profkit.errors import ProfkitError
from profkit.session.account import Account

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Future


def enter(account: Account, own: int, tid: int | None = None) -> bool:
    """See `SessionHost.enter`."""
    from profkit.session.process_host import HOST

    return HOST.enter(account, own, tid)


def leave(account: Account, tid: int | None = None) -> None:
    """See `SessionHost.leave`."""
    from profkit.session.process_host import HOST

    HOST.leave(account, tid)


async def enter_off_loop(account: Account, own: int) -> bool:
    """`enter`, in a thread of its own where an asyncio loop runs and a sampler has to be started."""
    from profkit.session.process_host import HOST

    loop = _running_loop()
    if loop is None or not HOST.must_wait(account):
        return HOST.enter(account, own)
    answer: Future[bool] = loop.create_future()

    def work() -> None:
        outcome: bool | Exception
        try:
            outcome = HOST.enter(account, own)
        except (ProfkitError, OSError) as error:
            outcome = error
        _tell(loop, answer, outcome)

    threading.Thread(target=work, name="profkit-start", daemon=True).start()
    return await answer


def leave_off_loop(account: Account) -> None:
    """`leave`, without waiting where an asyncio loop runs: a `finally` must not await."""
    if _running_loop() is None:
        leave(account)
    else:
        threading.Thread(target=leave, args=(account,), name="profkit-stop", daemon=True).start()


def _running_loop() -> AbstractEventLoop | None:
    events = sys.modules.get("asyncio.events")
    return events._get_running_loop() if events is not None else None


def _tell(loop: AbstractEventLoop, answer: Future[bool], outcome: bool | Exception) -> None:
    """Settle a future from another thread, unless its task is gone by now."""

    def settle() -> None:
        if answer.done():
            return
        if isinstance(outcome, Exception):
            answer.set_exception(outcome)
        else:
            answer.set_result(outcome)

    with contextlib.suppress(RuntimeError):  # the loop was closed meanwhile
        loop.call_soon_threadsafe(settle)
