"""What the store keeps: sampled and measured runs, which are listed, found and removed alike."""

from __future__ import annotations

from profkit.model.measurement import MeasuredInfo, MeasuredRun
from profkit.model.run import Run, RunInfo

AnyInfo = RunInfo | MeasuredInfo
"""Everything about a kept run but its samples or numbers."""
AnyRun = Run | MeasuredRun
"""A kept run, whole."""
