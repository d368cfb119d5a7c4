"""Stacks that never existed: eight chains of tiny functions, which call one another in turn.

A stack is torn if it has frames of two chains, or a function without its caller. A stack that ends too early
is not torn: its leaf was missed, which `tiny_calls` measures.
"""

from __future__ import annotations

from itertools import pairwise

from benchmarks.figures import Figure, check_enough
from benchmarks.pairs import share_figure
from benchmarks.sampled_child import HAS_READER, running, sampled
from profkit.model.profile import Profile
from profkit.samplers.options import SamplerOptions

_RATE_HZ = 1000.0
_FEWEST_STACKS = 10_000
_CHAINS, _LINKS = 8, "abcd"


def _chain(number: int) -> str:
    """Return the functions of one chain, each of which calls the next."""
    lines = [f"def {one}{number}(): return {other}{number}() + 1" for one, other in pairwise(_LINKS)]
    return "\n".join([*lines, f"def {_LINKS[-1]}{number}(): return 1"])


_DEFINITIONS = "\n".join(map(_chain, range(_CHAINS)))
PROGRAM = f"""{_DEFINITIONS}
print("begun", flush=True)
while True:
    {"; ".join(f"{_LINKS[0]}{number}()" for number in range(_CHAINS))}
"""


def measure(quick: bool) -> list[Figure]:
    """Count torn stacks for each sampler."""
    duration_s, fewest = (0.5, 1) if quick else (15.0, _FEWEST_STACKS)
    cases = {"py-spy, blocking": ("pyspy", True), "py-spy, nonblocking": ("pyspy", False)}
    if HAS_READER:
        cases["cpython, not stopping the program"] = ("cpython", False)
    return [_figure(what, *case, duration_s, fewest) for what, case in cases.items()]


def _figure(what: str, sampler: str, blocking: bool, duration_s: float, fewest: int) -> Figure:
    options = SamplerOptions(sampler, rate_hz=_RATE_HZ, blocking=blocking)
    with running(PROGRAM) as process:
        recording = sampled(process.pid, options, duration_s).recording
    torn, stacks = torn_and_all(recording.profile)
    check_enough(stacks, fewest, what)
    bound = 0.0 if blocking or sampler == "cpython" else None
    detail = f"{torn} of {stacks:,}, {recording.errors} rounds dropped"
    return share_figure(f"{what}: torn stacks", torn, stacks, bound, detail=detail, certain=True)


def torn_and_all(profile: Profile) -> tuple[int, int]:
    """Return the number of torn stacks, and of all."""
    is_torn = [
        _is_torn([profile.frames[frame].name for frame in stack if len(profile.frames[frame].name) == 2])
        for stack in profile.stacks
    ]
    torn = sum(sample.weight for sample in profile.samples if is_torn[sample.stack])
    return torn, sum(sample.weight for sample in profile.samples)


def _is_torn(names: list[str]) -> bool:
    """Return whether a stack, root first, is no beginning of a chain."""
    chain = [f"{link}{names[0][1]}" for link in _LINKS] if names else []
    return names != chain[: len(names)]
