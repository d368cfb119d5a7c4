"""CPython's perf trampoline: machine code of its own for each Python function, and which is whose.

From 3.12, `sys.activate_stack_trampoline("perf")` makes CPython enter each Python function through a stub,
and write a line `ADDRESS SIZE py::QUALNAME:FILE` per stub to `/tmp/perf-PID.map`. The file is removed as soon
as it is open, so that it is left behind under no circumstances; a descriptor stays.
https://docs.python.org/3/howto/perf_profiling.html
"""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from types import CodeType, FunctionType

from .protocol import content_of

_PREFIX = "py::"

Stub = tuple[int, str, str, int]
"""Address, and the function's qualified name, file and first line; 0 if the line is not known."""


def activate() -> int:
    """Enter functions through stubs from now on; return the descriptor of the map, without its file.

    Raises RuntimeError if this Python cannot.
    """
    if sys.version_info < (3, 12):
        raise RuntimeError(f"Python {sys.version.split()[0]} has no perf trampoline; 3.12 and later have one")
    try:
        sys.activate_stack_trampoline("perf")
    except ValueError as error:
        raise RuntimeError(f"this Python has no perf trampoline: {error}") from error
    os.register_at_fork(after_in_child=_forget)
    path = map_path(os.getpid())
    try:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    finally:
        os.unlink(path)


def _forget() -> None:
    """Switch off the trampoline that a fork has switched on again, with a map of its own."""
    if sys.version_info >= (3, 12):
        sys.deactivate_stack_trampoline()
    with contextlib.suppress(OSError):  # this version makes none
        os.unlink(map_path(os.getpid()))


def map_path(pid: int) -> str:
    """Return where CPython writes the map of a process; it ignores TMPDIR."""
    return f"/tmp/perf-{pid}.map"


def stubs_in(descriptor: int) -> list[Stub]:
    """Return the stubs in a map so far."""
    text = content_of(descriptor).decode("utf-8", "surrogateescape")
    named = named_stubs(text)
    lines = _lines({file for _, _, file in named})
    return [(address, name, file, lines.get((name, file), 0)) for address, name, file in named]


def named_stubs(text: str) -> list[tuple[int, str, str]]:
    """Return the stubs in the text of a map: address, and the function's qualified name and file."""
    found = []
    for line in text.splitlines():
        address, _, entry = (*line.split(" ", 2), "", "")[:3]
        if entry.startswith(_PREFIX):
            name, _, file = entry.removeprefix(_PREFIX).partition(":")  # a qualified name has no colon
            found.append((int(address, 16), name, file))
    return found


def _lines(files: set[str]) -> dict[tuple[str, str], int]:
    """Return the first lines of functions of these files; the map has none."""
    gc.unfreeze()  # else functions of the zygote are not found
    found: dict[tuple[str, str], int] = {}
    pending = [one.__code__ for one in gc.get_objects() if type(one) is FunctionType]
    seen: set[int] = set()
    while pending:
        code = pending.pop()
        if id(code) in seen or code.co_filename not in files:
            continue
        seen.add(id(code))
        found.setdefault((code.co_qualname, code.co_filename), code.co_firstlineno)
        pending += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return found
