"""Records of a session's segments: what is known of the last one, and which are kept of a long session."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from profkit.model.session import Segment
from profkit.samplers.base import Attachment

MOST_KEPT_S = 1200.0
"""Duration of samples above which a session keeps half of its minutes."""
_MINUTE_NS = 60 * 10**9

Segments = tuple[Segment, ...]


def next_index(segments: Sequence[Segment]) -> int:
    """Return the number of the next segment; earlier ones may have been deleted."""
    return segments[-1].index + 1 if segments else 0


def with_last(
    segments: Segments, attachment: Attachment | None, error: str | None, times_ns: Mapping[str, int | None]
) -> Segments:
    """Return segments with what is now known of the last one."""
    *before, last = segments
    if attachment is not None:
        seen = attachment.segment()
        last = replace(
            last, pid=seen.pid, start_ticks=seen.start_ticks, remote_id=seen.remote_id, links=seen.links
        )
    known_ns = {name: time_ns for name, time_ns in times_ns.items() if time_ns is not None}
    return (*before, replace(last, error=error or last.error, **known_ns))  # type: ignore[arg-type]


def evenly_spread(segments: Segments, every: int) -> tuple[Segments, Segments, int]:
    """Return the segments to keep, those to delete, and the number N if every Nth minute is kept.

    `every` is N so far. The last segment, which is being recorded, is kept.
    """
    *finished, last = segments
    kept = _of_minutes(finished, every)
    while sum(segment.sampled_ns or 0 for segment in kept) > MOST_KEPT_S * 1e9:
        every *= 2
        kept = _of_minutes(kept, every)
    return (*kept, last), tuple(one for one in finished if one not in kept), every


def _of_minutes(segments: Iterable[Segment], every: int) -> list[Segment]:
    return [one for one in segments if (one.offset_ns or 0) // _MINUTE_NS % every == 0]
