"""Names of notebook cells, in place of the files that IPython makes up for their code."""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from profkit.model.profile import Profile
from profkit.model.session import CellName

ANY_CELL = "In [ ]"
"""Identity of all cells: a function keeps it when its cell is edited and runs again."""

_FILE = re.compile(r".*/ipykernel_\d+/\d+\.py|<ipython-input-(?P<number>\d+)-[0-9a-f]+>")
_NAME = re.compile(r"In \[(\d+| )\]")

_FILES: dict[str, str] = {}
"""Files of this process's cells by their names."""


def cell_name(number: int) -> str:
    """Return the name of the cell that was executed as this number, as notebooks show it."""
    return f"In [{number}]"


def is_cell(file: str) -> bool:
    """Return whether this is a cell: its file or its name."""
    return _FILE.fullmatch(file) is not None or _NAME.fullmatch(file) is not None


def remember_cells(cells: Iterable[CellName]) -> None:
    """Remember the files of this process's cells, for `lines_of_cell`."""
    _FILES.update({cell.name: cell.file for cell in cells})


def lines_of_cell(name: str) -> tuple[str, ...]:
    """Return the lines of a cell of this process, as IPython compiled it; none for other names."""
    file = _FILES.get(name)
    return () if file is None else tuple(line.rstrip("\n") for line in linecache.getlines(file))


def shown_file(file: str, names: Mapping[str, str]) -> str:
    """Return the name of a cell by its file; other files unchanged."""
    if (name := names.get(file)) is not None:
        return name
    match = _FILE.fullmatch(file)
    return file if match is None or match["number"] is None else cell_name(int(match["number"]))


def with_cell_names(profile: Profile, names: Mapping[str, str]) -> Profile:
    """Return the profile with the names of cells as the files of their frames."""
    files = {frame.file: shown_file(frame.file, names) for frame in profile.frames}
    if all(file == shown for file, shown in files.items()):
        return profile
    return replace(profile, frames=tuple(f._replace(file=files[f.file]) for f in profile.frames))
