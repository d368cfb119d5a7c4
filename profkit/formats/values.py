"""Values of a file that has several for each stack, such as bytes and allocations; one is imported."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from profkit.errors import UsageError
from profkit.model.notes import Note, NoteCode
from profkit.model.profile import Profile


class Selection(NamedTuple):
    """The profile of one of a file's values."""

    profile: Profile
    value: str = ""
    """Name of the value; empty if it is the one that is imported by default."""
    notes: tuple[Note, ...] = ()
    """Notes on this value and on those that are left out."""


@dataclass(frozen=True, slots=True)
class Values:
    """Names of a file's values, and the one that is imported by default."""

    names: tuple[str, ...]
    default: int = 0

    @classmethod
    def named(cls, names: Iterable[str], default: int = 0) -> Values:
        """Return values by name; one whose name is empty or not unique is called by its number, from 1."""
        listed = tuple(names)
        times = Counter(listed)
        unique = (n if n and times[n] == 1 else str(number) for number, n in enumerate(listed, 1))
        return cls(tuple(unique), default)

    def index(self, wanted: str | None, source: Path) -> int:
        """Return the place of a name, or that of the default value for None.

        Raises UsageError, naming `source` and the names that exist.
        """
        if wanted is None:
            return self.default
        if wanted in self.names:
            return self.names.index(wanted)
        if len(self.names) == 1:
            fix = f"its only value is {self.names[0]}: leave out --value"
        else:
            fix = f"give one of these with --value: {', '.join(self.names)}"
        raise UsageError(f"{source} has no value {wanted!r}", fix)

    def select(
        self, place: int, profile: Profile, notes: Iterable[Note] = (), same: Collection[int] = ()
    ) -> Selection:
        """Return the selection of a value, with a note on others, except the `same` in another unit."""
        kept = {place, *same}
        others = ", ".join(name for number, name in enumerate(self.names) if number not in kept)
        name = self.names[place]
        left_out = (Note.of(NoteCode.VALUES_LEFT_OUT, kept=name, left_out=others),) if others else ()
        return Selection(profile, "" if place == self.default else name, (*left_out, *notes))


def only_value(profile: Profile, wanted: str | None, source: Path) -> Selection:
    """Return the selection of a file with one value, which is named by its unit; raises as `Values.index`."""
    values = Values((profile.unit.value,))
    return values.select(values.index(wanted, source), profile)
