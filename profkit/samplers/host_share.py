"""Default rate of a sampler: the usual one, unless its rounds cost too much.

What a round costs is known from measurements; how busy the machine is says nothing about it. The samplers of
one host share a part of its processors in equal parts. A rate that the user set is kept.
"""

from __future__ import annotations

from profkit.model.notes import Note, NoteCode
from profkit.samplers.base import LiveStacks

HOST_CPU = 0.10
"""Maximum share of the host's processors for all of its samplers if there are several."""
SLOWEST_HZ = 10


def default_rate(
    usual_hz: int, affordable_hz: int, live: LiveStacks, round_cpu_s: float
) -> tuple[int, tuple[Note, ...]]:
    """Return the rate if the user set none, with a note if it is below the usual one.

    `affordable_hz` is the maximum for the program's sake, and `round_cpu_s` the processor time of a round.
    """
    rate_hz, others = min(usual_hz, affordable_hz), live.other_samplers
    part_hz = max(SLOWEST_HZ, int(HOST_CPU * live.processors / round_cpu_s / (others + 1)))
    if others and part_hz < rate_hz:
        return part_hz, (Note.of(NoteCode.SHARED_HOST, rate_hz=part_hz, samplers=others, share=HOST_CPU),)
    if rate_hz == usual_hz:
        return rate_hz, ()
    why = Note.of(
        NoteCode.LONG_ROUNDS, rate_hz=rate_hz, usual_hz=usual_hz, frames=live.frames, threads=live.threads
    )
    return rate_hz, (why,)
