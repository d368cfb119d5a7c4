"""C++ orders to shared objects: parallel compilation with a cache."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from profkit.errors import CompileFailed, MeasuringError
from profkit.measuring.cpp.cache import Cache, default_folder, open_cache
from profkit.measuring.cpp.compilations import (
    HeaderCompilation,
    ObjectCompilation,
    ScriptCompilation,
    environ_of,
)
from profkit.measuring.cpp.compiling import Compilation, CompilationResult, run_compilations
from profkit.measuring.cpp.source import needs_torch, source_of
from profkit.measuring.cpp.toolchain import toolchain, torch_build
from profkit.measuring.errors import FolderUnavailable, ScriptFailed
from profkit.model.workorder import Language, WorkOrder

_ROUNDS = 3
"""Precompiling headers takes as long as compiling two statements with them, and saves five sixths of that
time for each: it pays off after this many in a row."""
_FREE_BYTES = 4 * 1024**3
"""Minimum free space for precompiled headers, which take up to 1 GB."""
_MEMORY_BYTES = 2 * 1024**3
"""Memory that a compiler needs for torch's headers, with some reserve."""

Progress = Callable[[int, int, str], None]


def libraries_for(
    orders: Sequence[WorkOrder],
    *,
    progress: Progress,
    workers: int | None = None,
    cache: Path | None = None,
) -> Mapping[int, Path | MeasuringError]:
    """Return the shared object of each C++ order, or the error that prevented it, by the order's index.

    Only orders without a cached object are compiled. The errors are CompileFailed, ScriptFailed,
    FolderUnavailable, and ToolMissing without a compiler.

    `progress` is called with the number done, the total, and a label in progress, at least every half second;
    an exception from it ends the compilers. Raises UsageError if the cache cannot be used.
    """
    results: dict[int, Path | MeasuringError] = {}
    units: dict[int, ObjectCompilation] = {}
    for index, order in enumerate(orders):
        if order.language is not Language.CPP:
            continue
        try:
            torch = torch_build(order) if needs_torch(order) else None
            tools = toolchain(environ_of(order), torch)
            units[index] = ObjectCompilation(order, source_of(order), tools, Path.cwd())
        except MeasuringError as error:
            results[index] = error
    if units:
        distinct = {unit.key: unit for unit in units.values()}
        try:
            by_key = _build(distinct, open_cache(cache or default_folder()), progress, workers)
        except FolderUnavailable as full:
            by_key = dict.fromkeys(distinct, full)
        for index, unit in units.items():
            result = by_key[unit.key]
            if isinstance(result, (CompileFailed, ScriptFailed)):  # it names the order that came first
                result = type(result)(unit.label, result.output)
            results[index] = result
    return results


def _build(
    units: Mapping[str, ObjectCompilation], cache: Cache, progress: Progress, workers: int | None
) -> dict[str, CompilationResult]:
    results: dict[str, CompilationResult] = {
        key: kept for key, unit in units.items() if (kept := unit.find(cache))
    }
    missing = [unit for key, unit in units.items() if key not in results]
    if not missing:
        return results
    workers = workers or _workers(missing)
    headers = worth_precompiling(missing, cache, workers)
    needed = {unit.key: ScriptCompilation(unit.order, unit.tools) for unit in missing if unit.source.script}
    scripts = {script.key: script for script in needed.values()}
    tally = _Tally(
        cache, workers, progress, done=len(results), total=len(units) + len(headers) + len(scripts)
    )
    ready = [unit for unit in missing if unit.header_key not in headers and unit.key not in needed]
    _find_headers(ready, cache)
    outcome = tally.run([*scripts.values(), *headers.values(), *ready])
    late = []
    for unit in (unit for unit in missing if unit.key not in outcome):
        script = outcome[needed[unit.key].key] if unit.key in needed else None
        if isinstance(script, MeasuringError):
            outcome[unit.key] = script
            tally.skip(unit)
        else:
            unit.script = script
            late.append(unit)
    _find_headers(late, cache)
    outcome |= tally.run(late)
    cache.shrink()
    return results | {unit.key: outcome[unit.key] for unit in missing}


def worth_precompiling(
    missing: Sequence[ObjectCompilation], cache: Cache, workers: int
) -> dict[str, HeaderCompilation]:
    """Return the sets of headers with which many of these or earlier statements begin, by key."""
    if shutil.disk_usage(cache.folder).free < _FREE_BYTES:
        return {}
    users = Counter(unit.header_key for unit in missing if unit.source.headers and unit.tools.precompiles)
    worth = {
        key
        for key, count in users.items()
        if not cache.find_header(key) and (count > workers * (_ROUNDS - 1) or cache.count(key) >= _ROUNDS)
    }
    return {
        unit.header_key: HeaderCompilation(unit.source.headers, unit.tools, unit.env)
        for unit in missing
        if unit.header_key in worth
    }


def _find_headers(units: Iterable[ObjectCompilation], cache: Cache) -> None:
    for unit in units:
        if unit.source.headers:
            unit.precompiled = cache.find_header(unit.header_key)


def _workers(missing: Sequence[ObjectCompilation]) -> int:
    """Return the number of cores, or fewer if memory is too small for torch's headers in each compiler."""
    cores = len(os.sched_getaffinity(0))
    if not any(unit.source.headers for unit in missing):
        return cores
    return max(1, min(cores, _available_bytes() // _MEMORY_BYTES))


def _available_bytes() -> int:
    """Return the memory available without swapping."""
    for line in Path("/proc/meminfo").read_text("ascii").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return 0


class _Tally:
    """Runner of tasks that reports progress."""

    def __init__(self, cache: Cache, workers: int, progress: Progress, *, done: int, total: int) -> None:
        self._cache, self._workers, self._progress = cache, workers, progress
        self._done, self._total = done, total

    def run(self, units: Sequence[Compilation]) -> dict[str, CompilationResult]:
        results: dict[str, CompilationResult] = {}
        with contextlib.closing(run_compilations(units, self._cache, self._workers, self._say)) as ended:
            for unit, result in ended:
                self._done += 1
                results[unit.key] = result
                self._say(unit.label)
        return results

    def skip(self, unit: Compilation) -> None:
        self._done += 1
        self._say(unit.label)

    def _say(self, label: str) -> None:
        self._progress(self._done, self._total, label)
