"""Program that reads memray's captures: `python reader.py OUTPUT FILE...`, a line of JSON for each.

A damaged capture can crash memray's reader, so it runs in a process of its own. It imports nothing of
profkit. A line is an object: `error`, or the capture's `frames` and `rows`. A row is a thread's number and
name, a stack as numbers of frames, root first, and its figures: bytes at the peak, bytes and number of all
allocations, and bytes at the end.
"""

from __future__ import annotations

import json
import resource
import sys
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from memray import AllocationRecord, FileReader

_Place: TypeAlias = "tuple[int, str, tuple[tuple[str, str, int], ...]]"
_ALL_FRAMES = 2**30
_PEAK, _ALLOCATED, _ALLOCATIONS, _LEFT = range(4)
_FREEING = frozenset({1, 5, 15})
"""Allocators of memray that free: PYMALLOC_FREE, FREE and MUNMAP."""


def read(file: str) -> dict[str, object]:
    """Return the content of a capture as described above."""
    from memray import FileReader

    figures: dict[_Place, list[int]] = {}
    with FileReader(file) as reader:
        metadata = reader.metadata
        for record in reader.get_high_watermark_allocation_records(merge_threads=False):
            _add(figures, record, {_PEAK: record.size})
        for record in reader.get_leaked_allocation_records(merge_threads=False):
            _add(figures, record, {_LEFT: record.size})
        for record, number, size in _allocated(reader):
            _add(figures, record, {_ALLOCATIONS: number, _ALLOCATED: size})
    return {
        "pid": metadata.pid,
        "python_allocators": metadata.trace_python_allocators,
        **_tables(figures),
    }


def _allocated(reader: FileReader) -> list[tuple[AllocationRecord, int, int]]:
    """Return a record of each stack, with the number and the bytes of all its allocations."""
    found: dict[tuple[int, int], list[int]] = {}
    first: dict[tuple[int, int], AllocationRecord] = {}
    for record in reader.get_allocation_records():  # millions: each attribute costs
        if record.allocator in _FREEING:
            continue
        key = record.tid, record.stack_id
        known = found.get(key)
        if known is None:
            found[key], first[key] = [1, record.size], record
        else:
            known[0] += 1
            known[1] += record.size
    return [(first[key], *numbers) for key, numbers in found.items()]  # type: ignore[misc]


def _add(figures: dict[_Place, list[int]], record: AllocationRecord, more: dict[int, int]) -> None:
    # Leaf first. Without a limit, memray omits as many frames as there were when the tracker was started.
    trace = record.stack_trace(max_stacks=_ALL_FRAMES)
    stack = tuple((name, file, line) for name, file, line in reversed(trace))
    known = figures.setdefault((record.tid, record.thread_name, stack), [0, 0, 0, 0])
    for column, number in more.items():
        known[column] += number


def _tables(figures: dict[_Place, list[int]]) -> dict[str, object]:
    frames: dict[tuple[str, str, int], int] = {}
    rows = [
        [tid, name, [frames.setdefault(frame, len(frames)) for frame in stack], *numbers]
        for (tid, name, stack), numbers in figures.items()
    ]
    return {"frames": [list(frame) for frame in frames], "rows": rows}


def main() -> None:
    """Write the content of each file that the arguments name."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with open(sys.argv[1], "a", encoding="ascii") as output:
        for file in sys.argv[2:]:
            try:
                content = read(file)
            except Exception as error:  # noqa: BLE001 - reported
                missing = isinstance(error, ImportError)
                content = {"error": str(error) or type(error).__name__, "missing": missing}
            output.write(json.dumps(content) + "\n")
            output.flush()


if __name__ == "__main__":
    main()
