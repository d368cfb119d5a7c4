"""Suspended calls and tasks: a table of the lines at which they await, and sentences of the summary."""

from __future__ import annotations

from collections.abc import Iterator

from profkit.model.region import RegionKind
from profkit.model.run import RunInfo
from profkit.render.document import Block, Cell, Column, Role, Section, Table, cells, more_than, shares
from profkit.render.formatting import Tone, count, percent, place
from profkit.render.options import ReportOptions
from profkit.transforms.origin import is_library_file
from profkit.transforms.unsampled_time import AwaitShare, Suspended, await_shares
from profkit.units import format_duration

_NEARLY_ALL = 0.95
"""Part of the suspended time at one line from which on the part is not worth a word."""
_EXACT = 1000
"""Shares are exact, so they have a decimal."""


def await_blocks(info: RunInfo, options: ReportOptions) -> Iterator[Block]:
    """Yield the lines at which calls or tasks were suspended, the longest first; nothing if none is known."""
    found = await_shares(info)
    if not found:
        return
    lines = found[: options.rows(15, 10)]
    if info.region.kind is RegionKind.PROGRAM:
        yield Section("Suspended tasks, by await", "mean number of tasks at each line")
        figures = [Column("tasks", cells(map(_mean_tasks, lines)))]
    else:
        yield Section("Suspended, by await", "shares are of the wall time of all calls")
        of_lines = [line.share for line in lines]
        figures = [
            Column("share", shares((percent(share, _EXACT) for share in of_lines), of_lines)),
            Column("time", cells(format_duration(line.suspended_s) for line in lines)),
            Column("times", cells(count(line.place.times) for line in lines)),
        ]
    places = [line.place for line in lines]
    yield Table(
        [
            *figures,
            Column("awaiting", cells(one.awaited for one in places), Role.WORDS),
            Column("function", cells((one.function for one in places), Tone.FAINT), Role.NAME),
            Column(
                "where",
                [Cell(place(one.file, one.line, info.process.cwd), Tone.FAINT) for one in places],
                Role.PLACE,
            ),
        ]
    )
    yield from more_than(len(lines), len(found), "line")


def _mean_tasks(line: AwaitShare) -> str:
    """Format a mean number of tasks: `10.2`, `0.04`."""
    return f"{line.share:.1f}" if line.share >= 1 else f"{line.share:.2f}"


def of_tasks(info: RunInfo) -> Iterator[str]:
    """Yield at which line of a program its tasks are suspended longest, if that is known."""
    if info.region.kind is not RegionKind.PROGRAM:
        return
    lines = [one for one in await_shares(info) if not is_library_file(one.place.file)]
    for longest in lines[:1]:
        share = longest.share
        mean = f"on average {_mean_tasks(longest)} tasks are suspended"
        who = f"a task is suspended {100 * share:.0f} % of the time" if share < 1 else mean
        yield f"Meanwhile, {who} {_awaiting(longest, info)}."


def of_suspension(found: Suspended, info: RunInfo) -> str:
    """Return the sentence on the line at which the calls of a region were suspended longest."""
    share = f"{info.label} is suspended {100 * found.share:.0f} % of its wall time"
    if not found.lines:
        return f"{share}."
    longest = found.lines[0]
    part = "" if longest.share >= _NEARLY_ALL * found.share else f", {100 * longest.share:.0f} %"
    return f"{share}{part} {_awaiting(longest, info)}."


def _awaiting(line: AwaitShare, info: RunInfo) -> str:
    one = line.place
    return f"awaiting {one.awaited} in {one.function} ({place(one.file, one.line, info.process.cwd)})"
