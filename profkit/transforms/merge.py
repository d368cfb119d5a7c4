"""Several profiles as one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from profkit.errors import UsageError
from profkit.model.frame import Frame
from profkit.model.profile import Profile, ProfileBuilder
from profkit.transforms.reindex import Reindexer
from profkit.units import Unit


def merge_profiles(profiles: Iterable[Profile]) -> Profile:
    """All samples of all profiles, one profile after the other; nothing gives an empty profile.

    Where sampling periods differ, the merged one is their mean by weight, so that the time that all
    samples stand for together stays what it was. Stated totals are added up if all profiles have them.
    Raises `UsageError` for profiles of several units; a profile without samples has no say in the unit.
    """
    merged = tuple(profiles)
    counted = [profile for profile in merged if profile.samples] or list(merged[:1])
    unit = _common_unit(counted)
    builder = ProfileBuilder()
    for profile in counted:
        reindexer = Reindexer(profile, builder)
        for sample in profile.samples:
            reindexer.add(profile.stacks[sample.stack], sample.thread, sample.weight)
    return builder.build(
        unit=unit,
        period_ns=_mean_period_ns(counted),
        ordered=all(profile.ordered for profile in counted),
        totals=_totals(counted),
    )


def _totals(profiles: Sequence[Profile]) -> Mapping[Frame, int]:
    """Add up the totals of each function; nothing unless all profiles state them."""
    if not all(profile.totals for profile in profiles):
        return {}
    added: Counter[Frame] = Counter()
    not_stated = set()
    for profile in profiles:
        for frame, stated in zip(profile.frames, profile.totals, strict=True):
            added[frame] += stated or 0
            not_stated |= {frame} if stated is None else set()
    return {frame: total for frame, total in added.items() if frame not in not_stated}


def _common_unit(profiles: Sequence[Profile]) -> Unit:
    units = {profile.unit for profile in profiles}
    if len(units) > 1:
        words = " and ".join(sorted(unit.value for unit in units))
        raise UsageError(f"profiles in {words} cannot be merged", "merge profiles of one unit")
    return units.pop() if units else Unit.SAMPLES


def _mean_period_ns(profiles: Sequence[Profile]) -> float:
    periods = {profile.period_ns for profile in profiles}
    if len(periods) == 1:
        return periods.pop()
    weight = sum(profile.total_weight for profile in profiles)
    return sum(profile.period_ns * profile.total_weight for profile in profiles) / weight if weight else 0.0
