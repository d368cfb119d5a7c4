"""C++ statements of a batch, compiled side by side before anything is measured."""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from dataclasses import replace

from profkit.errors import MeasuringError
from profkit.measuring.cpp.building import libraries_for
from profkit.measuring.cpp.source import needs_torch
from profkit.measuring.runner.bench import Bench
from profkit.measuring.runner.jobs import Task
from profkit.measuring.runner.preload import preload_of
from profkit.measuring.runner.progress import COMPILING
from profkit.model.workorder import Language


def with_libraries(
    tasks: Sequence[Task], broken: MutableMapping[int, MeasuringError], bench: Bench
) -> list[Task]:
    """The tasks, those in C++ with their shared objects; what does not compile is noted in `broken`."""
    wanted = [n for n, task in enumerate(tasks) if task.order.language is Language.CPP and n not in broken]
    if not wanted:
        return list(tasks)
    built = libraries_for([tasks[place].order for place in wanted], progress=_Steps(bench).step)
    made = list(tasks)
    for place, library in ((wanted[n], library) for n, library in built.items()):
        if isinstance(library, MeasuringError):
            broken[place] = library
            continue
        order = tasks[place].order
        preload = preload_of(order, torch_library=needs_torch(order))
        made[place] = replace(tasks[place], library=library, preload=preload)
    return made


class _Steps:
    """Compiling as steps of the bench's progress."""

    def __init__(self, bench: Bench) -> None:
        self._progress = bench.progress
        self._total = self._done = 0

    def step(self, done: int, total: int, label: str) -> None:
        """`done` of `total` are compiled; `label` is at work, or has just been done."""
        self._progress.begin(total - self._total, COMPILING)
        self._total = total
        for _ in range(done - self._done):
            self._progress.done(f"compiling {label}", COMPILING)
        self._done = done
        self._progress.at_work(f"compiling {label}")
