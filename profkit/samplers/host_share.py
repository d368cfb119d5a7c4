"""Rate of a sampler on a host with other samplers, or with more work than processors.

The samplers of one host share a part of its processors. Each sampler divides that part by the number of
samplers it finds, and takes at most the rest that the others leave. A rate that the user set is kept.
"""

from __future__ import annotations

from profkit.model.notes import Note, NoteCode
from profkit.samplers.base import LiveStacks

HOST_CPU = 0.25
"""Maximum share of the host's processors for all of its samplers if the user set no rate."""
SLOWEST_HZ = 10
_NO_LIMIT_HZ = 1_000_000
# A sampler keeps its rate when processes wait for a processor: with eight programs on two processors,
# eight samplers would take a fifth of the machine.
_CROWDED = 2.0
_SLOWEST_CROWDED_HZ = 20


def shared_rate(rate_hz: int, live: LiveStacks, round_s: float) -> tuple[int, tuple[Note, ...]]:
    """Lower a default rate if the machine is crowded or has other samplers; return it with notes.

    `round_s` is the time of one round. Assumes that a round of the others takes as long.
    """
    if live.crowding >= _CROWDED:
        crowded_hz = min(rate_hz, max(_SLOWEST_CROWDED_HZ, round(rate_hz / live.crowding)))
    else:
        crowded_hz = rate_hz
    left_hz = min(rate_hz, max(SLOWEST_HZ, _left_by_others(live, round_s)))
    if left_hz < crowded_hz:
        others = live.other_samplers
        return left_hz, (Note.of(NoteCode.SHARED_HOST, rate_hz=left_hz, samplers=others, share=HOST_CPU),)
    if crowded_hz >= rate_hz:
        return crowded_hz, ()
    return crowded_hz, (Note.of(NoteCode.CROWDED_HOST, rate_hz=crowded_hz, processes=live.crowding),)


def _left_by_others(live: LiveStacks, round_s: float) -> int:
    """Return the rate within this sampler's part of the host's budget."""
    if not live.other_samplers:
        return _NO_LIMIT_HZ
    rounds_hz = HOST_CPU * live.processors / round_s
    return int(min(rounds_hz / (live.other_samplers + 1), rounds_hz - live.other_rates_hz))
