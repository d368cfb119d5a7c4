"""Austin's text format: a line for each sample, in chronological order.

`P<pid>;T<iid>:<tid>;<file>:<function>:<line>;... <metric>` with metadata as `# key: value` (Austin 3, README,
"Usage"); `mojo2austin` makes it from Austin's binary files. The metric is the time in microseconds or, in
memory mode, the allocated bytes. In full mode it is the time, whether the thread was idle, and the bytes.
"""

from __future__ import annotations

import re
from functools import cache
from io import BytesIO
from pathlib import Path

from profkit.errors import DamagedFile, UsageError
from profkit.formats.collapsed import read_frame
from profkit.formats.json_members import text_lines
from profkit.formats.limits import BoundedBuilder, Budget, unlimited
from profkit.formats.registry import Origin
from profkit.model.notes import Note, NoteCode
from profkit.model.profile import Frame, Profile, Thread
from profkit.units import Unit

_LINE = re.compile(r"P(\d{1,18});T([^;]*)((?:;.*)?) (-?\d{1,18})(?:,([01]),(-?\d{1,18}))?", re.DOTALL)
_FRAME = re.compile(r"(.*):([^:]+):(\d{1,18})", re.DOTALL)
_NO_NAME = "() "
_LINE_APART = re.compile(r"\);L(\d+)(?=;|\Z)")
_METADATA = re.compile(r"# (\w+): (.*)")
_SAID = re.compile(rb"# \w+: .*|\s*", re.DOTALL)
_STARTS = re.compile(rb"# austin: |P\d+;T[^;\n]*[; ]")
_BINARY = b"MOJ"
_MEMORY = "memory"
_NOTES = {
    _MEMORY: (Note(NoteCode.FREED_MEMORY_LEFT_OUT),),
    "full": (Note(NoteCode.TIME_ONLY),),
}
"""Notes by mode."""


def decode(data: bytes, source: Path = Path("Austin samples"), budget: Budget | None = None) -> Profile:
    """Return the samples in nanoseconds, or in bytes for a file of memory mode.

    Raises DamagedFile, naming `source` and the line, and UsageError for Austin's binary format.
    """
    if data.startswith(_BINARY):
        raise UsageError(f"{source} is in Austin's binary format", "convert it with mojo2austin")
    memory = _metadata(data).get("mode") == _MEMORY
    budget = budget or unlimited()
    builder = BoundedBuilder(budget)
    frame, thread = cache(lambda text: builder.frame(_frame(text))), cache(_thread)
    for number, line in enumerate(text_lines(data), 1):
        if not line or line.startswith("#"):
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            raise DamagedFile(source, f"line {number} is not an Austin sample: {line[:80]!r}")
        weight = int(match[4]) * (1 if memory else 1000)
        if weight > 0:
            budget.check_depth(match[3].count(";"))
            # Before Austin 3, `;` separates a frame from its line.
            texts = _LINE_APART.sub(r":\1)", match[3]).split(";")[1:]
            stack = tuple([frame(text) for text in texts])
            builder.add_indexed(stack, builder.thread(thread(match[1], match[2])), weight)
    return builder.build(unit=Unit.BYTES if memory else Unit.NANOSECONDS)


def sniff(data: bytes) -> bool:
    """Return whether content begins with Austin's metadata or sample, or is one of its binary files."""
    if data.startswith(_BINARY):
        return True
    for line in BytesIO(data):
        if _STARTS.match(line):
            return True
        if not _SAID.fullmatch(line.removesuffix(b"\n")):
            return False
    return False


def origin_of(data: bytes) -> Origin:
    """Return Austin's version, with a note on the metrics that are not kept."""
    metadata = _metadata(data)
    notes = _NOTES.get(metadata.get("mode", ""), ())
    return Origin(f"austin {metadata.get('austin', '')}".strip(), notes=notes)


def _metadata(data: bytes) -> dict[str, str]:
    marked = (line.decode("utf-8", "replace") for line in BytesIO(data) if line.startswith(b"# "))
    found = (_METADATA.match(line.rstrip()) for line in marked)
    return {match[1]: match[2] for match in found if match is not None}


def _frame(text: str) -> Frame:
    """Parse `file:function:line`, before Austin 3 `function (file:line)`, or a name such as `:GC:`."""
    match = _FRAME.fullmatch(text)
    if match is None or not match[2].strip(_NO_NAME):
        return read_frame(text.strip(":"))
    return Frame(match[2], match[1], int(match[3]))


def _thread(pid: str, text: str) -> Thread:
    """Parse `iid:tid`, or before Austin 3.6 the id alone; a thread that is known by its name has no id."""
    named = text.partition(":")[2] if re.match(r"\d+:", text) else text
    if re.fullmatch(r"0x[0-9a-fA-F]{1,16}|\d{1,18}", named):
        return Thread(int(pid), int(named, 16 if named.startswith("0x") else 10), "")
    return Thread(int(pid), 0, named)
