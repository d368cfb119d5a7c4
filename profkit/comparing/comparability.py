"""Comparability of sampled runs: errors, findings on differences, and by which names functions match."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from profkit.errors import UsageError
from profkit.model.measurement import AnyRun
from profkit.model.notes import Finding, FindingCode, NoteCode
from profkit.model.profile import Profile
from profkit.model.run import Run, RunInfo
from profkit.transforms.combine import Home, aligned
from profkit.transforms.identity import has_comprehensions

MIN_RUNS = 3
"""Minimum number of runs per side: fewer do not show the variation between runs."""
_BIASED = frozenset({"timer", "thread"})
"""Ways of sampling from inside that have too many samples of some code, and too few of other."""
_UNLIKE = 1.25
"""Ratio of rates, or of CPU shares, above which they are reported."""


def check(a: Sequence[Run], b: Sequence[Run]) -> None:
    """Raise UsageError if the runs cannot be compared."""
    if not a or not b:
        raise UsageError("a side has no runs", "name at least one run for each side")
    if len({run.info.memory is None for run in (*a, *b)}) > 1:
        raise UsageError(
            "bytes of memory are not compared with time",
            "compare runs with mode='memory' with each other, and samples with samples",
        )
    for run in (*a, *b):
        if run.profile is None or not run.profile.total_weight:
            raise UsageError(
                f"run {run.info.id} ({run.info.label}) has no samples", "compare runs that have some"
            )
    check_distinct(a, b)
    units = {run.profile.unit.value for run in (*a, *b) if run.profile is not None}
    if len(units) > 1:
        raise UsageError(
            f"weights in {' and '.join(sorted(units))} are not compared", "compare runs of the same unit"
        )
    clocks = sorted({_clock(run.info) for run in (*a, *b)} - {""}, reverse=True)
    if len(clocks) > 1:
        raise UsageError(
            f"some runs count {', others '.join(clocks)}", "record both sides with the same idle= and gil="
        )


def check_distinct(a: Sequence[AnyRun], b: Sequence[AnyRun]) -> None:
    """Raise UsageError if a run is on both sides."""
    if twice := {run.info.id for run in a} & {run.info.id for run in b}:
        raise UsageError(f"run {min(twice)} is on both sides", "leave it out of one of them")


_Aspects = tuple[tuple[str, Callable[[RunInfo], str]], ...]

_SAMPLING: _Aspects = (
    ("sampler", lambda info: _sampler(info)),
    ("blocking", lambda info: _known(info, "blocking" if info.plan.blocking else "nonblocking")),
    ("frames", lambda info: _known(info, "native" if info.plan.native else "Python")),
    ("tasks", lambda info: _known(info, "with those awaiting" if info.plan.async_stacks else "alone")),
    ("threads", lambda info: _known(info, "all" if _has_all_threads(info) else "those of calls")),
)
_SOFTWARE: _Aspects = (
    ("Python", lambda info: _known(info, info.process.python)),
    ("torch", lambda info: _known(info, info.process.torch or "")),
    ("host", lambda info: _known(info, info.process.host)),
)


def count_executions(infos: Iterable[RunInfo]) -> int:
    """Return how often a program ran: processes of one launch, such as ranks, are no independent runs."""
    return len({info.process.launch or info.id for info in infos})


def sampled_as(info: RunInfo) -> tuple[str, ...]:
    """Return how a run was sampled: runs of which this differs have other shares of the same code."""
    return _clock(info), *(of(info) for _, of in _SAMPLING)


def warnings(a: Sequence[Run], b: Sequence[Run]) -> tuple[Finding, ...]:
    """Return differences in how the runs were sampled that can themselves change shares."""
    found = list(_biased(a, b))
    for aspect, of in _SAMPLING:
        of_a, of_b = ({of(run.info) for run in side} for side in (a, b))
        if of_a != of_b:
            found.append(_differing(FindingCode.SAMPLED_DIFFERENTLY, aspect, of_a, of_b))
    return tuple(found)


def _biased(a: Sequence[Run], b: Sequence[Run]) -> Iterator[Finding]:
    """Yield a finding if some runs are biased, because they were sampled from inside, and others not so."""
    biases = {run.info.id: _BIASED & _kinds(run.info) for run in (*a, *b)}
    if len(set(biases.values())) > 1:
        runs = ", ".join(run for run, bias in biases.items() if bias)
        ways = ", ".join(sorted(frozenset[str]().union(*biases.values())))
        yield Finding.of(FindingCode.BIASED_SAMPLES, runs=runs, ways=ways)


def notes(a: Sequence[Run], b: Sequence[Run]) -> tuple[Finding, ...]:
    """Return notes on other differences between the runs."""
    return (*_loads(a, b), *_rates(a, b), *_unordered(a, b), *_torn(a, b), *software_differences(a, b))


def uneven_load(a: Sequence[Run], b: Sequence[Run]) -> float:
    """Return the part by which one side had less of the CPU than the other; 0 if not known."""
    shares = _cpu_shares(a), _cpu_shares(b)
    return 1 - min(shares) / max(shares) if all(shares) else 0.0


def _loads(a: Sequence[Run], b: Sequence[Run]) -> Iterator[Finding]:
    if uneven_load(a, b) > 1 - 1 / _UNLIKE:
        yield Finding.of(FindingCode.UNEVEN_LOAD, a=_cpu_shares(a), b=_cpu_shares(b))


def _cpu_shares(runs: Sequence[Run]) -> float:
    """Return the mean CPU share of a side's runs; 0 if no run has two readings."""
    shares = [share for share in map(_cpu_share, runs) if share]
    return math.fsum(shares) / len(shares) if shares else 0.0


def _cpu_share(run: Run) -> float | None:
    points = run.resources
    if len(points) < 2 or points[-1].at_ns <= points[0].at_ns:
        return None
    return (points[-1].cpu_s - points[0].cpu_s) * 1e9 / (points[-1].at_ns - points[0].at_ns)


def _rates(a: Sequence[Run], b: Sequence[Run]) -> Iterator[Finding]:
    rates = [run.info.achieved_hz or run.info.plan.rate_hz for run in (*a, *b) if run.info.imported is None]
    if rates and max(rates) > _UNLIKE * min(rates):
        yield Finding.of(FindingCode.RATES_DIFFER, low_hz=min(rates), high_hz=max(rates))


def _unordered(a: Sequence[Run], b: Sequence[Run]) -> Iterator[Finding]:
    ids = [run.info.id for run in (*a, *b) if run.profile is not None and not run.profile.ordered]
    if ids:
        yield Finding.of(FindingCode.SAMPLES_UNORDERED, runs=", ".join(ids))


def _torn(a: Sequence[Run], b: Sequence[Run]) -> Iterator[Finding]:
    for run in (*a, *b):
        if run.info.is_much_torn:
            yield Finding.of(FindingCode.TORN_STACKS, run=run.info.id, share=run.info.torn_share)


def software_differences(a: Sequence[Run], b: Sequence[Run]) -> Iterator[Finding]:
    """Yield the differences of Python, torch and host."""
    for aspect, of in _SOFTWARE:
        of_a, of_b = ({of(run.info) for run in side} - {""} for side in (a, b))
        if of_a and of_b and of_a != of_b:
            yield _differing(FindingCode.VERSIONS_DIFFER, aspect, of_a, of_b)


def _sampler(info: RunInfo) -> str:
    ways = ", ".join(sorted(_kinds(info)))
    return f"{info.plan.sampler} ({ways})" if ways else info.plan.sampler


def _kinds(info: RunInfo) -> set[str]:
    """Return how the program was sampled from inside; empty if another process sampled it."""
    return {str(dict(note.figures)["kind"]) for note in info.notes if note.code is NoteCode.SAMPLED_INSIDE}


def _clock(info: RunInfo) -> str:
    if info.plan.gil:
        return _known(info, "only time holding the GIL")
    return _known(info, "waiting (wall clock)" if info.plan.idle else "only time on the CPU")


def _known(info: RunInfo, value: str) -> str:
    """Return the value, or '' for imported runs: unknown values count as no difference."""
    return "" if info.imported is not None else value


def _has_all_threads(info: RunInfo) -> bool:
    return info.plan.scope == "process" or info.region.all_threads


def _differing(code: FindingCode, aspect: str, of_a: set[str], of_b: set[str]) -> Finding:
    a, b = (", ".join(sorted(values - {""})) for values in (of_a, of_b))
    return Finding.of(code, aspect=aspect, a=a, b=b)


_INLINED_SINCE = (3, 12)
"""First version of Python that runs comprehensions within the function around them (PEP 709)."""
_VERSION = re.compile(r"(\d+)\.(\d+)")


@dataclass(frozen=True, slots=True)
class Matched:
    """Profiles of runs, in their order."""

    profiles: tuple[Profile, ...]
    inlined: bool
    """True if comprehensions are counted for the functions around them, since some runs only show these."""


def match_functions(runs: Sequence[Run]) -> Matched:
    """Return profiles in which functions match by name and file.

    Runs can be of different samplers, Python versions and environments.
    """
    profiles = [run.profile or Profile() for run in runs]
    homes = [Home(run.info.process.cwd, run.info.region.file) for run in runs]
    inline = _differ_in_comprehensions(runs)
    return Matched(aligned(profiles, homes, inline=inline), inline)


def _differ_in_comprehensions(runs: Sequence[Run]) -> bool:
    """Return whether only some of the runs show comprehensions as functions of their own."""
    versions = [_version(run.info.process.python) for run in runs]
    inlining = [version is not None and version >= _INLINED_SINCE for version in versions]
    return any(inlining) and any(
        run.profile is not None and has_comprehensions(run.profile)
        for run, inlined in zip(runs, inlining, strict=True)
        if not inlined
    )


def _version(python: str) -> tuple[int, int] | None:
    """Return the major and minor version; None if it is not known, as for imported runs."""
    found = _VERSION.match(python)
    return (int(found[1]), int(found[2])) if found else None
