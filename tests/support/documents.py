"""JSON documents with another value at one place, and what tests read from profiles of files."""

from __future__ import annotations

import copy
from collections.abc import Sequence

from profkit.formats.registry import format_of
from profkit.model.profile import Profile
from profkit.transforms.tables import function_rows

DELETED = object()
"""Value of a member that is to be removed."""


def replaced(document: object, path: Sequence[str | int], value: object) -> object:
    """Return a document with another value at one place; the document itself is not changed."""
    if not path:
        return value
    first, *rest = path
    assert isinstance(document, dict | list)
    changed = copy.copy(document)
    if value is DELETED and not rest:
        del changed[first]  # type: ignore[arg-type]
    else:
        changed[first] = replaced(document[first], rest, value)  # type: ignore[index]
    return changed


def named_samples(profile: Profile) -> list[tuple[str, int]]:
    """Return the functions of each sample, root first, and its weight."""
    return [
        (" ".join(profile.frames[frame].name for frame in profile.stacks[stack]), weight)
        for stack, _, weight in profile.samples
    ]


def weights_by_name(profile: Profile) -> dict[str, tuple[int, int]]:
    """Return the self and total weight of each function."""
    return {row.name: (row.self_weight, row.total_weight) for row in function_rows(profile)}


def format_named(data: bytes) -> str:
    """Return the name of the format that content looks like; empty if there is none."""
    known = format_of(data)
    return known.name if known is not None else ""
