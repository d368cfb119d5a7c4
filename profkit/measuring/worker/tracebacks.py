"""Tracebacks of exceptions, as texts for replies: the user's frames, numbered as in the user's code."""

from __future__ import annotations

import os
import traceback
from collections.abc import Iterator

from .protocol import FUNCTION, Message
from .runnable import CALL
from .source import SOURCES

_FOLDER = os.path.dirname(os.path.abspath(__file__)) + os.sep


def trace_of(error: BaseException) -> str:
    """Return the traceback's text; lines of "<setup>" and "<stmt>" are numbered as in the user's text."""
    report = traceback.TracebackException.from_exception(error)
    for each in _all_of(report, set()):
        own = [
            index
            for index, frame in enumerate(each.stack)
            if frame.filename == CALL or frame.filename.startswith(_FOLDER)
        ]
        del each.stack[: max(own, default=-1) + 1]  # with library frames between the worker's own
        for frame in each.stack:
            _relocate(frame)
    return "".join(report.format())


def unwrapped(error: RuntimeError) -> BaseException:
    """Return the statement's StopIteration, if its generator turned that into `error`; else `error`."""
    cause = error.__cause__
    trace = None if cause is None else cause.__traceback__
    if not isinstance(cause, StopIteration) or trace is None:
        return error
    return cause if trace.tb_frame.f_code.co_name == FUNCTION else error


def _all_of(report: traceback.TracebackException, seen: set[int]) -> Iterator[traceback.TracebackException]:
    """Yield an exception with its causes, contexts and group members."""
    if id(report) not in seen:
        seen.add(id(report))
        yield report
        for other in (report.__cause__, report.__context__, *(report.exceptions or ())):
            if other is not None:
                yield from _all_of(other, seen)


def _relocate(frame: traceback.FrameSummary) -> None:
    source = SOURCES.get(frame.filename)
    if source is None or frame.lineno is None:
        return
    piece = source.origin(frame.lineno)
    frame.filename, frame.lineno = piece.name, frame.lineno - piece.before
    if frame.end_lineno is not None:
        frame.end_lineno -= piece.before
    if frame.name == FUNCTION:
        frame.name = "<module>"


def as_reply(error: BaseException) -> Message:
    """Return the reply of a job that raised."""
    summary = "".join(traceback.format_exception_only(error)).strip()
    return {"ok": False, "error": summary, "trace": trace_of(error)}
