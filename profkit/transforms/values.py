"""Values of memory profiles: join profiles of several values into one, and choose the value to show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from profkit.errors import UsageError
from profkit.model.profile import Column, Profile, ProfileBuilder, Sample, Value
from profkit.model.run import Run
from profkit.transforms.simplify import Reindexer


def join_values(profiles: Sequence[tuple[Value, Profile]]) -> Profile:
    """Return one profile with a sample for each stack of a thread; its weights are the first value's.

    Weights of equal stacks are added up. A value that a stack does not have is 0.
    """
    builder = ProfileBuilder()
    added: dict[tuple[int, int], list[int]] = {}
    for number, (_, profile) in enumerate(profiles):
        builder.forget_samples()
        reindexer = Reindexer(profile, builder)
        for sample in profile.samples:
            reindexer.add(profile.stacks[sample.stack], sample.thread, 1)
            stack, thread, _ = builder.last
            added.setdefault((stack, thread), [0] * len(profiles))[number] += sample.weight
    builder.forget_samples()
    columns = tuple(zip(*added.values(), strict=True)) or ((),) * len(profiles)
    first, *others = (Column(value, weights) for (value, _), weights in zip(profiles, columns, strict=True))
    return replace(
        builder.build(unit=first.value.unit, ordered=False),
        samples=tuple(Sample(*key, weight) for key, weight in zip(added, first.weights, strict=True)),
        value=first.value,
        columns=tuple(others),
    )


def values_of(profile: Profile) -> tuple[Value, ...]:
    """Return the values of a profile, that of its weights first; none if they are samples of time."""
    return () if profile.value is None else (profile.value, *(column.value for column in profile.columns))


def run_with_value(run: Run, value: Value | None) -> Run:
    """Return a run whose profile has one value, by default its main one; others than memory have but one.

    Raises UsageError if the run does not have the value.
    """
    profile = run.profile
    if profile is None or profile.value is None:
        if value is not None:
            raise UsageError(
                f"run {run.info.id} ({run.info.label}) has no value {value.value!r}",
                "leave it out: only runs with mode='memory' have several values",
            )
        return run
    if profile.columns or (value is not None and value is not profile.value):
        return replace(run, profile=with_value(profile, value or profile.value))
    return run


def with_value(profile: Profile, value: Value) -> Profile:
    """Return the profile with another value as its weights, without the others and without zeros.

    Raises UsageError if the profile does not have it.
    """
    if value not in values_of(profile):
        raise UsageError(f"the profile has no value {value.value!r}", "record it with mode='memory'")
    weights = next(
        (column.weights for column in profile.columns if column.value is value),
        tuple(sample.weight for sample in profile.samples),
    )
    samples = (
        sample._replace(weight=weight) for sample, weight in zip(profile.samples, weights, strict=True)
    )
    return replace(
        profile, unit=value.unit, value=value, columns=(), samples=tuple(one for one in samples if one.weight)
    )
