"""Names of a shell's cells, recorded with the sessions that sample their code."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Mapping

from profkit.config import CONFIG
from profkit.integrations.ipython.shell import Shell
from profkit.model.session import CellName
from profkit.store.spool import append
from profkit.transforms.origin import cell_name, remember_cells


class RecordedCells:
    """Recorder of the names of one shell's cells, each once per session."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._session: str | None = None
        self._written: dict[str, int] = {}

    @property
    def current(self) -> int:
        """Number of the running cell; IPython's counter may be that of the next one already."""
        return max(self._numbers().values(), default=self._shell.execution_count)

    def record(self, session: str | None) -> None:
        """Write the cells that are new to a session into its folder; without them, reports show files."""
        if session is None:
            return
        if session != self._session:
            self._session, self._written = session, {}
        known = self._numbers()
        if known != self._written:
            new = [
                CellName(file, cell_name(number))
                for file, number in known.items()
                if self._written.get(file) != number
            ]
            remember_cells(new)
            with contextlib.suppress(OSError):
                append(CONFIG.spool / session, new)
            self._written = dict(known)

    def record_current(self) -> None:
        """Record the cells for the session of this process, if there is one."""
        manager = sys.modules.get("profkit.session.manager")
        if manager is not None and (session := manager.MANAGER.session) is not None:
            self.record(session.id)

    def _numbers(self) -> Mapping[str, int]:
        """Return the number of each file; no public function of IPython lists them."""
        numbers = getattr(self._shell.compile, "_filename_map", {})
        return numbers if isinstance(numbers, dict) else {}
