"""Counts of Callgrind, read from `callgrind.out` directly: the numbers of `callgrind_annotate`, but faster.

The format: Valgrind manual, "Callgrind Format Specification",
https://valgrind.org/docs/manual/cl-format.html. Rows are named as `callgrind_annotate` names them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import length_hint
from pathlib import Path

from profkit.errors import DamagedFile
from profkit.formats.limits import BoundedBuilder, Budget, unlimited
from profkit.formats.registry import Origin
from profkit.model.measurement import INSTRUCTIONS, CallCount, CallgrindDump, FunctionCount
from profkit.model.notes import Note, NoteCode
from profkit.model.profile import Profile
from profkit.transforms.call_graphs import unfold_functions
from profkit.units import Unit

_HEADER = ("part:", "desc:", "positions:", "thread:", "pid:", "cmd:", "event:", "rec:")
"""Header lines that each further part of a file repeats."""

_IGNORED = frozenset(("jump", "jcnd"))


@dataclass(slots=True)
class Body:
    """Sums of cost and call lines, by the function that they are in.

    Costs are of one event, the one at `column` of a cost line. `totals` (of the lines) and `summary` (of the
    program, which may include a few costs that no line has) are of all events.
    """

    events: tuple[str, ...]
    column: int
    width: int
    """Columns of a cost line, positions and counts; a line has fewer if its last counts are 0."""
    summary: list[int] = field(default_factory=list)
    totals: list[int] = field(default_factory=list)
    """Empty if the file has no line of totals."""
    own: dict[str, int] = field(default_factory=dict)
    objects: dict[str, str] = field(default_factory=dict)
    edges: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    """(caller, callee): [calls, inclusive cost]."""
    files: dict[str, str] = field(default_factory=dict)
    functions: dict[str, str] = field(default_factory=dict)
    shared_objects: dict[str, str] = field(default_factory=dict)
    """Names by `(id)`; also of the two fields above."""


def read_body(lines: Iterator[str], body: Body) -> None:
    """Add all lines to the body; raises ValueError for an invalid line.

    The loop is inlined for speed: it handles every line.
    """
    column, width = body.column, body.width
    own, files, functions = body.own, body.files, body.functions
    current = file = function = callee = callee_file = shared_object = ""
    own[current] = 0
    cost = 0
    for line in lines:
        # A cost line starts with its position: `*` as before, `+` or `-` relative, or a digit.
        if ")" < line < ":":
            fields = line.split()
            if len(fields) == width or column < len(fields) < width:
                cost += int(fields[column])
            elif len(fields) > width:
                raise ValueError(f"{line!r} has more than {len(body.events)} counts")
            continue
        key, assigned, value = line.partition("=")
        if key == "cfn":
            callee = f"{callee_file or file}:{functions.get(value) or _named(functions, value)}"
            callee_file = ""
        elif key == "calls":
            _add_call(body, (current, callee), int(value.partition(" ")[0]), next(lines, ""))
        elif key in ("cfi", "cfl"):
            callee_file = files.get(value) or _named(files, value)
        elif key in ("fi", "fe", "fn"):
            if cost:
                own[current] += cost
                cost = 0
            if key == "fn":
                function = functions.get(value) or _named(functions, value)
                body.objects[f"{file}:{function}"] = shared_object
            else:
                file = files.get(value) or _named(files, value)
            current = f"{file}:{function}"
            if current not in own:
                own[current] = 0
        elif key == "fl":
            file = files.get(value) or _named(files, value)
        elif key == "ob":
            shared_object = _named(body.shared_objects, value)
        elif line:
            _add_other(body, line, key if assigned else "", value)
    if cost:
        own[current] += cost
    if own.pop(""):
        raise ValueError("it has costs before its first function")


def _add_call(body: Body, between: tuple[str, str], calls: int, cost: str) -> None:
    """Add a call line and the cost line after it.

    `calls=0` is a call that began before the last dump, or while collection was off. Its cost is inclusive,
    as for any call. `callgrind_annotate` counts it as the caller's own, so its sums exceed the totals.
    """
    if not (")" < cost < ":" and between[0] and between[1]):
        raise ValueError(f"{calls} calls without their functions or their cost")
    edge = body.edges.get(between)
    if edge is None:
        edge = body.edges[between] = [0, 0]
    fields = cost.split()
    edge[0] += calls
    if len(fields) > body.column:
        edge[1] += int(fields[body.column])


def _add_other(body: Body, line: str, key: str, value: str) -> None:
    """Add totals, and names given on other lines; ignore comments and the header of a further part."""
    if key == "jfi":
        _named(body.files, value)
    elif key == "jfn":
        _named(body.functions, value)
    elif key == "cob":
        _named(body.shared_objects, value)
    elif line.startswith("totals:"):
        body.totals = _sum(body, body.totals, line)
    elif line.startswith("summary:"):
        body.summary = _sum(body, body.summary, line)
    elif line.startswith("events:"):
        if tuple(line.split()[1:]) != body.events:
            raise ValueError(f"a part has other events: {line!r}")
    elif key not in _IGNORED and not line.isspace() and not line.startswith(("#", *_HEADER)):
        raise ValueError(f"{line[:80]!r} is not a line of a dump")


def _sum(body: Body, before: list[int], line: str) -> list[int]:
    counts = [int(count) for count in line.split()[1:]]
    if len(counts) > len(body.events):
        raise ValueError(f"{line!r} has more than {len(body.events)} counts")
    counts += [0] * (len(body.events) - len(counts))
    return [a + b for a, b in zip(before or [0] * len(counts), counts, strict=True)]


def _named(ids: dict[str, str], value: str) -> str:
    """Return the name for `(id)`; `(id) name` defines it; text without an id is a name itself."""
    number, closed, name = value.partition(")")
    if not (closed and number[:1] == "(" and number[1:].isdecimal()):
        return value
    key = f"{number})"
    if name := name.lstrip():
        ids[key] = name
    elif key not in ids:
        raise ValueError(f"{key} has no name")
    return ids[key]


def parse_callgrind(text: str, path: Path = Path("callgrind text")) -> CallgrindDump:
    """Parse the text of a dump; errors name `path`.

    Functions are named `file:function`, with the file of inlined code if that differs. The inclusive cost of
    a function is the cost of its calls; if no call was seen, it is its own cost plus that of its callees.
    Recursion counts more than once. The parts of a file with several (`--combine-dumps=yes`) are added up.
    Raises DamagedFile, naming the line.
    """
    lines = text.split("\n")
    unread = iter(lines)
    try:
        return _dump(_body(unread))
    except ValueError as error:
        raise DamagedFile(path, f"line {len(lines) - length_hint(unread)}: {error}") from error


def _body(unread: Iterator[str]) -> Body:
    positions = 1
    for line in unread:
        if line.startswith("positions:"):
            positions = len(line.split()) - 1
        elif line.startswith("events:"):
            events = tuple(line.split()[1:])
            if INSTRUCTIONS not in events:
                raise ValueError(f"its events are {' '.join(events)}, without {INSTRUCTIONS}")
            body = Body(events, positions + events.index(INSTRUCTIONS), positions + len(events))
            read_body(unread, body)
            return body
    raise ValueError("it ends without a line of events")


def _dump(body: Body) -> CallgrindDump:
    if not body.totals:
        raise ValueError("it ends without its totals")
    functions = sum(body.own.values())
    if functions != (total := body.totals[body.events.index(INSTRUCTIONS)]):
        raise ValueError(f"its functions add up to {functions} instructions, its totals say {total}")
    calls = tuple(CallCount(*between, *counts) for between, counts in body.edges.items())
    totals = body.summary if any(body.summary) else body.totals
    return CallgrindDump(body.events, tuple(totals), tuple(_functions(body)), calls)


def _functions(body: Body) -> Iterator[FunctionCount]:
    received: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
    spent: defaultdict[str, int] = defaultdict(int)
    for (caller, callee), (calls, cost) in body.edges.items():
        counts = received[callee]
        counts[0] += calls
        counts[1] += cost
        spent[caller] += cost
    own, objects = body.own, body.objects
    for name, (calls, inclusive) in received.items():
        yield FunctionCount(name, own.get(name, 0), inclusive, calls, objects.get(name, ""))
    for name, cost in own.items():
        if name not in received:
            yield FunctionCount(name, cost, cost + spent[name], 0, objects.get(name, ""))


_NOTES = (
    Note(NoteCode.CALL_GRAPH_RECURSION),
    Note.of(NoteCode.TREE_APPROXIMATED, unit=Unit.INSTRUCTIONS.value),
)
_HEAD = re.compile(rb"^(?:events:|positions:|creator: *callgrind|# callgrind format)", re.MULTILINE)
_CREATOR = re.compile(rb"^creator: *(\S.*)$", re.MULTILINE)
_HEAD_BYTES = 1 << 14


def decode(data: bytes, source: Path = Path("callgrind dump"), budget: Budget | None = None) -> Profile:
    """Return the instructions of all functions as unordered stacks, with their totals.

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
    """Return whether content has the header of a dump."""
    return _HEAD.search(data[:_HEAD_BYTES]) is not None and b"\0" not in data[:_HEAD_BYTES]


def origin_of(data: bytes) -> Origin:
    """Return the program that wrote the dump, with notes on what dumps lack."""
    creator = _CREATOR.search(data[:_HEAD_BYTES])
    return Origin("" if creator is None else creator[1].decode("utf-8", "replace"), notes=_NOTES)
