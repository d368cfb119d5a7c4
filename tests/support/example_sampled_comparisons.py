"""Runs drawn by chance from known shares, and comparisons for the renderers."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

from profkit.comparing.sampled import compare_sampled
from profkit.model.comparison import SampledComparison
from profkit.model.profile import Frame, Profile, ProfileBuilder
from profkit.model.run import Run
from tests.support.example_runs import APP, HOSTILE, MAIN, labelled, made_run

SHARES = {
    "parse": 0.3,
    "compute": 0.25,
    "render": 0.15,
    "store": 0.1,
    "load": 0.08,
    "log": 0.07,
    "wait": 0.05,
}
"""Of a program that calls nothing below these."""


def drawn_run(
    dice: random.Random,
    shares: Mapping[str, float] = SHARES,
    samples: int = 600,
    run_to_run: float = 0.0,
    **changes: object,
) -> Run:
    """A run of so many samples; each function's time varies from run to run by that part of it."""
    times = {name: share * max(0.05, dice.gauss(1, run_to_run)) for name, share in shares.items()}
    builder = ProfileBuilder()
    names = dice.choices(list(times), weights=list(times.values()), k=samples)
    for name in names:
        builder.add((Frame("step", APP, 40), Frame(name, APP, 50)), MAIN)
    run = made_run(id=f"{dice.getrandbits(40):010x}", samples=samples, **changes)
    return replace(run, profile=builder.build(period_ns=1e7))


def drawn_runs(
    dice: random.Random, count: int, shares: Mapping[str, float] = SHARES, **how: object
) -> list[Run]:
    return [drawn_run(dice, shares, **how) for _ in range(count)]  # type: ignore[arg-type]


def slower(name: str, factor: float) -> dict[str, float]:
    """The shares of the program in which one function takes so many times as long."""
    return {other: share * (factor if other == name else 1) for other, share in SHARES.items()}


def with_profile(run: Run, profile: Profile) -> Run:
    return replace(run, profile=profile)


def made_comparison(runs: int, factor: float = 2.0) -> SampledComparison:
    """That many runs per side, of 2,000 samples; in B `compute` takes longer."""
    dice = random.Random(7)
    how = {"samples": 2000, "run_to_run": 0.03}
    before = [_labelled(run, "before") for run in drawn_runs(dice, runs, **how)]
    after = [_labelled(run, "after") for run in drawn_runs(dice, runs, slower("compute", factor), **how)]
    return compare_sampled(before, after)


def deep_comparison() -> SampledComparison:
    """The made training loop against one whose input pipeline is slower, three runs per side."""
    a = [made_run(id=f"a{number}", samples=2910) for number in range(3)]
    b = [made_run(id=f"b{number}", samples=3910) for number in range(3)]
    return compare_sampled(
        [_scaled(run, {}) for run in a], [_scaled(run, {"jitter.<locals>.pixel": 2}) for run in b]
    )


def hostile_comparison() -> SampledComparison:
    """Every name tries to do something, and one of them is the headline."""
    sides = []
    for side, weights in enumerate(((1, 9), (9, 1))):
        builder = ProfileBuilder()
        for number, name in enumerate(HOSTILE):
            weight = weights[0] if number == 0 else weights[1] if number == 1 else 1
            for _ in range(50):
                builder.add((Frame(name, f"/tmp/{name}.py", 3),), MAIN, weight)
        runs = [
            replace(
                labelled(f"{side}{number}", f"{HOSTILE[side]}{side}"), profile=builder.build(period_ns=1e7)
            )
            for number in range(3)
        ]
        sides.append(runs)
    return compare_sampled(*sides)


def _labelled(run: Run, label: str) -> Run:
    key = replace(run.info.region.key, label=label)
    return replace(run, info=replace(run.info, region=replace(run.info.region, key=key)))


def _scaled(run: Run, factors: Mapping[str, int], rounds: int = 20) -> Run:
    """The run's samples in many small rounds, those of some functions weighing more."""
    profile = run.profile or Profile()
    builder = ProfileBuilder()
    for _ in range(rounds):
        for stack, thread, weight in profile.samples:
            frames = tuple(profile.frames[frame] for frame in profile.stacks[stack])
            builder.add(frames, profile.threads[thread], weight * factors.get(frames[-1].name, 1))
    return replace(run, profile=builder.build(period_ns=profile.period_ns))


def of_shares(comparison: SampledComparison, name: str) -> Sequence[float]:
    """A function's own share in A and in B."""
    found = next(function for function in comparison.functions if function.name == name)
    return found.own.a.value, found.own.b.value
