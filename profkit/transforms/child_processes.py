"""Frames that stand for child processes: below one is everything that was sampled in the child.

The name is short; the whole command is in the place of a file, for those who look for details.
"""

from __future__ import annotations

from collections.abc import Sequence

from profkit.model.frame import Frame

_PREFIX = "<process "
_LONGEST = 40
_MODULES = {
    "multiprocessing.spawn": "multiprocessing worker",
    "multiprocessing.forkserver": "multiprocessing fork server",
    "multiprocessing.resource_tracker": "multiprocessing resource tracker",
}
"""What the command of a process has after -c, and what it is."""


def child_frame(pid: int, command: str) -> Frame:
    """The frame of a child process: `python worker.py [pid 123]`."""
    return Frame(f"{_short(command)} [pid {pid}]", f"{_PREFIX}{pid}: {command}>")


def is_child_file(file: str) -> bool:
    """Return whether a frame with this file represents a child process."""
    return file.startswith(_PREFIX)


def child_frames(frames: Sequence[Frame]) -> frozenset[int]:
    """The numbers of the frames that stand for child processes."""
    return frozenset(number for number, frame in enumerate(frames) if is_child_file(frame.file))


def _short(command: str) -> str:
    """The program and what it runs: a script, a module, or the first argument that is no option."""
    program, *arguments = command.split() or [""]
    name = program.rpartition("/")[2] or "process"
    for place, argument in enumerate(arguments):
        if argument == "-c":
            code = " ".join(arguments[place + 1 :])
            return next((known for module, known in _MODULES.items() if module in code), f"{name} -c …")
        if argument == "-m":
            return _cut(" ".join([name, "-m", *arguments[place + 1 : place + 2]]))
        if not argument.startswith("-"):
            return _cut(f"{name} {argument.rpartition('/')[2]}")
    return _cut(name)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
