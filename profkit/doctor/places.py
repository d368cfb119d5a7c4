"""Files that facts are read from, and folders that trials write to."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from profkit.clock import SYSTEM_CLOCK, Clock
from profkit.config import HOME, NO_FOLDER, is_nowhere

PREFIX = ".profkit-doctor-"
"""Beginning of the names of files and folders of trials; readers of a spool ignore hidden ones."""
_WRITTEN = b"0" * 4096


def text_of(path: Path) -> str:
    """Return the text of a file, empty if it is missing or may not be read."""
    try:
        return path.read_text("utf-8", "replace")
    except OSError:  # many of these files depend on the kernel and its settings
        return ""


def nearest_folder(path: Path) -> Path:
    """Return the folder itself, or the nearest one above it that exists."""
    return next(folder for folder in (path, *path.parents) if os.path.exists(folder))


def write_problem(path: Path) -> str | None:
    """Return why nothing can be written to a folder, or created below the nearest one; None if it can."""
    if is_nowhere(path):
        return NO_FOLDER
    try:
        with tempfile.NamedTemporaryFile(prefix=PREFIX, dir=nearest_folder(path)) as file:
            file.write(_WRITTEN)
            file.flush()
    except OSError as error:
        return error.strerror or str(error)
    return None


def can_use_home(environ: Mapping[str, str] = os.environ) -> bool:
    """Return whether $HOME is a folder in which profkit can create its own."""
    home = environ.get("HOME", "")
    return os.path.isabs(home) and os.path.isdir(home) and write_problem(Path(home, HOME)) is None


_ENDING_S, _PAUSE_S = 5.0, 0.05
"""Maximum time for a sampler to end after its program was killed, and between two looks."""


class TrialFolder(tempfile.TemporaryDirectory[str]):
    """A folder that is removed after use, also if a sampler that is ending still writes to it."""

    def __init__(self, parent: Path | None, clock: Clock = SYSTEM_CLOCK) -> None:
        super().__init__(prefix=PREFIX, dir=parent, ignore_cleanup_errors=True)
        self._clock = clock

    def cleanup(self) -> None:
        """Remove the folder; returns without an error if that fails."""
        super().cleanup()
        deadline_s = self._clock.monotonic_s() + _ENDING_S
        while os.path.exists(self.name) and self._clock.monotonic_s() < deadline_s:
            self._clock.sleep(_PAUSE_S)
            shutil.rmtree(self.name, ignore_errors=True)


def trial_folder(spool: Path) -> TrialFolder:
    """Make a folder for trials in the spool, or where it would be created; removed after use.

    If nothing can be written there, it is among temporary files: samplers can be tried anyway. Raises
    OSError if there are none either.
    """
    return TrialFolder(None if write_problem(spool) is not None else nearest_folder(spool))
