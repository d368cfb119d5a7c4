"""Placement of workers: cores, folder, path, environment, and the kind of their zygote."""

from __future__ import annotations

import ast
import importlib.util
import os
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from profkit.errors import InvalidOption
from profkit.measuring.pool.command import ZygoteKind
from profkit.measuring.transfer.payload import Payload
from profkit.model.measurement import Preload, Tool
from profkit.model.workorder import WorkOrder, WorkTree


def worker_folder(order: WorkOrder) -> str:
    """Return the current folder, or the same one in the order's tree; the tree's top if it has none."""
    if order.tree is None:
        return os.getcwd()
    moved = _moved(os.getcwd(), order.tree)
    return moved if moved is not None and os.path.isdir(moved) else order.tree.copy


def first_on_path(order: WorkOrder) -> list[str]:
    """Return the first entries of a worker's `sys.path`, in any environment: the tree's module folders."""
    if order.tree is None:
        return []
    source = os.path.join(order.tree.copy, "src")
    return list(dict.fromkeys([worker_folder(order), *([source] if os.path.isdir(source) else [])]))


def worker_path(order: WorkOrder) -> list[str]:
    """Return the caller's `sys.path` for a worker; empty in another environment, which has its own."""
    if order.source_cmd or order.python:
        return []
    entries = [os.path.abspath(entry) for entry in (*order.path, *sys.path)]
    return entries if order.tree is None else list(_entries_of(order.tree, entries))


def _entries_of(tree: WorkTree, entries: list[str]) -> Iterator[str]:
    """Yield entries, those in the checkout as in the tree, except an environment inside the checkout."""
    for entry in entries:
        moved = _moved(entry, tree)
        if moved is None or _within(entry, sys.prefix):
            yield entry
        elif os.path.exists(moved):
            yield moved


def _moved(path: str, tree: WorkTree) -> str | None:
    """Return the path in the tree for a path in the checkout; None for one outside of it."""
    if not _within(path, tree.checkout):
        return None
    inside = os.path.relpath(os.path.realpath(path), os.path.realpath(tree.checkout))
    return os.path.normpath(os.path.join(tree.copy, inside))


def _within(path: str, folder: str) -> bool:
    real = os.path.realpath(folder)
    return os.path.commonpath([os.path.realpath(path), real]) == real


class CorePool:
    """Pool of cores: lends contiguous blocks, first fit, to one holder each."""

    def __init__(self, cores: Sequence[int] | None = None) -> None:
        self.cores = tuple(sorted(os.sched_getaffinity(0) if cores is None else cores))
        self._free = set(self.cores)
        self._changed = threading.Condition()

    def check(self, count: int) -> None:
        """Raise `UsageError` if `count` cores can never be lent."""
        if next(self._blocks(count, set(self.cores)), None) is None:
            raise InvalidOption(
                "num_threads",
                count,
                f"this process may use the cores {list(self.cores)}: use fewer threads",
            )

    @contextmanager
    def lend(self, count: int) -> Iterator[tuple[int, ...]]:
        """Lend `count` neighbouring cores; wait until they are free."""
        self.check(count)
        with self._changed:
            self._changed.wait_for(lambda: next(self._blocks(count, self._free), None) is not None)
            block = next(self._blocks(count, self._free))
            self._free.difference_update(block)
        try:
            yield block
        finally:
            with self._changed:
                self._free.update(block)
                self._changed.notify_all()

    def _blocks(self, count: int, free: set[int]) -> Iterator[tuple[int, ...]]:
        """Yield free blocks of cores that are adjacent among the usable ones."""
        for start in range(len(self.cores) - count + 1):
            block = self.cores[start : start + count]
            if free.issuperset(block):
                yield block


def preload_of(order: WorkOrder, payload: Payload | None = None, *, torch_library: bool = False) -> Preload:
    """Return the preload of the order's zygote; `torch_library`: its C++ is linked against torch."""
    if torch_library:
        return Preload.TORCH
    if order.imports is not None:
        return preload_among(order.imports)
    packed = () if payload is None else payload.packages
    return preload_among((*packed, *_imported_in(order.global_setup, order.setup, order.stmt or "")))


@cache
def root_of(package: str) -> str | None:
    """Return the folder to put on `sys.path` for `package`; None if it is not installed."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return None
    return str(Path(next(iter(spec.submodule_search_locations))).parent)


def preload_among(packages: Iterable[str]) -> Preload:
    """Return the preload that has those of torch and numpy that are among some packages."""
    known = set(packages)
    return Preload.TORCH if "torch" in known else Preload.NUMPY if "numpy" in known else Preload.NOTHING


def _imported_in(*texts: str) -> Iterator[str]:
    """Yield top-level packages that texts import anywhere; text that is not Python (C++) has none."""
    for text in texts:
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                yield from (alias.name.partition(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                yield (node.module or "").partition(".")[0]


_LOADED_WITH = (
    "LD_", "OMP_", "GOMP_", "KMP_", "MKL_", "OPENBLAS_", "BLIS_", "ATEN_", "TORCH", "PYTORCH_", "CUDA_",
    "NCCL_", "MALLOC_", "GLIBC_TUNABLES", "PYTHONHASHSEED", "PYTHONMALLOC", "CONDA_", "VIRTUAL_ENV",
)  # fmt: skip
"""Variables that the loader, OpenMP, BLAS and torch read when loaded; other values need another zygote."""
_FIXED = {"PATH": os.defpath, "HOME": "/", "LC_ALL": "C.UTF-8", "MKL_THREADING_LAYER": "GNU"}
"""Defaults; MKL uses torch's OpenMP and not its own, since two in one process disturb each other."""
_THREAD_COUNTS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def kind_of(
    order: WorkOrder, tool: Tool, preload: Preload, draw: str = "", environ: Mapping[str, str] = os.environ
) -> ZygoteKind:
    """Return the kind of zygote that measures `order` under `tool`."""
    foreign = bool(order.source_cmd or order.python)
    return ZygoteKind(
        command=_command(order),
        tool=tool,
        preload=preload,
        env=tuple(sorted(_zygote_env(order, tool, environ).items())),
        roots=() if foreign else _roots(preload),
        simulate=order.simulate if tool is Tool.VALGRIND else (),
        draw=draw,
    )


def _command(order: WorkOrder) -> tuple[str, ...]:
    """Return the command up to the interpreter; paths are absolute, as zygotes start in another folder."""
    python = order.python or ("python" if order.source_cmd else sys.executable)
    first, *others = (*order.source_cmd, python)
    return (os.path.abspath(first) if os.sep in first else first, *others)


def worker_env(order: WorkOrder, tool: Tool, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return a worker's whole `os.environ`: fixed defaults, the caller's, and the order's changes.

    Empty if a command enters another environment: its zygote has the caller's, as that command changed it.
    """
    if order.source_cmd:
        return {}
    own = {**_threads(order), **_seed(tool), **dict(order.env), "PROFKIT_DISABLE": "1"}
    return {**_FIXED, **_callers(environ), **own}


def _zygote_env(order: WorkOrder, tool: Tool, environ: Mapping[str, str]) -> dict[str, str]:
    if order.source_cmd:
        return {**_callers(environ), **_threads(order), **_seed(tool), **dict(order.env)}
    loaded = {name: value for name, value in environ.items() if name.startswith(_LOADED_WITH)}
    path = {"PATH": environ["PATH"]} if "PATH" in environ else {}
    home = {"HOME": environ["HOME"]} if "HOME" in environ else {}
    env = {**_FIXED, **path, **home, **loaded, **_threads(order), **_seed(tool)}
    return {**env, **{name: value for name, value in order.env if name.startswith(_LOADED_WITH)}}


def _callers(environ: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environ.items() if not name.startswith("PROFKIT_")}


def _threads(order: WorkOrder) -> dict[str, str]:
    """Return variables for the number of threads; none for 0: the caller's own variables decide."""
    return dict.fromkeys(_THREAD_COUNTS, str(order.num_threads)) if order.num_threads else {}


def _seed(tool: Tool) -> dict[str, str]:
    """Fix the hash seed for counts, which depend on the order of sets; times must show its effect."""
    return {"PYTHONHASHSEED": "0"} if tool is Tool.VALGRIND else {}


def _roots(preload: Preload) -> tuple[str, ...]:
    """Return the folders of the zygote's imports, and of cloudpickle, which reads functions in workers."""
    wanted = ("cloudpickle",) if preload is Preload.NOTHING else ("cloudpickle", preload.value)
    return tuple(dict.fromkeys(root for name in wanted if (root := root_of(name)) is not None))
