"""What the program's own signal handlers raise, wherever it comes upon profkit at work."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found] # a file called signal.py may hide the module above it
from collections.abc import Iterator
from traceback import walk_tb

from profkit.model.region import code_of


def let_through(error: BaseException) -> None:
    """Raise what a signal handler of the program raised, if that is what ended profkit's work.

    A time limit is often a handler of SIGALRM that raises TimeoutError: an OSError, as profkit's own
    failures are. Nearly nothing is done about an exception of the caller's own.
    """
    trace = error.__traceback__
    if (trace is None or trace.tb_next is None) and error.__cause__ is None and error.__context__ is None:
        return
    handlers = {code_of(_signal.getsignal(number)) for number in range(1, _signal.NSIG)} - {None}
    for raised in chain_of(error):
        if any(frame.f_code in handlers for frame, _ in walk_tb(raised.__traceback__)):
            raise raised


def chain_of(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an exception, what caused it, and so on; raising one of them again can have made a circle."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__
