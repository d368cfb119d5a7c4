"""Frames and threads as text within a line, in py-spy's words.

py-spy writes `name (file:line)`, without the line where it is not known and `name` alone without a
file (py-spy 0.4, src/flamegraph.rs); a thread is the frame `thread (TID)` or `thread (TID): NAME`, a
process `process PID:"COMMAND"`. Text of a frame that would read as something else has its marks escaped.
"""

from __future__ import annotations

import re

from profkit.formats.collapsed.escapes import escape, escape_marks, unescape
from profkit.model.profile import Frame, Thread

_LINE = re.compile(r"\d{1,18}")
_THREAD = re.compile(r"thread \((0x[0-9a-fA-F]{1,16}|\d{1,18})\)(?:: (.*))?", re.DOTALL)
_PROCESS = re.compile(r'process (\d{1,18}):"(.*)"', re.DOTALL)


def write_frame(frame: Frame) -> str:
    """The frame as one text that `read_frame` gives back, and that is no thread, process or comment."""
    name, file = escape(frame.name), escape(frame.file)
    place = f"{file}:{frame.line}" if frame.line else file
    text = f"{name} ({place})" if place else name
    means_another = read_thread(text) or read_process(text) is not None or text.startswith("#")
    if text and read_frame(text) == frame and not means_another:
        return text
    return f"{escape_marks(frame.name)} ({escape_marks(frame.file)}:{frame.line})"


def read_frame(text: str) -> Frame:
    """The frame that a text stands for."""
    # Searched from the end and without a pattern: two that may share a text would try all its divisions.
    name, opened, place = text.rpartition("(")
    if not (opened and name.endswith(" ") and place.endswith(")") and place.find(")") == len(place) - 1):
        return Frame(unescape(text), "")
    name, place = name[:-1], place[:-1]
    file, numbered, line = place.rpartition(":")
    if numbered and _LINE.fullmatch(line):
        return Frame(unescape(name), unescape(file), int(line))
    # Without a line only what looks like a file is one: C++ has names that end in `(anonymous namespace)`.
    if "." in place or "/" in place or (len(place) > 1 and place[0] == "<" and place[-1] == ">"):
        return Frame(unescape(name), unescape(place))
    return Frame(unescape(text), "")


def write_thread(thread: Thread) -> str:
    """The first frame of a thread's stacks; nothing for one of which nothing is known."""
    if not (thread.tid or thread.name):
        return ""
    return f"thread ({thread.tid}): {escape(thread.name)}" if thread.name else f"thread ({thread.tid})"


def read_thread(text: str) -> tuple[int, str] | None:
    """The id and the name of a thread; None for other frames."""
    match = _THREAD.fullmatch(text)
    return match and (int(match[1], 16 if match[1].startswith("0x") else 10), unescape(match[2] or ""))


def write_process(pid: int) -> str:
    """The frame of a process below its threads; its command is not known here."""
    return f'process {pid}:""'


def read_process(text: str) -> int | None:
    """The id of a process; None for other frames."""
    match = _PROCESS.fullmatch(text)
    return match and int(match[1])
