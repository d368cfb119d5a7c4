"""Collapsed stacks as a profile, whatever tool wrote them."""

from __future__ import annotations

import re
from functools import cache
from itertools import islice
from pathlib import Path

from profkit.errors import DamagedFile
from profkit.formats.collapsed.frames import read_frame, read_process, read_thread
from profkit.formats.limits import BoundedBuilder, Budget, unlimited
from profkit.formats.registry import Origin
from profkit.formats.text_lines import text_lines
from profkit.model.profile import Profile, Thread

_LINE = re.compile(r"(?:(.*)\s)?(\d{1,18})\s*", re.DOTALL)
_SNIFFED_LINES, _SNIFFED_BYTES = 20, 1 << 20


def decode(data: bytes, source: Path = Path("collapsed stacks"), budget: Budget | None = None) -> Profile:
    """The samples of all lines; comments (`#`) and empty lines say nothing.

    Raises DamagedFile, naming `source` and the line, for a line without a count.
    """
    budget = budget or unlimited()
    builder = BoundedBuilder(budget)
    frame = cache(lambda text: builder.frame(read_frame(text)))
    for number, line in enumerate(text_lines(data), 1):
        if not line.strip() or line.startswith("#"):
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            raise DamagedFile(source, f"line {number} has no whole number at its end: {line[:80]!r}")
        stacked = match[1] or ""
        budget.check_depth(stacked.count(";") + 1)
        texts = stacked.split(";") if stacked else []
        thread, first = _thread(texts)
        stack = tuple([frame(text) for text in texts[first:]])
        builder.add_indexed(stack, builder.thread(thread), int(match[2]))
    return builder.build(ordered=False)


def sniff(data: bytes) -> bool:
    """Whether the first lines are stacks with a count each, or comments; there must be a stack."""
    head = data[:_SNIFFED_BYTES]
    # The last line may have been cut.
    whole = head if len(head) == len(data) else head[: head.rfind(b"\n") + 1] or head
    lines = islice(text_lines(whole), _SNIFFED_LINES)
    stacks = [line for line in lines if line.strip() and not line.startswith("#")]
    return bool(stacks) and all(map(_LINE.fullmatch, stacks)) and "\0" not in "".join(stacks)


def origin_of(data: bytes) -> Origin:
    """What lines cannot tell: unit and period."""
    return Origin(notes=("collapsed stacks do not tell the time between samples: there are shares only",))


def _thread(texts: list[str]) -> tuple[Thread, int]:
    """Whose stack it is, and how many frames said so.

    Of several processes, each the child of the one before, the last has the thread.
    """
    pid = first = 0
    while first < len(texts) and (found := read_process(texts[first])) is not None:
        pid, first = found, first + 1
    named = read_thread(texts[first]) if first < len(texts) else None
    return (Thread(pid, *named), first + 1) if named else (Thread(pid, 0, ""), first)
