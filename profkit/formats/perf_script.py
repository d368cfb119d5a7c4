"""Text that `perf script` writes: for each sample a head line, then its frames, the innermost first.

perf-script(1), with the default fields. Its names of Python functions, which CPython's perf trampoline adds
(`py::NAME:FILE`), become functions with files. Samples of one event are read. The text of
old recordings has no times.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from statistics import median

from profkit.errors import DamagedFile
from profkit.formats.json_members import text_lines
from profkit.formats.limits import BoundedBuilder, Budget, unlimited
from profkit.formats.registry import Origin, Selection, Values
from profkit.model.profile import Frame, Profile, Thread
from profkit.units import Unit

_SAMPLE = re.compile(
    r"(?P<name>\S.{0,63}?)\s+(?P<pid>\d{1,10}(?:/\d{1,10})?)\s+(?:\[\d{1,6}\]\s+)?(?:\S{4,6}\s+)?"
    r"(?:\d{1,12}\.\d{1,9}:\s+)?(?:(?P<period>\d{1,18})\s+)?(?P<event>(?!\d)[^\s:][^\s]{0,127}?):(?:\s.*)?"
)
_FRAME = re.compile(r"\s+[0-9a-f]{1,16}\s+(?P<call>\S.*)")
_SOURCE_LINE = re.compile(r"  \S.*(?::\d{1,9}|\[[0-9a-f]{1,16}\])(?: .*)?")
"""Line below a frame, with the option `-F +srcline`."""
_OFFSET = re.compile(r"\+0x[0-9a-f]{1,16}$")
_PYTHON = "py::"
_NO_FILES = ("[unknown]", "inlined")
_CLOCKS = ("cpu-clock", "task-clock")
"""Events whose period is in nanoseconds."""
_SNIFFED_LINES, _SNIFFED_BYTES = 40, 1 << 16


def decode(data: bytes, source: Path = Path("perf script"), budget: Budget | None = None) -> Profile:
    """Parse the samples of the first event; raises DamagedFile, naming `source` and the line."""
    return select(data, source, budget).profile


def select(data: bytes, source: Path, budget: Budget | None = None, value: str | None = None) -> Selection:
    """Parse the samples of the event `value`, by default of the first one.

    Raises UsageError for an unknown event, and DamagedFile, naming `source` and the line.
    """
    builder = BoundedBuilder(budget or unlimited())
    events = _events(data)
    values = Values.named(events or (Unit.SAMPLES.value,))
    place = values.index(value, source)
    try:
        return values.select(place, _profile(data, events[place] if events else "", builder))
    except ValueError as error:
        raise DamagedFile(source, str(error)) from error


def _profile(data: bytes, event: str, builder: BoundedBuilder) -> Profile:
    frame = cache(lambda text: builder.frame(_frame(text)))
    periods: list[float] = []
    for head, calls in _samples(data, builder.budget):
        if head["event"] == event:
            pid, _, tid = head["pid"].rpartition("/")
            thread = builder.thread(Thread(int(pid or 0), int(tid), head["name"]))
            builder.add_indexed(tuple([frame(call) for call in reversed(calls)]), thread)
            if head["period"] is not None:
                periods.append(float(head["period"]))
    is_clock = event.partition(":")[0] in _CLOCKS
    return builder.build(period_ns=median(periods) if is_clock and periods else 0.0)


def sniff(data: bytes) -> bool:
    """Return whether the first lines have a sample's head and a frame."""
    head = data[:_SNIFFED_BYTES]
    whole = head if len(head) == len(data) else head[: head.rfind(b"\n") + 1]
    lines = [line for line in islice(text_lines(whole), _SNIFFED_LINES) if line.strip() and line[0] != "#"]
    return (
        len(lines) > 1 and _SAMPLE.fullmatch(lines[0]) is not None and _FRAME.fullmatch(lines[1]) is not None
    )


def origin_of(data: bytes) -> Origin:
    """Return the origin."""
    return Origin("perf")


def _events(data: bytes) -> tuple[str, ...]:
    listed = (_SAMPLE.fullmatch(line) for line in text_lines(data) if line[:1] not in ("", " ", "\t", "#"))
    return tuple(dict.fromkeys(match["event"] for match in listed if match is not None))


def _samples(data: bytes, budget: Budget) -> Iterator[tuple[re.Match[str], list[str]]]:
    """Yield the head of each sample, and its calls, the innermost first; raises ValueError."""
    head: re.Match[str] | None = None
    calls: list[str] = []
    for number, line in enumerate(text_lines(data), 1):
        if line.startswith("#"):
            continue
        if not line.strip():
            if head is not None:
                yield head, calls
            head, calls = None, []
        elif head is None:
            head = _SAMPLE.fullmatch(line.rstrip())
            if head is None:
                raise ValueError(f"line {number} is not the first line of a sample: {line[:80]!r}")
        else:
            match = _FRAME.fullmatch(line)
            if match is None and calls and _SOURCE_LINE.fullmatch(line):
                continue
            if match is None:
                raise ValueError(f"line {number} is not a frame: {line[:80]!r}")
            calls.append(match["call"])
            budget.check_depth(len(calls))
    if head is not None:
        yield head, calls


def _frame(text: str) -> Frame:
    """Parse `NAME+0xOFFSET (FILE)`; a Python function's file is in its name."""
    name, opened, file = text.rpartition(" (")
    if not opened:
        name, file = text, ""
    name, file = _OFFSET.sub("", name.strip()), file.removesuffix(")")
    if name.startswith(_PYTHON):
        function, _, path = name[len(_PYTHON) :].partition(":")
        return Frame(function, path)
    return Frame(name, "" if file in _NO_FILES else file)
