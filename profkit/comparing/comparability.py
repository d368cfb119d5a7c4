"""Comparability of sampled runs: errors, warnings and notes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from profkit.errors import UsageError
from profkit.model.run import Run, RunInfo

LEAST_RUNS = 3
"""Minimum number of runs a side: fewer do not show the variation between runs."""
_UNLIKE = 1.25
"""Ratio of rates, or of CPU shares, above which they are reported."""


def check(a: Sequence[Run], b: Sequence[Run]) -> None:
    """Raise UsageError if the runs cannot be compared."""
    if not a or not b:
        raise UsageError("a side has no runs", "name at least one run for each side")
    for run in (*a, *b):
        if run.profile is None or not run.profile.total_weight:
            raise UsageError(
                f"run {run.info.id} ({run.info.label}) has no samples", "compare runs that have some"
            )
    if twice := {run.info.id for run in a} & {run.info.id for run in b}:
        raise UsageError(f"run {min(twice)} is on both sides", "leave it out of one of them")
    units = {run.profile.unit.value for run in (*a, *b) if run.profile is not None}
    if len(units) > 1:
        raise UsageError(
            f"weights in {' and '.join(sorted(units))} are not compared", "compare runs of the same unit"
        )
    if len({_clock(run.info) for run in (*a, *b)} - {""}) > 1:
        raise UsageError(
            "some runs count waiting (wall clock), others only time on the CPU",
            "record both sides with the same idle=",
        )


def warnings(a: Sequence[Run], b: Sequence[Run]) -> tuple[str, ...]:
    """Return differences in how the sides were sampled that can themselves change shares."""
    ways: tuple[tuple[str, Callable[[RunInfo], str]], ...] = (
        ("samplers", lambda info: info.plan.sampler),
        ("ways to sample", lambda info: _word(info, "blocking" if info.plan.blocking else "nonblocking")),
        ("frames", lambda info: _word(info, "native frames" if info.plan.native else "Python frames")),
        ("threads", lambda info: _word(info, "all threads" if _everything(info) else "callers' threads")),
    )
    texts = []
    for what, way in ways:
        of_a, of_b = ({way(run.info) for run in side} for side in (a, b))
        if of_a != of_b:
            texts.append(
                f"the sides were sampled in different ways ({what}: A {_listed(of_a)}; B {_listed(of_b)})"
            )
    return tuple(texts)


def notes(a: Sequence[Run], b: Sequence[Run]) -> tuple[str, ...]:
    """Return notes on other differences between the runs."""
    return (*_loads(a, b), *_rates(a, b), *_orders(a, b), *_torn(a, b), *_versions(a, b))


def uneven_load(a: Sequence[Run], b: Sequence[Run]) -> float:
    """Return the part by which one side had less of the CPU than the other; 0 if not known."""
    shares = _cpu_shares(a), _cpu_shares(b)
    return 1 - min(shares) / max(shares) if all(shares) else 0.0


def _loads(a: Sequence[Run], b: Sequence[Run]) -> Iterator[str]:
    if uneven_load(a, b) > 1 - 1 / _UNLIKE:
        of_a, of_b = (f"{100 * _cpu_shares(side):.0f} %" for side in (a, b))
        yield (
            f"A had {of_a} of a core, B {of_b}: one of them waits more, or the machine was busier, "
            "which changes shares by itself and makes intervals wider"
        )


def _cpu_shares(runs: Sequence[Run]) -> float:
    """Return the mean CPU share of a side's runs; 0 if no run has two readings."""
    shares = [share for share in map(_cpu_share, runs) if share]
    return math.fsum(shares) / len(shares) if shares else 0.0


def _cpu_share(run: Run) -> float | None:
    """Return the used share of one core; None without two readings."""
    points = run.resources
    if len(points) < 2 or points[-1].at_ns <= points[0].at_ns:
        return None
    return (points[-1].cpu_s - points[0].cpu_s) * 1e9 / (points[-1].at_ns - points[0].at_ns)


def _rates(a: Sequence[Run], b: Sequence[Run]) -> Iterator[str]:
    rates = [run.info.achieved_hz or run.info.plan.rate_hz for run in (*a, *b) if run.info.imported is None]
    if rates and max(rates) > _UNLIKE * min(rates):
        yield f"the runs were sampled {min(rates):.0f} to {max(rates):.0f} times a second"


def _orders(a: Sequence[Run], b: Sequence[Run]) -> Iterator[str]:
    unordered = [run.info.id for run in (*a, *b) if run.profile is not None and not run.profile.ordered]
    if unordered:
        yield (
            f"the order of samples is not known ({', '.join(unordered)}): intervals are twice as wide as for "
            "ordered samples, because slices of time do not show how reliable shares are"
        )


def _torn(a: Sequence[Run], b: Sequence[Run]) -> Iterator[str]:
    for run in (*a, *b):
        if run.info.is_much_torn:
            torn = 100 * run.info.torn_share
            yield f"{torn:.0f} % of the stacks of run {run.info.id} were torn: its callers may be wrong"


def _versions(a: Sequence[Run], b: Sequence[Run]) -> Iterator[str]:
    facts: tuple[tuple[str, Callable[[RunInfo], str]], ...] = (
        ("Python", lambda info: _word(info, info.process.python)),
        ("torch", lambda info: _word(info, info.process.torch or "")),
        ("host", lambda info: _word(info, info.process.host)),
    )
    for what, fact in facts:
        of_a, of_b = ({fact(run.info) for run in side} - {""} for side in (a, b))
        if of_a and of_b and of_a != of_b:
            yield f"{what}: A {_listed(of_a)}; B {_listed(of_b)}"


def _clock(info: RunInfo) -> str:
    return _word(info, "wall" if info.plan.idle else "cpu")


def _word(info: RunInfo, word: str) -> str:
    """Return the word, or '' for imported runs: unknown facts count as no difference."""
    return "" if info.imported is not None else word


def _everything(info: RunInfo) -> bool:
    return info.plan.scope == "process" or info.region.all_threads


def _listed(words: set[str]) -> str:
    return ", ".join(sorted(words - {""})) or "not known"
