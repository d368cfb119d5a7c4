"""Where code stands: frames, and the threads that run them."""

from __future__ import annotations

from typing import NamedTuple


class Frame(NamedTuple):
    """A code position: the function's qualified name, its file, the line at work.

    `line` is 0 where it is not known. A named tuple, because a profile holds tens of thousands.
    """

    name: str
    file: str
    line: int = 0


class Thread(NamedTuple):
    """A thread of a process; `tid` is the system's id (`threading.get_native_id()`)."""

    pid: int
    tid: int
    name: str
