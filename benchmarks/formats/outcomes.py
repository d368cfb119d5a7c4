"""Outcomes of importing a file: accepted, recognised and refused, or unknown."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from profkit.cli.files import runs_of_file
from profkit.errors import ProfkitError
from profkit.model.profile import Profile
from profkit.model.run import Run

_UNKNOWN = "is not known"
"""Part of the message for a file that is neither read nor recognised."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of importing one file."""

    file: Path
    format: str = ""
    """Format that was recognised; empty if the file was refused."""
    tool: str = ""
    profile: Profile | None = None
    refusal: str = ""
    """First line of the message, with its fix; empty if the file was accepted."""

    @property
    def is_named(self) -> bool:
        """Whether the file was accepted, or refused with a message that says what it is."""
        return _UNKNOWN not in self.refusal


def import_file(file: Path, value: str | None = None) -> Outcome:
    """Import a file as the command does, and return the outcome."""
    try:
        (run,) = runs_of_file(file, value=value)
    except ProfkitError as error:
        text = str(error).replace(str(file), "FILE")
        return Outcome(file, refusal=text.splitlines()[0])
    if not isinstance(run, Run) or run.info.imported is None:
        return Outcome(file, "profkit", "profkit")
    return Outcome(file, run.info.imported.format, run.info.imported.tool, run.profile)


def files_in(paths: list[Path]) -> list[Path]:
    """Return the files themselves and those in folders, sorted."""
    found = (inner for path in paths for inner in ([path] if path.is_file() else path.rglob("*")))
    return sorted(file for file in found if file.is_file())
