"""Counters of regions, without a function behind them."""

from __future__ import annotations

from types import CodeType

from profkit.model.region import Region, RegionKey, RegionKind
from profkit.samplers.options import SamplerOptions
from profkit.session.counters import Counters, Policy


def counters_of(
    label: str = "f", kind: RegionKind = RegionKind.FUNCTION, options: SamplerOptions | None = None, *,
    code: CodeType | None = None, all_threads: bool = False, **policy: object,
) -> Counters:  # fmt: skip
    """Counters of a region with this label, and with this policy."""
    region = Region(RegionKey("m", label, 1, label), kind, "m.py", all_threads=all_threads)
    return Counters(region, options or SamplerOptions(), Policy(**policy), code)  # type: ignore[arg-type]
