"""All small programs, by name."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.faults.snippets import exits, kinds, surroundings, system
from benchmarks.faults.snippets.base import Snippet

SNIPPETS: Mapping[str, Snippet] = {
    **exits.SNIPPETS,
    **kinds.SNIPPETS,
    **system.SNIPPETS,
    **surroundings.SNIPPETS,
}
