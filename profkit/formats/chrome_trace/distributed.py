"""Ranks and collectives in traces of torch.profiler: `distributedInfo`, and operations of NCCL and gloo.

NCCL's kernels have `Collective name`, `Process Group Name` and `Process Group Ranks` in their arguments, and
last from when a rank arrives until all leave. Gloo's operations have the name `gloo:NAME`, on own threads,
and no group.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeGuard

from profkit.formats.chrome_trace.threads import Event
from profkit.model.session import Member
from profkit.transforms.collectives import frame_of_collective

_INFO, _HOST = b'"distributedInfo"', re.compile(rb'"host_name"\s*:\s*"([^"\\]{1,255})"')
_PID = re.compile(rb'"cat"\s*:\s*"(?:cpu_op|python_function)"[^{}]{1,1000}?"pid"\s*:\s*(\d{1,9})\b')
_HEAD, _MOST_INFO = 1 << 16, 1 << 22
_GLOO = "gloo:"
_LARGEST_RANK = 1 << 20


def member_of(data: bytes) -> Member:
    """Return the rank of the traced process; never raises for damaged files."""
    begin = data.find(_INFO, 0, _HEAD)
    if begin < 0:
        return Member()
    text = data[begin + len(_INFO) : begin + _MOST_INFO].decode("utf-8", "replace").lstrip().removeprefix(":")
    try:
        info, _ = json.JSONDecoder().raw_decode(text.lstrip())
    except (ValueError, RecursionError):
        return Member()
    rank, size = (info.get(key) for key in ("rank", "world_size")) if isinstance(info, dict) else (None, None)
    if type(rank) is not int or type(size) is not int or not 0 <= rank < size <= _LARGEST_RANK:
        return Member()
    return Member(rank=rank, world_size=size)


def host_of(data: bytes) -> str:
    """Return the name of the traced process's host; empty if it is not known."""
    match = _HOST.search(data, 0, _HEAD)
    return match[1].decode("utf-8", "replace") if match else ""


def pid_of(data: bytes) -> int:
    """Return the id of the traced process, which is not that of devices; 0 if it is not known."""
    match = _PID.search(data)
    return int(match[1]) if match else 0


def is_of_ranks(document: object) -> TypeGuard[Mapping[str, object]]:
    """Return whether a trace is of a process that other ranks wait for."""
    return isinstance(document, dict) and isinstance(document.get("distributedInfo"), dict)


def with_collectives(document: Mapping[str, object], events: Sequence[Event]) -> Iterator[Event]:
    """Yield events; a collective becomes the caller of its operation, so that stacks have it and its group.

    Gloo's groups are not known if there are several.
    """
    info = document["distributedInfo"]
    has_one_group = isinstance(info, dict) and info.get("pg_count") == 1
    for event in events:
        named = _collective(event, has_one_group=has_one_group)
        if named is not None:
            name, file, _ = frame_of_collective(*named)
            yield {**event, "name": name, "args": {"file": file, "line": 0}}
        yield event


def _collective(event: Event, *, has_one_group: bool) -> tuple[str, str] | None:
    """Return the name of a collective and its group; None for other events."""
    name, args = event.get("name"), event.get("args")
    if event.get("ph") != "X" or not isinstance(name, str) or not isinstance(args, dict):
        return None
    if event.get("cat") == "kernel" and isinstance(collective := args.get("Collective name"), str):
        group = (args.get(key) for key in ("Process Group Name", "Process Group Ranks"))
        return collective, " ".join(str(part) for part in group if part not in (None, ""))
    if has_one_group and event.get("cat") == "user_annotation" and name.startswith(_GLOO):
        return name.removeprefix(_GLOO), "default_pg"
    return None
