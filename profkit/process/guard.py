"""Exceptions in profkit's own work: which are the program's and raised; others are logged once."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found] # a file named signal.py may hide the module `signal`
import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from traceback import walk_tb
from typing import NoReturn, ParamSpec, TypeVar

from profkit.disabled import hiding_module
from profkit.errors import InternalError, ProfkitError, UsageError
from profkit.model.region import code_of


def reraise_signal_error(error: BaseException) -> None:
    """Raise the exception of the program's signal handler, if that interrupted profkit's work.

    A time limit is often a SIGALRM handler that raises TimeoutError: an OSError, like profkit's own
    failures. The check is almost free for exceptions raised directly in the caller's frame.
    """
    trace = error.__traceback__
    if (trace is None or trace.tb_next is None) and error.__cause__ is None and error.__context__ is None:
        return
    handlers = {code_of(_signal.getsignal(number)) for number in range(1, _signal.NSIG)} - {None}
    for raised in chain_of(error):
        if any(frame.f_code in handlers for frame, _ in walk_tb(raised.__traceback__)):
            raise raised


@contextmanager
def suppressed(*kinds: type[Exception]) -> Iterator[None]:
    """Suppress errors of these kinds, but not one that a signal handler of the program raised."""
    try:
        yield
    except kinds as error:
        reraise_signal_error(error)


def chain_of(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an exception and its chain of causes, each once: raising one again can create a cycle."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


LOG = logging.getLogger("profkit")

_P = ParamSpec("_P")
_T = TypeVar("_T")
_OWN_PACKAGES = frozenset(
    {
        "profkit", "psutil", "wrapt", "torch", "psycopg", "psycopg_binary", "memray",
        "cloudpickle", "click", "rich", "textual", "IPython", "distributed", "fsspec",
        "pyarrow",
    }
)  # fmt: skip
"""Packages whose exceptions profkit's own calls can raise, besides the standard library: all it imports."""

_LOGGED: set[str] = set()


def reraise_program_error(error: BaseException) -> None:
    """Raise the exception in a chain that belongs to the program; return if there is none.

    These are exceptions other than `Exception`, such as KeyboardInterrupt and gevent's Timeout; those of
    its signal handlers; and those of its own classes, which only it can have thrown into the thread.
    """
    for raised in chain_of(error):
        if not isinstance(raised, Exception) or _is_foreign(raised):
            _reraise(raised)
    reraise_signal_error(error)


def explained(error: BaseException, doing: str) -> ProfkitError:
    """Return a profkit error that explains an exception; `InternalError` if it is unexpected."""
    if isinstance(error, ProfkitError):
        return error
    hidden = hiding_module(error)
    if hidden is not None:
        return UsageError(f"{hidden[1]} hides the standard module {hidden[0]!r}", "rename that file")
    return InternalError(doing, error)


def say_once(message: str) -> None:
    """Log a warning, each text only once per process."""
    if message not in _LOGGED:
        _LOGGED.add(message)
        LOG.warning(message)


def ignore(error: BaseException, doing: str) -> None:
    """Log a failure once; raises an exception that belongs to the program."""
    reraise_program_error(error)
    if not isinstance(error, RecursionError):
        LOG.debug("profkit failed", exc_info=error)
        say_once(str(explained(error, doing)))


def guarded(doing: str, work: Callable[_P, object]) -> Callable[_P, None]:
    """Wrap a hook that the interpreter calls, so that its failures are logged and not raised."""

    @wraps(work)
    def run(*args: _P.args, **kwargs: _P.kwargs) -> None:
        try:
            work(*args, **kwargs)
        except Exception as error:  # noqa: BLE001 - logged
            ignore(error, doing)

    return run


def call_back(callback: Callable[[_T], object], value: _T, name: str) -> None:
    """Call a callback of the program from a thread of profkit's, and log what it raises."""
    try:
        callback(value)
    except Exception as error:
        LOG.warning("%s raised %s: %s", name, type(error).__name__, error, exc_info=error)


def _reraise(error: BaseException) -> NoReturn:
    """Raise an exception with its original context, without the one that profkit's code adds."""
    context = error.__context__
    try:
        raise error
    finally:
        error.__context__ = context


def _is_foreign(error: BaseException) -> bool:
    package = type(error).__module__.partition(".")[0]
    return package not in _OWN_PACKAGES and package not in sys.stdlib_module_names
