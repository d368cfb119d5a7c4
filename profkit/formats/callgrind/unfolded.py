"""A Callgrind dump as a profile in instructions: its call graph unfolded."""

from __future__ import annotations

import re
from pathlib import Path

from profkit.errors import DamagedFile
from profkit.formats.callgrind.reading import parse_callgrind
from profkit.formats.limits import BoundedBuilder, Budget, unlimited
from profkit.formats.registry import Origin
from profkit.model.profile import Profile
from profkit.transforms.call_graphs import unfold_functions

_NOTES = (
    "The file is a call graph. Self and total of functions are its own, as `callgrind_annotate "
    "--inclusive=yes` has them: each call of a recursion counts again, so totals can exceed the whole.",
    "The file has no stacks, so the call tree is an approximation: a function's instructions are split among "
    "its callers in proportion, and recursion is shown once.",
)
_HEAD = re.compile(rb"^(?:events:|positions:|creator: *callgrind|# callgrind format)", re.MULTILINE)
_CREATOR = re.compile(rb"^creator: *(\S.*)$", re.MULTILINE)
_HEAD_BYTES = 1 << 14


def decode(data: bytes, source: Path = Path("callgrind dump"), budget: Budget | None = None) -> Profile:
    """The instructions of all functions as stacks, unordered, with their totals.

    Raises DamagedFile, naming `source`.
    """
    builder = BoundedBuilder(budget or unlimited())
    builder.budget.count_records(data.count(b"\n"))
    dump = parse_callgrind(data.decode("utf-8", "surrogateescape"), source)
    try:
        return unfold_functions(dump.functions, dump.calls, builder, builder.budget.check_path)
    except OverflowError as error:
        raise DamagedFile(source, str(error)) from error


def sniff(data: bytes) -> bool:
    """Whether a content has the header of a dump."""
    return _HEAD.search(data[:_HEAD_BYTES]) is not None and b"\0" not in data[:_HEAD_BYTES]


def origin_of(data: bytes) -> Origin:
    """The program that wrote the dump, and what dumps cannot tell."""
    creator = _CREATOR.search(data[:_HEAD_BYTES])
    return Origin("" if creator is None else creator[1].decode("utf-8", "replace"), notes=_NOTES)
