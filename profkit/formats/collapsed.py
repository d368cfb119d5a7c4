"""Collapsed stacks: one line per stack, with its frames root first, separated by `;`, and its count.

The format of Brendan Gregg's FlameGraph, https://github.com/brendangregg/FlameGraph, which most viewers read.
Frames are written as py-spy writes them, `name (file:line)`. The thread is the first frame, written as
`thread (TID): NAME`, below `process PID:"COMMAND"` if there are several processes. So the threads in the
output of `py-spy record -f raw` are read. The threads and frames of `python -m profiling.sampling` are read
too: `tid:TID` and `file:function:line`. So are those of torch.profiler's `export_stacks`,
`file(line):_function`, whose counts are microseconds.

Equal stacks of a thread are one line. So the order of samples is lost, and with it the unit, the period, and
the process if there is only one. Characters that a line cannot hold are escaped: see `escape`.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from io import BytesIO
from itertools import islice
from pathlib import Path

from profkit.errors import DamagedFile
from profkit.formats.json_members import text_lines
from profkit.formats.limits import BoundedBuilder, Budget, unlimited
from profkit.formats.registry import PROFILING_SAMPLING, Origin
from profkit.model.notes import Note, NoteCode
from profkit.model.profile import Frame, Profile, Thread
from profkit.units import Unit

_ESCAPE = r"x[0-9a-f]{2}|u[0-9a-f]{4}"
# Separators of frames and lines for any reader: control characters and Unicode's line breaks.
_UNFIT = r"[;\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]"
# Match a run of backslashes from its beginning only: matching from each position would be quadratic.
_RUN = r"(?<!\\)"
_TO_ESCAPE = re.compile(rf"{_RUN}(\\*)({_UNFIT})|{_RUN}(\\+)(?={_ESCAPE})")
# Marks of files, lines, threads, processes and comments.
_MARK = r"[()]|:(?=\d+\Z)|^[tp#]"
_MARKS_TOO = re.compile(rf"{_RUN}(\\*)({_UNFIT}|{_MARK})|{_RUN}(\\+)(?={_ESCAPE})")
_ESCAPED = re.compile(rf"{_RUN}(\\+)({_ESCAPE})")


def escape(text: str) -> str:
    """Return text without `;`, control characters, line breaks and lone surrogates."""
    if text.isprintable() and ";" not in text and "\\" not in text:
        return text
    return _TO_ESCAPE.sub(_written, text)


def escape_marks(text: str) -> str:
    """Return text as `escape` does, with the marks of files, lines, threads and comments escaped too."""
    return _MARKS_TOO.sub(_written, text)


def unescape(text: str) -> str:
    """Return the text that `escape` was given."""
    return _ESCAPED.sub(_read, text) if "\\" in text else text


def _written(match: re.Match[str]) -> str:
    before, char, backslashes = match.groups()
    if not char:
        return backslashes * 2
    return before * 2 + (f"\\x{ord(char):02x}" if ord(char) < 0x100 else f"\\u{ord(char):04x}")


def _read(match: re.Match[str]) -> str:
    backslashes, digits = match.groups()
    kept = backslashes[: len(backslashes) // 2]
    return kept + (chr(int(digits[1:], 16)) if len(backslashes) % 2 else digits)


_LINE = re.compile(r"\d{1,18}")
_THREAD = re.compile(r"thread \((0x[0-9a-fA-F]{1,16}|\d{1,18})\)(?:: (.*))?", re.DOTALL)
_TID = re.compile(r"tid:(\d{1,18})")
_PLACE = re.compile(r"(?P<file>.+):(?P<name>[^:]+):(?P<line>\d{1,18})", re.DOTALL)
# It replaces white space by underscores.
_TORCH = re.compile(r"(?P<file>\S+\.py)\((?P<line>\d{1,18})\):_(?P<name>\S+)")
_ADDRESS = re.compile(r"_at_0x[0-9a-f]{1,16}>$")
_NS_PER_US = 1000
_PROCESS = re.compile(r'process (\d{1,18}):"(.*)"', re.DOTALL)


def write_frame(frame: Frame) -> str:
    """Return the frame as text for `read_frame`, which is not read as a thread, process or comment."""
    name, file = escape(frame.name), escape(frame.file)
    place = f"{file}:{frame.line}" if frame.line else file
    text = f"{name} ({place})" if place else name
    if text and read_frame(text) == frame and not _means_another(text):
        return text
    return f"{escape_marks(frame.name)} ({escape_marks(frame.file)}:{frame.line})"


def _means_another(text: str) -> bool:
    is_of_tool = read_thread(text) or _TID.fullmatch(text) or _TORCH.fullmatch(text)
    return bool(is_of_tool) or read_process(text) is not None or text.startswith("#")


def read_frame(text: str) -> Frame:
    """Parse a frame."""
    # Search from the end and without a pattern: two adjoining groups would try all splits of a text.
    name, opened, place = text.rpartition("(")
    if not (opened and name.endswith(" ") and place.endswith(")") and place.find(")") == len(place) - 1):
        return Frame(unescape(text), "")
    name, place = name[:-1], place[:-1]
    file, numbered, line = place.rpartition(":")
    if numbered and _LINE.fullmatch(line):
        return Frame(unescape(name), unescape(file), int(line))
    # Without a line, accept only what looks like a file: C++ has names that end in `(anonymous namespace)`.
    if "." in place or "/" in place or (len(place) > 1 and place[0] == "<" and place[-1] == ">"):
        return Frame(unescape(name), unescape(place))
    return Frame(unescape(text), "")


def read_place(text: str) -> Frame:
    """Parse a frame of profiling.sampling; frames of no code, such as `<GC>`, have only a name."""
    match = _PLACE.fullmatch(text)
    return Frame(text, "") if match is None else Frame(match["name"], match["file"], int(match["line"]))


def read_torch_frame(text: str) -> Frame:
    """Parse a frame of torch.profiler; built-in functions have no file, and lose the addresses of objects."""
    match = _TORCH.fullmatch(text)
    if match is None:
        return Frame(_ADDRESS.sub(">", text), "")
    return Frame(match["name"], match["file"], int(match["line"]))


def write_thread(thread: Thread) -> str:
    """Return the first frame of a thread's stacks; empty if nothing is known of the thread."""
    if not (thread.tid or thread.name):
        return ""
    return f"thread ({thread.tid}): {escape(thread.name)}" if thread.name else f"thread ({thread.tid})"


def read_thread(text: str) -> tuple[int, str] | None:
    """Return the id and the name of a thread; None for other frames."""
    match = _THREAD.fullmatch(text)
    return match and (int(match[1], 16 if match[1].startswith("0x") else 10), unescape(match[2] or ""))


def write_process(pid: int) -> str:
    """Return the frame of a process, below its threads; its command is unknown here."""
    return f'process {pid}:""'


def read_process(text: str) -> int | None:
    """Return the id of a process; None for other frames."""
    match = _PROCESS.fullmatch(text)
    return match and int(match[1])


_COUNTED_LINE = re.compile(r"(?:(.*)\s)?(\d{1,18})\s*", re.DOTALL)
_ALONE = re.compile(r"(?:\S+(?: \([^()\s][^()]*\))?\s+)?\d{1,18}\s*")
"""Line of a stack with one frame."""
_SNIFFED_LINES, _SNIFFED_BYTES = 20, 1 << 20


def decode(data: bytes, source: Path = Path("collapsed stacks"), budget: Budget | None = None) -> Profile:
    """Parse the samples, or the times, of all lines; comments (`#`) and empty lines are ignored.

    Raises DamagedFile, naming `source` and the line, for a line without a count.
    """
    budget = budget or unlimited()
    builder = BoundedBuilder(budget)
    read, factor = (read_torch_frame, _NS_PER_US) if _is_of_torch(data) else (read_frame, 1)
    frame = cache(lambda text: builder.frame(read(text)))
    place = cache(lambda text: builder.frame(read_place(text)))
    for number, line in enumerate(text_lines(data), 1):
        if not line.strip() or _is_comment(line):
            continue
        match = _COUNTED_LINE.fullmatch(line)
        if match is None:
            raise DamagedFile(source, f"line {number} does not end with a whole number: {line[:80]!r}")
        stacked = match[1] or ""
        budget.check_depth(stacked.count(";") + 1)
        texts = stacked.split(";") if stacked else []
        if texts and (tid := _TID.fullmatch(texts[0])):
            thread, stack = Thread(0, int(tid[1]), ""), tuple([place(text) for text in texts[1:]])
        else:
            thread, first = _thread(texts)
            stack = tuple([frame(text) for text in texts[first:]])
        builder.add_indexed(stack, builder.thread(thread), int(match[2]) * factor)
    return builder.build(unit=Unit.SAMPLES if factor == 1 else Unit.NANOSECONDS, ordered=False)


def sniff(data: bytes) -> bool:
    """Return whether the first lines are comments or stacks with a count, and at least one is a stack.

    Lines of logs can end in numbers, too. So a frame alone counts only if it is one word, with its place.
    """
    stacks = _first_stacks(data)
    are_counted = bool(stacks) and all(map(_COUNTED_LINE.fullmatch, stacks))
    are_stacks = any(";" in line for line in stacks) or all(map(_ALONE.fullmatch, stacks))
    return are_counted and are_stacks and "\0" not in "".join(stacks)


def _first_stacks(data: bytes) -> list[str]:
    head = data[:_SNIFFED_BYTES]
    # The last line may be incomplete.
    whole = head if len(head) == len(data) else head[: head.rfind(b"\n") + 1] or head
    lines = islice(text_lines(whole), _SNIFFED_LINES)
    return [line for line in lines if line.strip() and not _is_comment(line)]


def _is_comment(line: str) -> bool:
    """Return whether a line is a comment; a file of torch's stacks may have a name that begins with `#`."""
    return line.startswith("#") and not _TORCH.fullmatch(line.rpartition(" ")[0].partition(";")[0])


def _is_of_torch(data: bytes) -> bool:
    texts = (text for line in _first_stacks(data) for text in line.rpartition(" ")[0].split(";"))
    return any(map(_TORCH.fullmatch, texts))


def origin_of(data: bytes) -> Origin:
    """Return the origin, with a note that lines have no unit and no period, unless they have times."""
    if _is_of_torch(data):
        return Origin("torch.profiler")
    tool = PROFILING_SAMPLING if data.startswith(b"tid:") else ""
    return Origin(tool, notes=(Note(NoteCode.SHARES_ONLY),))


def _thread(texts: list[str]) -> tuple[Thread, int]:
    """Return the thread of a stack, and the number of frames that name it.

    If there are several processes, each is the child of the one before; the last has the thread.
    """
    pid = first = 0
    while first < len(texts) and (found := read_process(texts[first])) is not None:
        pid, first = found, first + 1
    named = read_thread(texts[first]) if first < len(texts) else None
    return (Thread(pid, *named), first + 1) if named else (Thread(pid, 0, ""), first)


def encode(profile: Profile) -> bytes:
    """Write a line for each thread and stack with a weight, in the order of their first samples."""
    weights: Counter[tuple[int, int]] = Counter()
    for sample in profile.samples:
        weights[sample.thread, sample.stack] += sample.weight
    threads = _threads(profile)
    frames = [write_frame(frame) for frame in profile.frames]
    written = BytesIO()
    for (thread, stack), weight in weights.items():
        texts = [*threads[thread], *[frames[frame] for frame in profile.stacks[stack]]]
        written.write(f"{';'.join(texts)} {weight}\n".encode())
    return written.getvalue()


def _threads(profile: Profile) -> list[list[str]]:
    several = len({thread.pid for thread in profile.threads}) > 1
    return [_first(thread, several) for thread in profile.threads]


def _first(thread: Thread, several: bool) -> list[str]:
    named = write_thread(thread)
    process = [write_process(thread.pid)] if several and thread.pid else []
    return process + ([named] if named else [])
