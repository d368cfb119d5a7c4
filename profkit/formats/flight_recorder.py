"""Dumps of torch.distributed's flight recorder: the newest collectives of ranks, and which ranks wait in one.

Its watchdog writes a pickle per rank when a collective times out (`TORCH_FR_DUMP_TEMP_FILE`), and
`torch._C._distributed_c10d._dump_fr_trace_json` returns JSON. Both have the same members; `FlightRecorder` in
PyTorch's torch/csrc/distributed/c10d defines them. The rank is only in the file's name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from profkit.errors import DamagedFile, UsageError
from profkit.formats.json_members import member, optional, read_json, whole
from profkit.formats.limits import Budget
from profkit.formats.plain_pickle import read_plain_pickle
from profkit.model.job_stacks import FrameItems, JobStacks, OneStack, PendingCollective, ProcessStacks
from profkit.model.session import Member, ProcessInfo
from profkit.transforms.waiting import OTHER_RANKS

_PICKLE = re.compile(rb"\x80[\x02-\x05]")
_RANK = re.compile(r"(?<!\d)(\d{1,6})$")
_RANKS = re.compile(r"\b\d{1,6}\b")
_DONE, _DEFAULT = "completed", "default_pg"
_MOST_SIZES = 8


@dataclass(frozen=True, slots=True)
class Entry:
    """A collective that a rank has entered."""

    number: int
    """Its number in the process group."""
    name: str
    sizes: str
    is_pending: bool
    frames: tuple[FrameItems, ...]
    """Where it was called, outermost frame first; empty if not recorded."""


@dataclass(frozen=True, slots=True)
class RankDump:
    """The collectives of a rank by process group, in their order."""

    rank: int
    groups: Mapping[str, Mapping[int, Entry]]
    ranks: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Ranks of each group, as far as they are known."""


def read_dump(data: bytes, source: Path, budget: Budget) -> RankDump:
    """Parse the dump of a rank; raises DamagedFile, and UsageError if the file's name has no rank."""
    match = _RANK.search(source.name.split(".")[0])
    if match is None:
        problem = f"the name of {source} does not end in the number of a rank"
        raise UsageError(problem, "rename it, such as to dump_rank_3.json")
    try:
        is_pickle = _PICKLE.match(data) is not None
        document = read_plain_pickle(data, budget) if is_pickle else read_json(data, budget)
        groups: dict[str, dict[int, Entry]] = {}
        entries: list[object] = optional(document, "the file", "entries", [])
        for place, entry in enumerate(entries):
            where = f"entries[{place}]"
            if optional(entry, where, "is_p2p", False):
                continue
            found = _entry(entry, where)
            groups.setdefault(_group(entry, where), {})[found.number] = found
        return RankDump(int(match[1]), groups, dict(_ranks(document)))
    except (ValueError, RecursionError) as error:
        raise DamagedFile(source, str(error), fix="name a dump of the flight recorder") from error


def _entry(entry: object, where: str) -> Entry:
    state, retired = member(entry, where, "state", str), optional(entry, where, "retired", False)
    return Entry(
        number=whole(member(entry, where, "collective_seq_id", int), f"{where}.collective_seq_id"),
        name=member(entry, where, "profiling_name", str).rpartition(":")[2],
        sizes=_sizes(member(entry, where, "input_sizes", object), f"{where}.input_sizes"),
        is_pending=state != _DONE and not retired,
        frames=tuple(_frames(optional(entry, where, "frames", []), where))[::-1],
    )


def _group(entry: object, where: str) -> str:
    parts = member(entry, where, "process_group", object)
    if (
        not isinstance(parts, (list, tuple))
        or len(parts) != 2
        or not all(isinstance(one, str) for one in parts)
    ):
        raise ValueError(f"{where}.process_group is not a name with a description")
    return _named(*parts)


def _named(name: str, description: str) -> str:
    """Return how a group is called; several groups can have the same description."""
    if description == _DEFAULT or not name:
        return _DEFAULT
    return name if description in ("", "undefined") else f"{description} {name}"


def _sizes(listed: object, where: str) -> str:
    """Return the sizes of the inputs, such as `1000 3×4`."""
    shapes = listed[:_MOST_SIZES] if isinstance(listed, (list, tuple)) else ()
    dimensions = (shape[:_MOST_SIZES] for shape in shapes if isinstance(shape, (list, tuple)))
    numbers = ([whole(one, where) for one in shape if type(one) is int] for shape in dimensions)
    return " ".join("×".join(map(str, shape)) for shape in numbers)


def _frames(listed: list[object], where: str) -> Iterator[FrameItems]:
    for frame in listed:
        line = whole(optional(frame, f"{where}.frames", "line", 0), f"{where}.frames.line")
        yield member(frame, where, "name", str), optional(frame, where, "filename", ""), line


def _ranks(document: object) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield the ranks of groups, which are a list as text."""
    configs: dict[str, object] = optional(document, "the file", "pg_config", {})
    for name, config in configs.items():
        where = f"pg_config[{name!r}]"
        described = optional(config, where, "desc", "")
        ranks = tuple(map(int, _RANKS.findall(optional(config, where, "ranks", ""))))
        yield _named(optional(config, where, "name", ""), described), ranks


def stacks_of(dumps: Sequence[RankDump], at_ns: int) -> JobStacks:
    """Return in which collectives the ranks wait, with the stacks of these, if they were recorded."""
    by_rank = {dump.rank: dump for dump in sorted(dumps, key=lambda dump: dump.rank)}
    groups = {group: None for dump in by_rank.values() for group in (*dump.ranks, *dump.groups)}
    size = max((1 + max(ranks, default=0) for dump in dumps for ranks in dump.ranks.values()), default=0)
    pending = [found for group in groups if (found := _pending(group, by_rank)) is not None]
    processes = (
        ProcessStacks(_process(dump.rank, max(size, 1 + max(by_rank))), at_ns, tuple(_stacks(dump)))
        for dump in by_rank.values()
    )
    return JobStacks("", tuple(processes), collectives=tuple(pending), is_recorded=True)


def _pending(group: str, dumps: Mapping[int, RankDump]) -> PendingCollective | None:
    """Return the first collective of a group that has not ended; None if all have."""
    known = {rank for dump in dumps.values() for rank in dump.ranks.get(group, ())}
    members = {
        rank: dump.groups.get(group, {})
        for rank, dump in dumps.items()
        if rank in known or (not known and group in dump.groups)
    }
    unfinished = [one for entries in members.values() for one in entries.values() if one.is_pending]
    if not unfinished:
        return None
    number = min(one.number for one in unfinished)
    inside = {rank: entries[number] for rank, entries in members.items() if number in entries}
    inside = {rank: one for rank, one in inside.items() if one.is_pending}
    kinds = Counter((one.name, one.sizes) for one in inside.values())
    (name, sizes), _ = kinds.most_common(1)[0]
    return PendingCollective(
        name=name,
        sizes=sizes,
        number=number,
        group=group,
        inside=tuple(rank for rank, one in inside.items() if (one.name, one.sizes) == (name, sizes)),
        absent=tuple(rank for rank, entries in members.items() if max(entries, default=0) < number),
        others=tuple(
            (rank, one.name, one.sizes)
            for rank, one in inside.items()
            if (one.name, one.sizes) != (name, sizes)
        ),
    )


def _stacks(dump: RankDump) -> Iterator[OneStack]:
    """Yield where the rank called the collective that it waits for, if that was recorded."""
    waits = [one for entries in dump.groups.values() for one in entries.values() if one.is_pending]
    if waits and waits[0].frames:
        yield OneStack("", 0, waits[0].frames, is_waiting=True, waits_for=OTHER_RANKS)


def _process(rank: int, size: int) -> ProcessInfo:
    return ProcessInfo(0, 0, "", "", (), "", None, "", None, member=Member(rank=rank, world_size=size))
