"""Slowdown of a sampled program: pure Python, by options and by number of idle threads.

Starting and stopping the sampler is excluded; `first_result` measures that. The unsampled calls are decorated
as well, with `sampler="none"`: with CPython 3.15, the same loop takes 3 % longer when it is called directly
than through a decorator, which would hide a slowdown. The first figure compares the workload with itself, and
so shows the machine's noise.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import fsum

from benchmarks.attached import detach, sampler_cpu_s
from benchmarks.figures import Figure
from benchmarks.pairs import interleaved, ratio_figure
from benchmarks.work import pure_python, rounds_for, timed_s
from profkit import profile
from profkit.calls.keywords import ProfilerOptions

_WORK_S = 0.3


@dataclass(frozen=True, slots=True)
class Case:
    """Options of a sampled workload, and the bound of its slowdown."""

    what: str
    bound: float | None
    options: ProfilerOptions = field(default_factory=ProfilerOptions)
    idle_threads: int = 0


_CASES = (
    Case("defaults", 1.05),
    Case("blocking=False", 1.02, {"blocking": False}),
    Case("defaults, 10 idle threads", 1.08, idle_threads=10),
    Case("defaults, 50 idle threads", 1.08, idle_threads=50),
)


def measure(quick: bool) -> list[Figure]:
    """Measure a ratio for each case, and the sampler's own time."""
    pairs, rounds = (2, rounds_for(0.05)) if quick else (80, rounds_for(_WORK_S))
    unsampled = interleaved(lambda: bare_s(rounds), lambda: bare_s(rounds), pairs)
    figures = [ratio_figure("nothing ÷ nothing (this machine's noise)", unsampled)]
    for case in _CASES:
        with _idle_threads(case.idle_threads):
            figures += case_figures(case, rounds, pairs)
    return figures


def bare_s(rounds: int) -> float:
    """Return the time of the workload, neither sampled nor decorated."""
    return timed_s(pure_python, rounds)


def case_figures(case: Case, rounds: int, pairs: int) -> list[Figure]:
    """Return the slowdown of a case, and the sampler's own CPU time."""
    options: ProfilerOptions = {**case.options, "label": case.what}
    sampled = profile(**options)(pure_python)
    unsampled = profile(label=f"{case.what}, unsampled", sampler="none")(pure_python)
    cpu_s: list[float] = []

    def sampled_s() -> float:
        sampled(0)  # the sampler starts
        before_s = sampler_cpu_s()
        taken_s = timed_s(sampled, rounds)
        cpu_s.append(sampler_cpu_s() - before_s)
        detach()
        return taken_s

    def unsampled_s() -> float:
        unsampled(0)
        taken_s = timed_s(unsampled, rounds)
        detach()
        return taken_s

    taken = interleaved(sampled_s, unsampled_s, pairs)
    share = fsum(cpu_s) / fsum(one_s for one_s, _ in taken)
    return [
        ratio_figure(f"{case.what} ÷ unsampled", taken, case.bound),
        Figure(f"{case.what}: the sampler's own CPU", share * 100, "% of a core",
               detail=f"{fsum(cpu_s):.2f} s of user and system time"),
    ]  # fmt: skip


@contextmanager
def _idle_threads(count: int) -> Iterator[None]:
    """Keep idle threads waiting, like those of a pool."""
    done = threading.Event()
    threads = [threading.Thread(target=done.wait, name=f"idle-{number}") for number in range(count)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        done.set()
        for thread in threads:
            thread.join()
