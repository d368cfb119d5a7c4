"""Costs of functions, as profkit and other readers report them, and their comparison."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from profkit.model.profile import Profile
from profkit.transforms.tables import FunctionRow, function_rows
from profkit.units import Unit

COMPARED = 10
"""Number of functions that are compared: the largest of the other reader, by self and by total."""
NS = {"nanoseconds": 1.0, "microseconds": 1e3, "milliseconds": 1e6, "seconds": 1e9}

Key = Callable[[str, str], str]
"""Function that makes what identifies a function for a reader, from its name and file."""


def by_name(name: str, file: str) -> str:
    """Return the name alone, for readers that merge functions of the same name."""
    return name


@dataclass(frozen=True, slots=True)
class Costs:
    """Total of a profile, and self and total of its functions."""

    reader: str
    total: float | None
    """None if it counts something else."""
    functions: Mapping[str, tuple[float, float | None]]
    """Self and total; None for a total that it does not have."""
    key: Key = by_name
    tolerance: float = 1e-9
    """Relative rounding error of the reader's numbers."""
    least: float = 0.5
    """Absolute rounding error, in the unit of the profile."""


def costs_of(profile: Profile, key: Key) -> Costs:
    """Return the costs that profkit reports, with functions that have the same key merged."""
    rows: defaultdict[str, list[FunctionRow]] = defaultdict(list)
    for row in function_rows(profile):
        rows[key(row.name, row.file)].append(row)
    merged = _totals_of(profile, {name for name, of in rows.items() if len(of) > 1}, key)
    functions = {
        name: (float(sum(row.self_weight for row in of)), float(merged.get(name, of[0].total_weight)))
        for name, of in rows.items()
    }
    return Costs("profkit", profile.total_weight, functions, key)


def _totals_of(profile: Profile, wanted: set[str], key: Key) -> Counter[str]:
    """Return the weight of all samples with a function of each key in their stack."""
    totals: Counter[str] = Counter()
    keys = [key(frame.name, frame.file) for frame in profile.frames]
    if wanted:
        for sample in profile.samples:
            for name in {keys[frame] for frame in profile.stacks[sample.stack]} & wanted:
                totals[name] += sample.weight
    return totals


def factor_to(profile: Profile, unit: str) -> float:
    """Return what one of another reader's units is in the profile's unit; 1 for counts."""
    if unit not in NS:
        return 1.0
    if profile.unit is Unit.NANOSECONDS:
        return NS[unit]
    return NS[unit] / profile.period_ns if profile.period_ns else NS[unit]


def differences(profile: Profile, other: Costs) -> Iterator[str]:
    """Yield what differs: the total, or self and total of the largest functions of the other reader."""
    own = costs_of(profile, other.key)
    if other.total is not None and not _equal(profile.total_weight, other.total, other):
        yield f"total {profile.total_weight:,} instead of {other.total:,.0f}"
    for name in largest(other):
        mine = own.functions.get(name, (0.0, 0.0))
        for what, here, there in zip(("self", "total"), mine, other.functions[name], strict=True):
            if there is not None and not _equal(here or 0.0, there, other):
                yield f"{what} of {name!r} {here:,.0f} instead of {there:,.0f}"


def largest(costs: Costs) -> list[str]:
    """Return the keys of the functions with the largest self or total costs."""
    ranked = (
        sorted(costs.functions, key=lambda name: -(costs.functions[name][place] or 0)) for place in (0, 1)
    )
    return list(dict.fromkeys(name for names in ranked for name in names[:COMPARED]))


def _equal(mine: float, theirs: float, other: Costs) -> bool:
    return abs(mine - theirs) <= max(other.least, other.tolerance * abs(theirs))
