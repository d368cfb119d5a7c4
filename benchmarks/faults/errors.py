"""Errors of the campaign itself."""

from __future__ import annotations


class NotPermitted(RuntimeError):
    """This machine does not permit a fault; the message says what is missing."""
