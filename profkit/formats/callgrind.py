"""Counts of Callgrind, read from `callgrind.out` directly: the numbers of `callgrind_annotate`, but faster.

The format: Valgrind manual, "Callgrind Format Specification",
https://valgrind.org/docs/manual/cl-format.html. Rows are named as `callgrind_annotate` names them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from operator import length_hint
from pathlib import Path

from profkit.errors import DamagedFile
from profkit.formats.limits import BoundedBuilder, Budget, unlimited
from profkit.formats.registry import Origin, Selection, Values
from profkit.model.function_counts import CallCount, FunctionCount
from profkit.model.measurement import INSTRUCTIONS, CallgrindDump
from profkit.model.notes import Note, NoteCode
from profkit.model.profile import Profile
from profkit.transforms.call_graphs import unfold_functions
from profkit.units import Unit

_HEADER = ("part:", "desc:", "positions:", "thread:", "pid:", "cmd:", "event:", "rec:")
"""Header lines that each further part of a file repeats."""

_IGNORED = frozenset(("jump", "jcnd"))
_ELSEWHERE = {"cob": "shared_objects", "jfi": "files", "jfn": "functions"}
"""Fields for the names that lines of calls and jumps may give."""
_INVALID = "invalid literal"
"""Beginning of Python's message for text that is not a number."""


@dataclass(slots=True)
class Body:
    """Sums of cost and call lines, by the function that they are in.

    Costs are of one event. `totals` (of the lines) and `summary` (of the
    program, which may include a few costs that no line has) are of all events.
    """

    events: tuple[str, ...]
    event: int
    """Place of the event among them."""
    column: int
    """Place of its count in a cost line."""
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
            try:
                shared_object = _named(body.shared_objects, value)
            except ValueError:  # callgrind_annotate reads such files: the object is then unknown
                shared_object = ""
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
    if key in _ELSEWHERE:
        # These lines may refer to a name that is never given: nothing else needs it.
        with suppress(ValueError):
            _named(getattr(body, _ELSEWHERE[key]), value)
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
    with _lines_named(lines, unread, path):
        return _dump(_body(unread, _instructions))


@contextmanager
def _lines_named(lines: Sequence[str], unread: Iterator[str], path: Path) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        number = len(lines) - length_hint(unread)
        problem = str(error)
        if problem.startswith(_INVALID):
            problem = f"{lines[number - 1][:80]!r} has a count that is not a whole number"
        raise DamagedFile(path, f"line {number}: {problem}") from error


def _instructions(events: Sequence[str]) -> int:
    if INSTRUCTIONS not in events:
        raise ValueError(f"its events are {' '.join(events)}, without {INSTRUCTIONS}")
    return events.index(INSTRUCTIONS)


def _body(unread: Iterator[str], choose: Callable[[Sequence[str]], int]) -> Body:
    positions = 1
    for line in unread:
        if line.startswith("positions:"):
            positions = len(line.split()) - 1
        elif line.startswith("events:"):
            events = tuple(line.split()[1:])
            if not events:
                raise ValueError("its line of events names none")
            event = choose(events)
            body = Body(events, event, positions + event, positions + len(events))
            read_body(unread, body)
            return body
    raise ValueError("it ends without a line of events")


def _dump(body: Body) -> CallgrindDump:
    _check_totals(body)
    totals = body.summary if any(body.summary) else body.totals
    return CallgrindDump(body.events, tuple(totals), tuple(_functions(body)), tuple(_calls(body)))


def _check_totals(body: Body) -> None:
    """Raise ValueError if the file is cut short, or a line of it is damaged."""
    if not body.totals:
        raise ValueError("it ends without its totals")
    functions, total = sum(body.own.values()), body.totals[body.event]
    if functions != total:
        what = body.events[body.event]
        what = "instructions" if what == INSTRUCTIONS else what
        raise ValueError(f"its functions add up to {functions} {what}, its totals say {total}")


def _calls(body: Body, factor: int = 1) -> Iterator[CallCount]:
    for (caller, callee), (calls, cost) in body.edges.items():
        yield CallCount(caller, callee, calls, cost * factor)


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


_HEAD = re.compile(rb"^(?:events:|positions:|creator: *callgrind|# callgrind format)", re.MULTILINE)
_CREATOR = re.compile(rb"^creator: *(\S.*)$", re.MULTILINE)
_BY_VALGRIND = re.compile(rb"^creator: *callgrind", re.MULTILINE)
_HEAD_BYTES = 1 << 14


def decode(data: bytes, source: Path = Path("callgrind dump"), budget: Budget | None = None) -> Profile:
    """Return the costs of the event that is imported by default; raises as `select` does."""
    return select(data, source, budget).profile


def select(data: bytes, source: Path, budget: Budget | None = None, value: str | None = None) -> Selection:
    """Return the costs of all functions as unordered stacks, with their totals.

    They are of the event `value`, by default of instructions, or of the first event without these.
    Raises UsageError for an unknown event, and DamagedFile, naming `source`.
    """
    builder = BoundedBuilder(budget or unlimited())
    builder.budget.count_records(data.count(b"\n"))

    def chosen(events: Sequence[str]) -> int:
        return _values(events).index(value, source)

    lines = data.decode("utf-8", "surrogateescape").split("\n")
    unread = iter(lines)
    with _lines_named(lines, unread, source):
        body = _body(unread, chosen)
        # Other programs write files in this format without totals.
        if body.totals or _BY_VALGRIND.search(data[:_HEAD_BYTES]):
            _check_totals(body)
    try:
        profile, notes = _profile(body, builder)
    except OverflowError as error:
        raise DamagedFile(source, str(error)) from error
    return _values(body.events).select(body.event, profile, notes)


def _values(events: Sequence[str]) -> Values:
    return Values.named(events, events.index(INSTRUCTIONS) if INSTRUCTIONS in events else 0)


def _profile(body: Body, builder: BoundedBuilder) -> tuple[Profile, tuple[Note, ...]]:
    event = body.events[body.event]
    unit, factor = _unit_of(event)
    functions = [
        replace(count, exclusive=count.exclusive * factor, inclusive=count.inclusive * factor)
        for count in _functions(body)
    ]
    profile = unfold_functions(functions, _calls(body, factor), builder)
    counted = (Note.of(NoteCode.EVENT_COUNTED, event=event),) if unit is Unit.SAMPLES else ()
    approximated = Note.of(NoteCode.TREE_APPROXIMATED, unit=unit.value)
    return replace(profile, unit=unit), (*counted, Note(NoteCode.CALL_GRAPH_RECURSION), approximated)


_MEASURED = re.compile(r"(?:.*\()?(\d{0,6}) ?([a-zA-Zµ]+)\)?")
"""Names of events with a unit, as other programs write them: `ns`, `cpu(ms)`, `Time_(10ns)`."""
_MEASURES = {
    "ns": (Unit.NANOSECONDS, 1),
    "us": (Unit.NANOSECONDS, 10**3),
    "µs": (Unit.NANOSECONDS, 10**3),
    "ms": (Unit.NANOSECONDS, 10**6),
    "s": (Unit.NANOSECONDS, 10**9),
    "B": (Unit.BYTES, 1),
    "bytes": (Unit.BYTES, 1),
    "kB": (Unit.BYTES, 1 << 10),
    "MB": (Unit.BYTES, 1 << 20),
}


def _unit_of(event: str) -> tuple[Unit, int]:
    """Return the unit of an event, and the size of its counts in that unit; most events are just counted."""
    if event == INSTRUCTIONS:
        return Unit.INSTRUCTIONS, 1
    match = _MEASURED.fullmatch(event)
    if match is None or match[2] not in _MEASURES:
        return Unit.SAMPLES, 1
    unit, size = _MEASURES[match[2]]
    return unit, size * int(match[1] or 1)


def sniff(data: bytes) -> bool:
    """Return whether content has the header of a dump."""
    return _HEAD.search(data[:_HEAD_BYTES]) is not None and b"\0" not in data[:_HEAD_BYTES]


def origin_of(data: bytes) -> Origin:
    """Return the program that wrote the dump."""
    creator = _CREATOR.search(data[:_HEAD_BYTES])
    return Origin("" if creator is None else creator[1].decode("utf-8", "replace"))
