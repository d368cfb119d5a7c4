"""Exceptions as text: what travels back of what a job raised."""

from __future__ import annotations

import traceback

from .messages import Message
from .traces import trace_of


def as_reply(error: BaseException) -> Message:
    """The reply of a job that raised."""
    return {"ok": False, "error": _summary(error), "trace": trace_of(error)}


def as_text(error: BaseException) -> str:
    """The whole traceback, of what is the worker's own failure."""
    return "".join(traceback.format_exception(error))


def _summary(error: BaseException) -> str:
    return "".join(traceback.format_exception_only(error)).strip()
