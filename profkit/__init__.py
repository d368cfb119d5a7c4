"""profkit: where the time goes, behind one decorator and one context manager."""

from __future__ import annotations

from typing import TYPE_CHECKING

from profkit.version import VERSION as __version__

if TYPE_CHECKING:
    from profkit.decorators import profile, profiled
    from profkit.errors import ProfkitError
    from profkit.model.profile import Profile
    from profkit.model.run import Run
    from profkit.profiler import FunctionProfiler

__all__ = ["FunctionProfiler", "Profile", "ProfkitError", "Run", "__version__", "profile", "profiled"]

_HOMES = {
    "FunctionProfiler": "profkit.profiler",
    "Profile": "profkit.model.profile",
    "ProfkitError": "profkit.errors",
    "Run": "profkit.model.run",
    "profile": "profkit.decorators",
    "profiled": "profkit.decorators",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'profkit' has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
