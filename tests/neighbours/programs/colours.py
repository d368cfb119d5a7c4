"""Work in functions that samples can name.

Each keeps a processor busy for a time of its thread's own: the busier the machine, the longer it works.
"""

from __future__ import annotations

from time import thread_time_ns


def spin(duration_s: float) -> None:
    end_ns = thread_time_ns() + int(duration_s * 1e9)
    while thread_time_ns() < end_ns:
        pass


LONG = 100
"""Numbers of requests from which on they take ten times as long."""


def turns(number: int) -> int:
    """How often a request does its work."""
    return 10 if number >= LONG else 1


def red(duration_s: float) -> None:
    spin(duration_s)


def green(duration_s: float) -> None:
    spin(duration_s)


def blue(duration_s: float) -> None:
    spin(duration_s)
