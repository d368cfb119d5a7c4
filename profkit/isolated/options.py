"""Options of isolated calls (`submit`, `call`), their checks, and the zygote that they ask for."""

from __future__ import annotations

import importlib.util
import math
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypedDict

from profkit.errors import InvalidOption, UnknownOption
from profkit.measuring.orders import work_order
from profkit.measuring.pool.command import ZygoteKind
from profkit.measuring.runner.placement import (
    first_on_path,
    kind_of,
    preload_among,
    worker_env,
    worker_folder,
    worker_path,
)
from profkit.model.measurement import Tool
from profkit.model.workorder import WorkOrder


class WorkerOptions(TypedDict, total=False):
    """Limits and environment of a worker; explained in docs/isolated.md."""

    timeout_s: float | None
    memory_limit_bytes: int | None
    env: Mapping[str, str]
    python: str | os.PathLike[str] | None
    source_cmd: str | Sequence[str] | None
    cores: Sequence[int]
    num_threads: int | None
    imports: Sequence[str]
    path: Sequence[str | os.PathLike[str]]
    retries: int


class CallOptions(WorkerOptions, total=False):
    """Keyword arguments of `submit` and `call`."""

    kwargs: Mapping[str, object]
    label: str | None


@dataclass(frozen=True, slots=True)
class Settings:
    """Checked options."""

    order: WorkOrder
    """Work order with the environment, as for measuring."""
    timeout_s: float
    cores: tuple[int, ...]
    modules: tuple[str, ...]
    """Modules that the zygote imports in addition to torch and numpy."""
    path: tuple[str, ...] = ()
    """Folders that come first on a worker's `sys.path`."""

    @property
    def is_own(self) -> bool:
        """True if workers run in this process's interpreter."""
        return not self.order.python and not self.order.source_cmd

    def kind(self, packages: Sequence[str]) -> ZygoteKind:
        """Return the kind of zygote for a call that needs these packages (torch, numpy)."""
        needed = (*packages, *(name.partition(".")[0] for name in self.modules))
        kind = kind_of(self.order, Tool.NONE, preload_among(needed))
        folders = tuple(_folder_of(name) for name in self.modules) if self.is_own else ()
        roots = tuple(dict.fromkeys((*kind.roots, *(folder for folder in folders if folder))))
        return replace(kind, calls=True, modules=self.modules, roots=roots)

    def surroundings(self) -> dict[str, object]:
        """Return a worker's current surroundings: folder, path, variables, cores, memory limit."""
        return {
            "cwd": worker_folder(self.order),
            "path": worker_path(self.order),
            "first": [*self.path, *first_on_path(self.order)],
            "env": worker_env(self.order, Tool.NONE),
            "cores": list(self.cores),
            "memory_limit_bytes": self.order.memory_limit_bytes,
        }


def settings_of(
    function: Callable[..., object], options: WorkerOptions, label: str | None = None
) -> Settings:
    """Return checked options; raise `UsageError` for invalid ones."""
    for name in options:
        if name not in WorkerOptions.__annotations__:
            where = "; keyword arguments of the function go in kwargs={…}"
            raise UnknownOption(name, CallOptions.__annotations__, where)
    threads, timeout_s, python = options.get("num_threads"), options.get("timeout_s"), options.get("python")
    order = work_order(
        function,
        label=label,
        timeout_s=600.0 if timeout_s is None else timeout_s,
        memory_limit_bytes=options.get("memory_limit_bytes"),
        env=options.get("env") or {},
        python=None if python is None or os.fspath(python) == sys.executable else os.fspath(python),
        source_cmd=options.get("source_cmd"),
        num_threads=1 if threads is None else threads,
        retries=options.get("retries", 0),
    )
    return Settings(
        order=order if threads is not None else replace(order, num_threads=0),
        timeout_s=math.inf if timeout_s is None else timeout_s,
        cores=_checked_cores(options.get("cores", ())),
        modules=tuple(options.get("imports", ())),
        path=tuple(os.path.abspath(folder) for folder in options.get("path", ())),
    )


def _checked_cores(cores: Sequence[int]) -> tuple[int, ...]:
    usable = os.sched_getaffinity(0)
    if not set(cores) <= usable:
        raise InvalidOption("cores", cores, f"this process may only use {sorted(usable)}")
    return tuple(cores)


def _folder_of(module: str) -> str | None:
    """Return the folder that contains a module's package; None if it is missing or built in."""
    try:
        spec = importlib.util.find_spec(module.partition(".")[0])
    except (ImportError, ValueError):
        return None
    if spec is None or spec.origin is None or not os.path.isabs(spec.origin):
        return None
    file = Path(spec.origin)
    return str(file.parent.parent if spec.submodule_search_locations else file.parent)
