"""Terminal of the screen: whether there is one, and what to do when it is closed."""

from __future__ import annotations

import os
import signal
import sys
import termios
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from profkit.errors import UsageError

_PERIOD_S = 0.25
EXIT_HANGUP = 128 + signal.SIGHUP
"""Exit code of a command whose terminal was closed, as shells report it."""


def check_terminal() -> None:
    """Raise UsageError if there is no terminal, or none that can show a screen."""
    if not all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout)):
        raise UsageError(
            "`profkit top` needs a terminal as stdin and stdout",
            "without one, `profkit dump PID` shows the stacks, and `profkit attach PID` records them",
        )
    if os.environ.get("TERM", "dumb") in ("", "dumb"):
        raise UsageError(
            "the terminal cannot show a screen (TERM is dumb)", "set TERM, or use `profkit attach PID`"
        )


@contextmanager
def ended_with_terminal(clean_up: Callable[[], None]) -> Iterator[None]:
    """If the terminal is closed while the body runs, clean up and end this process.

    textual can wait forever for a terminal that is gone (8.2), so a thread of its own looks for that.
    """
    over = threading.Event()

    def watch() -> None:
        while not over.wait(_PERIOD_S):
            if _is_gone():
                clean_up()
                os._exit(EXIT_HANGUP)

    thread = threading.Thread(target=watch, name="profkit-terminal", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def keep_modes_when_continued(redraw: Callable[[], object]) -> None:
    """Let textual set up the terminal again only after it was suspended by SIGTSTP.

    It would also do so after SIGSTOP, or when the terminal is closed, and then forget the modes to restore.
    """
    suspend, resume = signal.getsignal(signal.SIGTSTP), signal.getsignal(signal.SIGCONT)
    if not callable(suspend) or not callable(resume):
        return
    suspended = threading.Event()

    def on_suspend(number: int, frame: FrameType | None) -> None:
        suspended.set()
        suspend(number, frame)

    def on_continue(number: int, frame: FrameType | None) -> None:
        if suspended.is_set():
            suspended.clear()
            resume(number, frame)
        else:
            redraw()

    signal.signal(signal.SIGTSTP, on_suspend)
    signal.signal(signal.SIGCONT, on_continue)


def _is_gone() -> bool:
    try:
        termios.tcgetattr(sys.__stdin__ or 0)
    except termios.error:
        return True
    return False
