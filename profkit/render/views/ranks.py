"""Ranks of a job that wait for one another: who made the others wait, and all ranks by function."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from statistics import median

from profkit.model.profile import Frame
from profkit.model.ranks import LateRanks, RankTimes
from profkit.model.run import Merged
from profkit.render.document import Block, Cell, Column, Role, Section, Table, cells, more_than, shares
from profkit.render.escape import short
from profkit.render.formatting import Tone, count, join_words, number_ranges, percent, place
from profkit.render.options import ReportOptions
from profkit.transforms.waiting import SLEEP, wait_label

_MOST_COLUMNS, _MOST_ON_PAGES = 8, 64
"""Columns up to which each rank has one of its own; alike ranks share one beyond."""
_ALIKE = 0.05
"""Largest difference of shares between ranks that are alike; it is doubled until they fit in the columns."""
_MIN_SHARE = 0.01
"""Share in some rank from which on a function is shown."""
_WAITING = "waiting for others"


def of_late(merged: Merged, cwd: str, line_of: Callable[[str, int], str | None]) -> Iterator[str]:
    """Yield which ranks made the others wait, for how long, and where they spent that time."""
    late = None if merged.ranks is None else merged.ranks.late
    if late is None:
        return
    others = "the others" if len(merged.processes) - len(late.ranks) > 1 else "the other one"
    digits = 0 if late.error_s >= 1 or (late.collectives and late.waited_s >= 10) else 1
    error = f" ±{late.error_s:,.{digits}f}" if not late.collectives else ""
    waited = f"{late.waited_s:,.{digits}f} s{error} of {late.of_s:,.{digits}f} s"
    where = f"{_where(late, cwd, line_of)}{_arrived(late)}"
    yield f"{_who(merged, late.ranks)} made {others} wait {waited}{where}."


def _arrived(late: LateRanks) -> str:
    """Say in how many collectives the ranks arrived last, if it is known from traces."""
    if not late.collectives:
        return ""
    names = join_words(sorted(map(short, late.collectives)))
    pronoun = "it" if len(late.ranks) == 1 else "one of them"
    return f"; {pronoun} was the last in {late.last:,} of {count(late.of, 'collective')} ({names})"


def _where(late: LateRanks, cwd: str, line_of: Callable[[str, int], str | None]) -> str:
    if late.function is None:
        return "; no function alone explains it"
    named = _named(late.function, cwd)
    if late.waits_for is None:
        return f", in {named}"
    label = late.waits_for or wait_label((), line_of(late.function.file, late.function.line))
    doing = "sleeping" if label == SLEEP else f"waiting for {label}" if label else "waiting"
    children = ""
    if late.of_children is not None:
        children = f"; its child processes are mostly in {_named(late.of_children, cwd)}"
    return f", {doing} in {named}{children}"


def _named(function: Frame, cwd: str) -> str:
    at = place(function.file, function.line, cwd)
    return f"{function.name} ({at})" if at else function.name


def _who(merged: Merged, numbers: Sequence[int]) -> str:
    """Name ranks, with their host if they share one of several."""
    parts = [merged.processes[number].process for number in numbers]
    word = "Process" if any(part.member.rank is None for part in parts) else "Rank"
    hosts = {part.host for part in parts}
    there = sum(part.process.host in hosts for part in merged.processes)
    host = f" on {short(min(hosts))}" if len(hosts) == 1 and there < len(merged.processes) else ""
    plural = {"Process": "Processes", "Rank": "Ranks"}[word] if len(parts) > 1 else word
    is_whole_host = host and len(parts) == there > 1
    return f"{plural} {_listed(_ids(merged, numbers))}{f', all{host},' if is_whole_host else host}"


def _ids(merged: Merged, numbers: Sequence[int]) -> list[int]:
    """Return the ranks of processes, or their pids if one of them has none."""
    parts = [merged.processes[number].process for number in numbers]
    ranks = [part.member.rank for part in parts if part.member.rank is not None]
    return sorted(ranks if len(ranks) == len(parts) else (part.pid for part in parts))


def _listed(numbers: Sequence[int], most: int = 3) -> str:
    """List numbers as ranges: `0–3, 7 and 9`."""
    shown = number_ranges(numbers)
    if len(shown) > most + 1:
        shown = [*shown[:most], f"{len(shown) - most} more"]
    return join_words(shown)


def rank_blocks(merged: Merged, cwd: str, options: ReportOptions) -> Iterator[Block]:
    """Yield a table of the functions by rank, those first that differ most between ranks."""
    ranks = merged.ranks
    if ranks is None:
        return
    functions = [one for one in ranks.functions if max(_shares(one.seconds, ranks)) >= _MIN_SHARE]
    shown = functions[: options.rows(10, 8)]
    rows = [_shares(seconds, ranks) for seconds in (ranks.waited_s, *(one.seconds for one in shown))]
    groups = _groups(merged, rows, _MOST_ON_PAGES if options.whole else _MOST_COLUMNS)
    is_whole = len(groups) == len(merged.processes)
    yield Section(
        "Ranks", f"{'' if is_whole else 'median '}share of each rank's time; functions that differ most first"
    )
    names = [Cell(_WAITING, Tone.FAINT), *cells(one.name for one in shown)]
    places = ["", *(place(one.file, one.line, cwd) for one in shown)]
    yield Table(
        [
            *(_column(merged, group, rows) for group in groups),
            Column("function", names, Role.NAME),
            Column("where", cells(places, Tone.FAINT), Role.PLACE),
        ]
    )
    yield from more_than(len(shown), len(functions), "function")
    if options.whole and len(merged.processes) <= _MOST_ON_PAGES:
        yield from _over_time(merged, ranks)


def _over_time(merged: Merged, ranks: RankTimes) -> Iterator[Block]:
    """Yield how much each rank waits in each part of the run: others wait for the one that waits least."""
    parts = list(zip(*ranks.parts_waited_s, strict=True))
    if not parts:
        return
    samples = min(part.samples for part in merged.processes) // len(parts)
    part_s = median(ranks.total_s) / len(parts)
    digits = 0 if part_s >= 2 else 1 if part_s >= 0.2 else 2
    of_part = [total_s / len(parts) for total_s in ranks.total_s]
    order = sorted(range(len(of_part)), key=lambda number: _ids(merged, [number]))
    waited = [[part[number] / of_part[number] for number in order] for part in parts]
    yield Section(
        "Waiting over time", "share of each part of the run; the others wait for a rank that does not"
    )
    names = cells(_listed(_ids(merged, [number])) for number in order)
    columns = [
        Column(f"{part_s * number:.{digits}f} s", shares((percent(one, samples) for one in part), part))
        for number, part in enumerate(waited)
    ]
    yield Table([Column("rank", names, Role.NAME), *columns])


def _shares(seconds: Sequence[float], ranks: RankTimes) -> list[float]:
    return [one / total if total else 0.0 for one, total in zip(seconds, ranks.total_s, strict=True)]


def _column(merged: Merged, group: Sequence[int], rows: Sequence[Sequence[float]]) -> Column:
    samples = min(merged.processes[number].samples for number in group)
    medians = [median(row[number] for number in group) for row in rows]
    texts = (percent(share, samples) if share else "" for share in medians)
    head = _listed(_ids(merged, group), 2)
    return Column(head, shares(texts, medians))


def _groups(merged: Merged, rows: Sequence[Sequence[float]], most: int) -> list[list[int]]:
    """Return the ranks in order, alike ones together if there are too many; late ones are apart."""
    order = sorted(range(len(merged.processes)), key=lambda number: _ids(merged, [number]))
    late = merged.ranks.late.ranks if merged.ranks is not None and merged.ranks.late is not None else ()
    apart = 0.0 if len(order) <= most else _ALIKE
    while True:
        groups: list[list[int]] = []
        for number in order:
            for group in groups if apart else ():
                first = group[0]
                is_alike = all(abs(row[first] - row[number]) <= apart for row in rows)
                if is_alike and (first in late) is (number in late):
                    group.append(number)
                    break
            else:
                groups.append([number])
        if len(groups) <= most:
            return groups
        apart *= 2
