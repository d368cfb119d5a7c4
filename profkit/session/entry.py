"""The slow path of a profiled call: the host is imported, asked, and kept off event loops."""

from __future__ import annotations

import contextlib
import sys
import threading
from functools import partial
from typing import TYPE_CHECKING

from profkit import tracing
from profkit.session.account import Account
from profkit.session.background import background, start

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Future

    from profkit.session.host import SessionHost


_IMPORTING = threading.RLock()
_known_host: SessionHost | None = None


def enter(account: Account, own: int, tid: int | None = None) -> bool:
    """See `SessionHost.enter`."""
    return tracing.unseen(_enter, account, own, tid)


def leave(account: Account, tid: int | None = None) -> None:
    """See `SessionHost.leave`."""
    tracing.unseen(_leave, account, tid)


def note_traced(account: Account) -> None:
    """A compiler took the user's function in place of its wrapper: calls of that code are not seen."""
    account.traced.append(None)
    if _known_host is not None:
        _known_host.mention(account)


def _enter(account: Account, own: int, tid: int | None) -> bool:
    host = _host()
    return host is not None and host.enter(account, own, tid)


def _leave(account: Account, tid: int | None) -> None:
    host = _host()
    if host is not None:
        host.leave(account, tid)


async def enter_off_loop(account: Account, own: int) -> bool:
    """`enter`, in a thread of its own where an asyncio loop runs and a sampler has to be started."""
    loop, host = _running_loop(), tracing.unseen(_host)
    if loop is None or host is None or not host.must_wait(account):
        return enter(account, own)
    answer: Future[bool] = loop.create_future()

    def work() -> None:
        outcome: bool | Exception
        try:
            outcome = host.enter(account, own)
        except Exception as error:  # noqa: BLE001 - handed on to the task
            outcome = error
        with contextlib.suppress(RuntimeError):  # the loop was closed meanwhile
            loop.call_soon_threadsafe(_settle, answer, outcome, account)

    tracing.unseen(start, background("profkit-start", work))
    return await answer


def leave_off_loop(account: Account) -> None:
    """`leave`, without waiting where an asyncio loop runs: a `finally` must not await."""
    if _running_loop() is None:
        leave(account)
    else:
        tracing.unseen(start, background("profkit-stop", partial(leave, account)))


def _host() -> SessionHost | None:
    """The process's host; None to a signal handler or a finalizer that interrupts its import."""
    global _known_host
    if _known_host is None and not _IMPORTING._is_owned():  # type: ignore[attr-defined]
        with _IMPORTING:
            from profkit.session.process_host import HOST
        _known_host = HOST
    return _known_host


def _running_loop() -> AbstractEventLoop | None:
    events = sys.modules.get("asyncio.events")
    return events._get_running_loop() if events is not None else None


def _settle(answer: Future[bool], outcome: bool | Exception, account: Account) -> None:
    """Give the loop its answer; a task that was cancelled meanwhile will not `leave`."""
    if answer.done():
        if outcome is True and account.covers:
            leave_off_loop(account)
    elif isinstance(outcome, Exception):
        answer.set_exception(outcome)
    else:
        answer.set_result(outcome)
