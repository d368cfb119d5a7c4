"""Slow path of a profiled call: import the session manager, call it, and keep it off event loops.

This raises only exceptions that `guard.reraise_program_error` raises and, with `stop_at_error=True`, the
reason why a call cannot be profiled.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING

from profkit import torch_tracing
from profkit.calls.ranges import close_range, has_range, open_range
from profkit.errors import ProfkitError
from profkit.originals import REAL
from profkit.process.background import BackgroundThread
from profkit.process.guard import LOG, explained, ignore, reraise_program_error, say_once
from profkit.process.locks import IMPORTING, is_importing
from profkit.session.activity import own_calls
from profkit.session.counters import Counters

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Future

    from profkit.model.run import Run
    from profkit.session.manager import SessionManager
    from profkit.session.memory import MemoryRecorder


def refuse(counters: Counters, error: BaseException) -> bool:
    """Log once why a call cannot be profiled, and return False: the call runs unprofiled.

    Raises exceptions that belong to the program and, with `stop_at_error=True`, the failure itself.
    """
    reraise_program_error(error)
    if isinstance(error, RecursionError):  # the call itself is about to raise it
        return False
    counters.refused = True
    reason = explained(error, "starting to profile a call")
    LOG.debug("profkit failed", exc_info=error)
    if counters.policy.strict:
        raise reason
    say_once(f"{counters.region.key.label!r} runs unprofiled: {reason}")
    return False


_IN_IMPORT_LOCK: Mapping[int, object] = getattr(sys.modules["_frozen_importlib"], "_blocking_on", {})
"""Threads that are acquiring a module's lock. CPython 3.11 loses track of one that imports meanwhile, as a
finalizer may (python/cpython#106176)."""
_known_manager: SessionManager | None = None
_recorder: MemoryRecorder | None = None
_import_failure: ProfkitError | None = None


def enter(counters: Counters, frame: FrameType, tid: int | None = None) -> bool:
    """See `SessionManager.enter`; the caller's stack ends with `frame`."""
    try:
        return torch_tracing.unseen(_enter, counters, frame, tid)
    except BaseException as error:  # noqa: BLE001 - raised if it is the program's
        if counters.options.tracks_memory:
            leave(counters, tid)  # a signal handler may have raised when the tracker had begun
        return refuse(counters, error)


def leave(counters: Counters, tid: int | None = None) -> None:
    """Write a call's end or close its range, and see `SessionManager.leave`."""
    try:
        if counters.flushes and _known_manager is not None and _known_manager.may_flush():
            torch_tracing.unseen(_known_manager.flush, counters)
        if counters.ranged:
            torch_tracing.unseen(close_range, counters)
        if not counters.owns_segments:
            return
        torch_tracing.unseen(_leave, counters, tid)
    except BaseException as error:  # noqa: BLE001 - raised if it is the program's
        ignore(error, "ending the segment of a region")


def note_traced(counters: Counters) -> None:
    """Count a compilation of the function in place of its wrapper: calls of that code are not profiled."""
    counters.traced.append(None)
    manager = _recorder if counters.options.tracks_memory else _known_manager
    if manager is not None:
        try:
            manager.mention(counters)
        except BaseException as error:  # noqa: BLE001 - raised if it is the program's
            ignore(error, "recording a compiled function")


def results_of(counters: Counters, first_segment: int = 0) -> Iterator[Run]:
    """Yield this process's runs of a region, newest first; end the current segment if necessary.

    Of a session that goes on, segments before `first_segment` are left out: the region began later. Raises
    ProfkitError if the recordings cannot be read.
    """
    if not counters.sessions:
        return
    try:
        from profkit.session.results import runs_in

        manager = _manager_of(counters)
        folders = () if manager is None else manager.settle(counters)
        yield from runs_in(folders, counters.region.id, first_segment)
    except Exception as error:
        reraise_program_error(error)
        raise explained(error, "reading a result") from error


def _enter(counters: Counters, frame: FrameType, tid: int | None) -> bool:
    if _IN_IMPORT_LOCK.get(REAL.get_ident()):  # starting a session imports: this call runs unprofiled
        return False
    if not counters.ranged or counters.owns_segments:  # else it has joined since the trace began
        manager = _manager_of(counters)
        if manager is None or not manager.enter(counters, own_calls(frame), tid):
            return False
    if has_range(counters):
        open_range(counters)
    return True


def _leave(counters: Counters, tid: int | None) -> None:
    manager = _manager_of(counters)
    if manager is not None:
        manager.leave(counters, tid)


async def enter_off_loop(counters: Counters, frame: FrameType) -> bool:
    """Call `enter`, in another thread if an asyncio loop runs and a sampler has to be started."""
    loop = running_loop()
    try:
        manager = torch_tracing.unseen(_manager)
        if loop is None or manager is None or not manager.must_wait(counters):
            return enter(counters, frame)
        answer = _answer_of_thread(loop, manager, counters, own_calls(frame))
    except BaseException as error:  # noqa: BLE001 - raised if it is the program's
        return refuse(counters, error)
    return await answer


def leave_off_loop(counters: Counters) -> None:
    """Call `leave`, without waiting if an asyncio loop runs: a `finally` must not await."""
    if running_loop() is None:
        leave(counters)
        return
    try:
        torch_tracing.unseen(BackgroundThread(partial(leave, counters)).start)
    except BaseException as error:  # noqa: BLE001 - raised if it is the program's
        ignore(error, "ending the segment of a region")


def _answer_of_thread(
    loop: AbstractEventLoop, manager: SessionManager, counters: Counters, own: int
) -> Future[bool]:
    answer: Future[bool] = loop.create_future()

    def work() -> None:
        outcome: bool | Exception
        try:
            outcome = manager.enter(counters, own)
        except Exception as error:  # noqa: BLE001 - passed on to the task
            outcome = error
        with contextlib.suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(_settle, answer, outcome, counters)

    from profkit.samplers import registry
    from profkit.session.fallbacks import import_what_results_need

    # Not in the thread: after Ctrl-C it may outlive the main thread. A class statement of a dataclass then
    # makes CPython forget that an interrupt ended the program (pythonrun.c).
    import_what_results_need()
    registry.load(counters.options)
    torch_tracing.unseen(BackgroundThread(work).start)
    return answer


def _manager_of(counters: Counters) -> SessionManager | MemoryRecorder | None:
    """Return what profiles a region: the session manager, or the recorder of memory."""
    return _memory_recorder() if counters.options.tracks_memory else _manager()


def _memory_recorder() -> MemoryRecorder | None:
    """Return the process's recorder, as `_manager`."""
    global _recorder
    if _recorder is None and not is_importing():
        with IMPORTING:
            from profkit.session.memory import RECORDER
        _recorder = RECORDER
    return _recorder


def _manager() -> SessionManager | None:
    """Return the process's manager; None for a signal handler or a finalizer that interrupts its import.

    An import that failed, as in a folder whose files shadow standard modules, is not retried.
    """
    global _known_manager, _import_failure
    if _import_failure is not None:
        raise _import_failure.with_traceback(None)
    if _known_manager is None and not is_importing():
        try:
            with IMPORTING:
                from profkit.session.manager import MANAGER
        except Exception as error:
            reraise_program_error(error)
            _import_failure = explained(error, "importing what a session needs")
            raise _import_failure from error
        _known_manager = MANAGER
    return _known_manager


def running_loop() -> AbstractEventLoop | None:
    """Return this thread's running event loop; import nothing if the program has none."""
    events = sys.modules.get("asyncio.events")
    return events._get_running_loop() if events is not None else None


def _settle(answer: Future[bool], outcome: bool | Exception, counters: Counters) -> None:
    """Set the result of the future; if its task was cancelled, `leave` in its place."""
    if answer.done():
        if outcome is True and counters.owns_segments:
            leave_off_loop(counters)
    elif isinstance(outcome, Exception):
        answer.set_exception(outcome)
    else:
        answer.set_result(outcome)
