"""profkit: a sampling profiler that also measures time and instruction counts of code.

PYTEST_DONT_REWRITE: pytest rewrites the assertions of its plugins' packages. It warns if they were imported
before, as this one is by `profkit run -m pytest`.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from profkit.version import VERSION as __version__

if TYPE_CHECKING:
    from profkit import isolated
    from profkit.decorators import profile, profiled
    from profkit.errors import ProfkitError
    from profkit.integrations.ipython.shell import Shell
    from profkit.measuring.api import measure, measure_all, submit, wait, warm_pool
    from profkit.measuring.definitions import Variants, expand
    from profkit.measuring.orders import work_order
    from profkit.model.measurement import MeasuredRun, Measurement
    from profkit.model.profile import Profile
    from profkit.model.run import Run
    from profkit.model.workorder import WorkOrder
    from profkit.profiler import FunctionProfiler
    from profkit.program.continuous import continuous

__all__ = [
    "FunctionProfiler",
    "MeasuredRun",
    "Measurement",
    "Profile",
    "ProfkitError",
    "Run",
    "Variants",
    "WorkOrder",
    "__version__",
    "continuous",
    "expand",
    "isolated",
    "measure",
    "measure_all",
    "profile",
    "profiled",
    "submit",
    "wait",
    "warm_pool",
    "work_order",
]

_HOMES = {
    "FunctionProfiler": "profkit.profiler",
    "MeasuredRun": "profkit.model.measurement",
    "Measurement": "profkit.model.measurement",
    "Profile": "profkit.model.profile",
    "ProfkitError": "profkit.errors",
    "Run": "profkit.model.run",
    "Variants": "profkit.measuring.definitions",
    "WorkOrder": "profkit.model.workorder",
    "continuous": "profkit.program.continuous",
    "expand": "profkit.measuring.definitions",
    "measure": "profkit.measuring.api",
    "measure_all": "profkit.measuring.api",
    "profile": "profkit.decorators",
    "profiled": "profkit.decorators",
    "submit": "profkit.measuring.api",
    "wait": "profkit.measuring.api",
    "warm_pool": "profkit.measuring.api",
    "work_order": "profkit.measuring.orders",
}

_DECORATORS = ("continuous", "profile", "profiled")


def __getattr__(name: str) -> object:
    if name == "isolated":
        return _package(name)
    if name not in _HOMES:
        raise AttributeError(f"module 'profkit' has no attribute {name!r}")
    value = globals()[name] = _decorator(name) if name in _DECORATORS else _import(name)
    return value


def _import(name: str) -> object:
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def _package(name: str) -> object:
    from importlib import import_module

    return import_module(f"profkit.{name}")


def _decorator(name: str) -> object:
    """Import a decorator; if nothing can be profiled, return a stand-in that does nothing."""
    if sys.platform != "linux":
        why = f"profkit profiles on Linux, and this is {sys.platform}"
    else:
        try:
            return _import(name)
        except Exception as error:  # noqa: BLE001 - logged, and nothing is profiled
            from profkit.disabled import reason_of

            why = reason_of(error)
    from profkit.disabled import substitute

    return substitute(name, why)


def __dir__() -> list[str]:
    return sorted(__all__)


def load_ipython_extension(shell: Shell) -> None:
    """Load the magics `%profiled` and `%measure`; `%load_ext profkit` calls this."""
    from profkit.integrations.ipython.extension import load

    load(shell)


def unload_ipython_extension(shell: Shell) -> None:
    """Remove the magics; `%unload_ext profkit` calls this."""
    from profkit.integrations.ipython.extension import unload

    unload(shell)
