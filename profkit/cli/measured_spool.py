"""Keeping of measured runs: commands show their numbers even if the runs cannot be kept."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from profkit.cli.output import say
from profkit.errors import SpoolUnavailable

if TYPE_CHECKING:
    from profkit.model.measurement import MeasuredRun


class MeasuredSpool:
    """Spool for runs as they arrive; a run that cannot be kept is an error after all are shown."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._lost = folder, 0
        self._error: OSError | None = None

    def keep(self, run: MeasuredRun) -> None:
        """Keep a run; warn at the first failure, since the other runs may take long."""
        from profkit.store.measured import keep_measured

        try:
            keep_measured(self._folder, run)
        except OSError as error:
            if self._error is None:
                say(
                    "warning",
                    f"{run.info.label!r} cannot be kept in {self._folder}: {error.strerror or error}",
                )
            self._error, self._lost = error, self._lost + 1

    def check(self, runs: int) -> None:
        """Raise `SpoolUnavailable` if runs were not kept."""
        if self._error is not None:
            reason = self._error.strerror or str(self._error)
            raise SpoolUnavailable(self._folder, f"{self._lost} of {runs} runs were not kept: {reason}")
