"""C++ orders → shared objects, compiled in parallel and kept."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from profkit.errors import CompileFailed, MeasuringError
from profkit.measuring.cpp.cache import Cache, default_folder, open_cache
from profkit.measuring.cpp.compiling import Made, Task, run_tasks
from profkit.measuring.cpp.source import needs_torch, source_of
from profkit.measuring.cpp.tasks import HeaderTask, ObjectTask, ScriptTask, environ_of
from profkit.measuring.cpp.toolchain import toolchain, torch_build
from profkit.measuring.errors import FolderUnavailable, ScriptFailed
from profkit.model.workorder import Language, WorkOrder

_ROUNDS = 3
"""To precompile headers takes as long as compiling two statements with them, and saves five sixths of that
for each: it pays for so many in a row."""
_FREE_BYTES = 4 * 1024**3
"""Precompiled headers take up to 1 GB; with less room than this they are not made."""
_MEMORY_BYTES = 2 * 1024**3
"""What a compiler needs for torch's headers, with something to spare."""

Progress = Callable[[int, int, str], None]


def libraries_for(
    orders: Sequence[WorkOrder],
    *,
    progress: Callable[[int, int, str], None],
    workers: int | None = None,
    cache: Path | None = None,
) -> Mapping[int, Path | MeasuringError]:
    """The shared object of each C++ order, or why there is none, by the order's index.

    What is not kept already is compiled. The errors are CompileFailed, ScriptFailed, FolderUnavailable, and
    ToolMissing without a compiler.

    `progress` is told how many are done, of how many, and a label at work; every half second at least, and
    what it raises ends the compilers. Raises UsageError where the cache cannot be used.
    """
    found: dict[int, Path | MeasuringError] = {}
    wanted: dict[int, ObjectTask] = {}
    for index, order in enumerate(orders):
        if order.language is Language.CPP:
            try:
                wanted[index] = _task(order)
            except MeasuringError as error:
                found[index] = error
    if wanted:
        distinct = {task.key: task for task in wanted.values()}
        try:
            made = _build(distinct, open_cache(cache or default_folder()), progress, workers)
        except FolderUnavailable as full:
            made = dict.fromkeys(distinct, full)
        found.update((index, _labelled(made[task.key], task.label)) for index, task in wanted.items())
    return found


def _task(order: WorkOrder) -> ObjectTask:
    torch = torch_build(order) if needs_torch(order) else None
    return ObjectTask(order, source_of(order), toolchain(environ_of(order), torch), Path.cwd())


def _labelled(made: Made, label: str) -> Made:
    return type(made)(label, made.output) if isinstance(made, (CompileFailed, ScriptFailed)) else made


def _build(
    tasks: Mapping[str, ObjectTask], cache: Cache, progress: Progress, workers: int | None
) -> dict[str, Made]:
    made: dict[str, Made] = {key: kept for key, task in tasks.items() if (kept := task.find(cache))}
    missing = [task for key, task in tasks.items() if key not in made]
    if not missing:
        return made
    workers = workers or _workers(missing)
    headers = worth_precompiling(missing, cache, workers)
    scripts = {task.key: task for task in map(_script, missing) if task is not None}
    tally = _Tally(cache, workers, progress, done=len(made), total=len(tasks) + len(headers) + len(scripts))
    ready = [task for task in missing if task.header_key not in headers and not task.source.script]
    outcome = tally.run([*scripts.values(), *headers.values(), *(_quickened(task, cache) for task in ready)])
    late = []
    for task in (task for task in missing if task.key not in outcome):
        script = outcome[needed.key] if (needed := _script(task)) else None
        if isinstance(script, MeasuringError):
            outcome[task.key] = script
            tally.skip(task)
        else:
            late.append(replace(_quickened(task, cache), script=script))
    outcome |= tally.run(late)
    cache.shrink()
    return made | {task.key: outcome[task.key] for task in missing}


def _script(task: ObjectTask) -> ScriptTask | None:
    """Return what makes the TorchScript that an object needs, if it needs any."""
    return ScriptTask(task.order, task.tools) if task.source.script else None


def worth_precompiling(missing: Sequence[ObjectTask], cache: Cache, workers: int) -> dict[str, HeaderTask]:
    """The sets of headers that many of these, or of those before them, begin with; by key."""
    if shutil.disk_usage(cache.folder).free < _FREE_BYTES:
        return {}
    users = Counter(task.header_key for task in missing if task.source.headers and task.tools.precompiles)
    worth = {
        key
        for key, count in users.items()
        if not cache.find_header(key) and (count > workers * (_ROUNDS - 1) or cache.count(key) >= _ROUNDS)
    }
    return {
        task.header_key: HeaderTask(task.source.headers, task.tools, task.env)
        for task in missing
        if task.header_key in worth
    }


def _quickened(task: ObjectTask, cache: Cache) -> ObjectTask:
    """The task with its headers precompiled, where they are."""
    return replace(task, precompiled=cache.find_header(task.header_key) if task.source.headers else None)


def _workers(missing: Sequence[ObjectTask]) -> int:
    """As many as there are cores, and fewer where torch's headers would not fit the memory for each."""
    cores = len(os.sched_getaffinity(0))
    if not any(task.source.headers for task in missing):
        return cores
    return max(1, min(cores, _available_bytes() // _MEMORY_BYTES))


def _available_bytes() -> int:
    """Memory that could be had without swapping; see proc(5)."""
    for line in Path("/proc/meminfo").read_text("ascii").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return 0


class _Tally:
    """Runs tasks, and says how far they are."""

    def __init__(self, cache: Cache, workers: int, progress: Progress, *, done: int, total: int) -> None:
        self._cache, self._workers, self._progress = cache, workers, progress
        self._done, self._total = done, total

    def run(self, tasks: Sequence[Task]) -> dict[str, Made]:
        made: dict[str, Made] = {}
        with contextlib.closing(run_tasks(tasks, self._cache, self._workers, self._say)) as results:
            for task, result in results:
                self._done += 1
                made[task.key] = result
                self._say(task.label)
        return made

    def skip(self, task: Task) -> None:
        """Count a task that cannot be run as done."""
        self._done += 1
        self._say(task.label)

    def _say(self, label: str) -> None:
        self._progress(self._done, self._total, label)
