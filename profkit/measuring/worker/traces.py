"""Tracebacks as the user would see them who had run the code: without the worker's own frames."""

from __future__ import annotations

import os
import traceback
from collections.abc import Iterator

from .measured import CALL
from .statement import FUNCTION, SPLICES

_FOLDER = os.path.dirname(os.path.abspath(__file__)) + os.sep


def trace_of(error: BaseException) -> str:
    """The traceback's text; lines of "<setup>" and "<stmt>" are numbered as in what the user wrote."""
    told = traceback.TracebackException.from_exception(error)
    for each in _all_of(told, set()):
        own = [place for place, frame in enumerate(each.stack) if _is_own(frame.filename)]
        del each.stack[: max(own, default=-1) + 1]  # what is in between helped the worker on its way
        for frame in each.stack:
            _put_in_own_place(frame)
    return "".join(told.format())


def unwrapped(error: RuntimeError) -> BaseException:
    """A StopIteration of the statement, which the generator that holds the statement turned into `error`."""
    cause = error.__cause__
    trace = None if cause is None else cause.__traceback__
    if not isinstance(cause, StopIteration) or trace is None:
        return error
    return cause if trace.tb_frame.f_code.co_name == FUNCTION else error


def _all_of(told: traceback.TracebackException, seen: set[int]) -> Iterator[traceback.TracebackException]:
    """The exception with all that it came from and holds."""
    if id(told) not in seen:
        seen.add(id(told))
        yield told
        for other in (told.__cause__, told.__context__, *(told.exceptions or ())):
            if other is not None:
                yield from _all_of(other, seen)


def _is_own(name: str) -> bool:
    return name == CALL or name.startswith(_FOLDER)


def _put_in_own_place(frame: traceback.FrameSummary) -> None:
    splice = SPLICES.get(frame.filename)
    if splice is None or frame.lineno is None:
        return
    piece = splice.origin(frame.lineno)
    frame.filename, frame.lineno = piece.name, frame.lineno - piece.before
    if frame.end_lineno is not None:
        frame.end_lineno -= piece.before
    if frame.name == FUNCTION:
        frame.name = "<module>"
