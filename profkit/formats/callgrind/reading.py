"""A dump's header, and what its rows add up to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from operator import length_hint
from pathlib import Path

from profkit.errors import DamagedFile
from profkit.formats.callgrind.body import Body, read_body
from profkit.model.measurement import INSTRUCTIONS, CallCount, CallgrindDump, FunctionCount


def read_callgrind(path: Path) -> CallgrindDump:
    """The dump in a file; bytes of names that are no UTF-8 come as lone surrogates.

    Functions come as `file:function`, with the file of inlined code where that differs. Inclusive is
    what calls of the function cost, for one that nothing was seen to call what it cost itself and its
    calls; recursion counts more than once. The parts of a file with several (`--combine-dumps=yes`)
    are added up. Raises DamagedFile, naming the line.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DamagedFile(path, str(error)) from error
    return parse_callgrind(data.decode("utf-8", "surrogateescape"), path)


def parse_callgrind(text: str, path: Path = Path("callgrind text")) -> CallgrindDump:
    """The dump that a text is; `path` is what errors name."""
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
