"""What was not profiled, as sentences and for programs."""

from __future__ import annotations

from collections.abc import Iterable

from profkit.model.session import UnprofiledGroup
from profkit.render.escape import short
from profkit.render.words import iso_moment, moment

_LABELS = 3
"""Labels that are named."""


def unprofiled_notes(groups: Iterable[UnprofiledGroup]) -> list[str]:
    """Return a sentence for each reason."""
    return [_note(group) for group in groups]


def unprofiled_objects(groups: Iterable[UnprofiledGroup]) -> list[dict[str, object]]:
    """Return an object for each reason."""
    return [
        {
            "reason": group.reason,
            "switch": group.switch,
            "partly": group.partly,
            "processes": group.processes,
            "labels": list(group.labels),
            "first": iso_moment(group.first_ns),
            "last": iso_moment(group.last_ns),
        }
        for group in groups
    ]


def _note(group: UnprofiledGroup) -> str:
    one = group.processes == 1
    processes = "1 process was" if one else f"{group.processes:,} processes were"
    how = "profiled only in part" if group.partly else "not profiled"
    named = ", ".join(short(label, 40) for label in group.labels[:_LABELS])
    more = f" and {len(group.labels) - _LABELS:,} more" if len(group.labels) > _LABELS else ""
    labels = f" ({named}{more})" if named else ""
    return f"{processes} {how}{labels}, last at {moment(group.last_ns)[:19]}: {group.reason}; {group.switch}"
