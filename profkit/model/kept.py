"""What the store keeps: sampled and measured runs, which are listed, found and removed alike."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from profkit.model.measurement import MeasuredInfo, MeasuredRun
from profkit.model.run import Run, RunInfo

AnyInfo = RunInfo | MeasuredInfo
"""Everything about a kept run but its samples or numbers."""
AnyRun = Run | MeasuredRun
"""A kept run, whole."""

_Info = TypeVar("_Info", RunInfo, MeasuredInfo, AnyInfo)


def unsealed(info: _Info) -> _Info:
    """Return what is known of a run without what shows who recorded it."""
    return replace(info, process=replace(info.process, seal="")) if info.process.seal else info
