"""C++ orders to shared objects: which compilations they need, precompiled headers, how many at once."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import string
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from profkit.errors import CompileFailed, MeasuringError
from profkit.measuring.cpp.cache import Cache, default_folder, open_cache
from profkit.measuring.cpp.compiling import Compilation, CompilationResult, run_compilations, trimmed
from profkit.measuring.cpp.source import Source, include, needs_torch, source_of
from profkit.measuring.cpp.toolchain import Toolchain, interpreter, toolchain, torch_build
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


class ObjectCompilation(Compilation):
    """Compilation of one shared object; its label is that of the first order with this source."""

    def __init__(
        self, order: WorkOrder, source: Source, tools: Toolchain, cwd: Path, precompiled: Path | None = None
    ) -> None:
        super().__init__(tools.object_key(source, cwd), order.label, environ_of(order))
        self.order, self.source, self.tools = order, source, tools
        self._cwd, self.precompiled = cwd, precompiled
        self.header_key = tools.key(source.headers)
        """Key of the headers that could be precompiled for it."""
        self.script: Path | None = None
        """TorchScript file that becomes part of it."""

    def command(self, working_folder: Path) -> Sequence[str]:
        """Write the source, and return the command that compiles it."""
        source = working_folder / "source.cpp"
        script = f'#define PROFKIT_SCRIPT "{in_assembly(self.script)}"\n' if self.script else ""
        text = include(self.source.headers) + script + self.source.text
        source.write_text(text, "utf-8", errors="surrogatepass")
        return self.tools.compile_command(source, working_folder / "made.so", self._cwd, self.precompiled)

    def keep(self, cache: Cache, working_folder: Path, output: str) -> CompilationResult:
        """Cache the object with the list of its sources, or return the compiler's error."""
        target = working_folder / "made.so"
        if not target.exists():
            return CompileFailed(self.label, trimmed(output, self.order))
        listed = (working_folder / "made.so.d").read_text("utf-8", errors="surrogateescape")
        own = [path for path in _listed(listed) if not path.is_relative_to(cache.folder)]
        script = cache.headers_of(self.tools.script_key(self.source.script)) if self.script else ()
        return cache.keep(self.key, target, [*own, *script])


class HeaderCompilation(Compilation):
    """Precompilation of one set of headers; its label names the first."""

    def __init__(self, headers: tuple[str, ...], tools: Toolchain, env: Mapping[str, str]) -> None:
        super().__init__(tools.key(headers), f"{headers[0]}, precompiled", env)
        self.headers, self._tools = headers, tools

    def find(self, cache: Cache) -> Path | None:
        """Return the file to include, if it is cached."""
        return cache.find_header(self.key)

    def command(self, working_folder: Path) -> Sequence[str]:
        """Write a header that includes the others, and return the command that precompiles it."""
        target = working_folder / "made"
        target.mkdir()
        (target / "header.h").write_text(include(self.headers), "utf-8")
        return self._tools.precompile_command(target / "header.h")

    def keep(self, cache: Cache, working_folder: Path, output: str) -> CompilationResult:
        """Cache the folder, or return the compiler's error."""
        if not (working_folder / "made" / "header.h.gch").exists():
            return CompileFailed(self.label, output)
        return cache.keep_header(self.key, working_folder / "made")


class ScriptCompilation(Compilation):
    """Compilation of Python text to TorchScript."""

    suffix = ".pt"

    def __init__(self, order: WorkOrder, tools: Toolchain) -> None:
        super().__init__(tools.script_key(order.script), f"{order.label}, TorchScript", environ_of(order))
        self._order = order

    def command(self, working_folder: Path) -> Sequence[str]:
        """Write a module with the text, and return the command that imports it and saves its `model`."""
        module, target = working_folder / "model.py", working_folder / "made.pt"
        module.write_text(self._order.script, "utf-8", errors="surrogatepass")
        folders = json.dumps(self._order.path)
        return [*interpreter(self._order), "-P", "-c", _SAVE, folders, str(module), str(target)]

    def keep(self, cache: Cache, working_folder: Path, output: str) -> CompilationResult:
        """Cache the file, or return the error."""
        try:
            files = json.loads((working_folder / "made.pt.files").read_bytes())
        except (OSError, ValueError):
            return ScriptFailed(self._order.label, output)
        return cache.keep(self.key, working_folder / "made.pt", map(Path, files))


_SAVE = """
import importlib.util, json, os, sys
folders, path, target = sys.argv[1:]
sys.path[:] = [*json.loads(folders), *sys.path, os.getcwd()]
import torch
torch.manual_seed(0)
before = set(sys.modules)
spec = importlib.util.spec_from_file_location("profkit_model", path)
module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
module.torch = torch
spec.loader.exec_module(module)
if not hasattr(module, "model"):
    sys.exit("the text defines no `model`")
torch.jit.script(module.model).save(target)
installed = os.path.dirname(os.path.dirname(torch.__file__)), os.path.dirname(os.__file__)
files = [getattr(sys.modules[name], "__file__", None) for name in set(sys.modules) - before - {spec.name}]
with open(target + ".files", "x") as listed:
    json.dump([file for file in files if file and not file.startswith(installed)], listed)
"""
"""TorchScript looks up source code, so the text is a module. The list of the user's files that it imports is
written last: they affect the result, and without the list the saved file may be incomplete."""


_PLAIN = frozenset((string.ascii_letters + string.digits + "/._-").encode())


def in_assembly(path: Path) -> str:
    """Return a path escaped for an assembler directive within a C++ string literal."""
    return "".join(chr(byte) if byte in _PLAIN else f"\\\\{byte:03o}" for byte in os.fsencode(path))


def environ_of(order: WorkOrder) -> Mapping[str, str]:
    """Return the environment in which an order's compiler is found and run."""
    return {**os.environ, **dict(order.env)}


def _listed(rule: str) -> Iterator[Path]:
    """Yield the prerequisites in a make rule written by a compiler.

    The escapes are those of libcpp's mkdeps.cc: blanks, `#` and `:` are preceded by a backslash, backslashes
    before a blank are doubled, other backslashes are literal, and `$` is doubled.
    """
    _, _, needed = rule.replace("\\\n", " ").partition(": ")
    for word in re.findall(r"(?:\\*\\[ \t]|\S)+", needed):
        blanks = re.sub(r"(\\*)\\([ \t])", lambda found: found[1][::2] + found[2], word)
        yield Path(re.sub(r"\\([#:])", r"\1", blanks).replace("$$", "$"))
