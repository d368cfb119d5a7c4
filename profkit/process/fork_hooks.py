"""Hooks around forks that finish their work even if a signal handler of the program raises an exception.

CPython prints an exception that leaves a hook, and forks all the same: a Ctrl-C would be lost, and a process
would fork that is not ready for that. So such an exception is kept, the hook runs to its end, and the parent
raises the exception when the fork is over, at the call of it. CPython treats a signal during the fork alike.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found] # a file named signal.py may hide the module `signal`
import _thread
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from types import FrameType

from profkit.originals import REAL
from profkit.process.background import BackgroundThread, is_main_thread
from profkit.process.guard import ignore

_MOST_TRIES = 100
"""Most exceptions during one hook; it is given up after that."""
_LATER_S = 0.001
_HARMLESS = (_signal.SIGURG, _signal.SIGWINCH, _signal.SIGCONT)
"""Signals that have no effect by default: one that comes late does no harm."""

Step = Callable[[], object]


class Hooks:
    """What one part of profkit does around each fork; a plain class, because a dataclass takes a millisecond.

    Each step may run more than once per fork, if something interrupts it or a signal handler forks meanwhile.
    """

    __slots__ = ("after_in_child", "after_in_parent", "before")

    def __init__(self, before: Step, after_in_parent: Step, after_in_child: Step) -> None:
        self.before, self.after_in_parent, self.after_in_child = before, after_in_parent, after_in_child


class ForkHooks:
    """Hooks of all parts: those that were added last run first before a fork, and last after it."""

    def __init__(self) -> None:
        self._parts: list[Hooks] = []
        self._under_way: dict[int, list[FrameType | None]] = {}
        """Frames that fork, by thread: the handler of a signal may fork during a hook."""
        self.caught: tuple[BaseException, ...] = ()
        """Exceptions of signal handlers, to raise after the fork."""
        self._caller: FrameType | None = None
        """Frame that forks."""
        self._borrowed: int | None = None
        """Signal whose handler raises the exception."""
        self.to_send: list[int] = []
        """That signal, until it is handled."""

    def add(self, hooks: Hooks) -> None:
        """Run these hooks around each fork from now on."""
        self._parts.append(hooks)

    def before(self, caller: FrameType | None) -> None:
        """Prepare for a fork that a frame calls; does nothing if that is done."""
        forks = self._under_way.setdefault(REAL.get_ident(), [])
        if caller not in forks:
            self.keep(_finish(partial(self._prepare, forks, caller)))

    def after_in_parent(self, caller: FrameType | None) -> None:
        """Continue in the parent once the outermost of nested forks is over; does nothing if that is done."""
        forks = self._under_way.get(REAL.get_ident(), [])
        if caller in forks:
            self.keep(_finish(partial(self._resume, forks, caller)))
        if not forks:
            self._under_way.pop(REAL.get_ident(), None)
        if self.caught and is_main_thread():
            self._caller = caller
            self.keep(_finish(self._borrow_signal))

    def after_in_child(self) -> None:
        """Forget the parent's threads and signals, and reset all parts."""
        self._under_way, self.caught = {}, ()
        self._return_signal()
        _finish(partial(_run, [part.after_in_child for part in self._parts], "resetting in a forked child"))

    def _prepare(self, forks: list[FrameType | None], caller: FrameType | None) -> None:
        if caller not in forks:
            forks.append(caller)
        _run([part.before for part in reversed(self._parts)], "preparing for a fork")

    def _resume(self, forks: list[FrameType | None], caller: FrameType | None) -> None:
        if forks == [caller]:
            _run([part.after_in_parent for part in self._parts], "resuming after a fork")
        if caller in forks:
            forks.remove(caller)

    def keep(self, caught: tuple[BaseException, ...]) -> None:
        """Keep exceptions for later; raise one of a thread in which no signal handlers run."""
        if not caught:
            return
        if not is_main_thread():
            raise caught[0]
        self.caught += caught

    def _borrow_signal(self) -> None:
        """Have the exception raised when the hooks are over; needs a signal that is unused."""
        if self._borrowed is None:
            self._borrowed = _unused_signal()
        if self._borrowed is not None:
            _signal.signal(self._borrowed, self._on_signal)
            self.to_send[:] = [self._borrowed]

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if frame is not self._caller and _is_below(frame, self._caller):
            # Another hook is running: CPython would print the exception there.
            BackgroundThread(partial(_send_later, number, REAL.get_ident())).start()
            return
        try:
            self._return_signal()
        finally:
            self._raise_now()

    def _return_signal(self) -> None:
        number, self._borrowed, self._caller = self._borrowed, None, None
        self.to_send.clear()
        if number is not None:
            _signal.signal(number, _signal.SIG_DFL)

    def _raise_now(self) -> None:
        """Raise the most important exception: one that ends the program, else the first."""
        caught, self.caught = self.caught, ()
        if caught:
            raise next((error for error in caught if not isinstance(error, Exception)), caught[0])


def _finish(work: Callable[[], None]) -> tuple[BaseException, ...]:
    """Repeat `work` until nothing interrupts it; return the exceptions that did.

    Nothing is called between an exception and the next try: CPython runs signal handlers at calls and at the
    ends of loops, and two signals may come at once. So a second exception is caught, too.
    """
    caught: tuple[BaseException, ...] = ()
    while len(caught) < _MOST_TRIES:
        try:
            while len(caught) < _MOST_TRIES:
                try:
                    work()
                    return caught
                except BaseException as error:  # noqa: BLE001 - returned
                    caught += (error,)
        except BaseException as error:  # noqa: BLE001 - returned
            caught += (error,)
    return caught


def _run(steps: Sequence[Step], doing: str) -> None:
    for step in steps:
        try:
            step()
        except Exception as error:  # noqa: BLE001 - logged
            ignore(error, doing)


def _unused_signal() -> int | None:
    return next((number for number in _HARMLESS if _signal.getsignal(number) is _signal.SIG_DFL), None)


def _is_below(frame: FrameType | None, caller: FrameType | None) -> bool:
    while frame is not None and frame is not caller:
        frame = frame.f_back
    return frame is not None


def _send_later(number: int, thread: int) -> None:
    REAL.sleep(_LATER_S)
    _signal.pthread_kill(thread, number)


HOOKS = ForkHooks()
"""The hooks of this process."""


def _before() -> None:
    try:
        HOOKS.before(sys._getframe().f_back)
    except BaseException as error:  # noqa: BLE001 - kept
        HOOKS.keep((error,))


def _after_in_parent() -> None:
    try:
        HOOKS.after_in_parent(sys._getframe().f_back)
    except BaseException as error:  # noqa: BLE001 - kept
        HOOKS.keep((error,))


# Twice: an exception of a handler that runs just when a hook begins cannot be caught in it, and the next one
# finishes what an exception in the code above has left.
os.register_at_fork(before=_before, after_in_parent=_after_in_parent, after_in_child=HOOKS.after_in_child)
os.register_at_fork(before=_before, after_in_parent=_after_in_parent)
# Sends the signal, if there is one, by C code: a sort calls its key for each item. No Python code runs until
# the fork returns, so that the handler is called where the program forks.
os.register_at_fork(after_in_parent=partial(HOOKS.to_send.sort, key=_thread.interrupt_main))
