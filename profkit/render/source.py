"""Source lines beside the figures, only where the file can still be the one that ran."""

from __future__ import annotations

import re
import stat
import tokenize
from pathlib import Path

_LARGEST_BYTES = 8 * 2**20
_SOURCE = re.compile(r"\.(py|go|rs|c|cc|cpp|cxx|cu|h|hpp|js|ts|java|rb)$")


class SourceLines:
    """Reads files once; lines of files that changed after `started_ns` are not given out.

    `changed` names those files, so that a report can say why it shows no source.
    """

    def __init__(self, started_ns: int, cwd: str, *, trusted: bool = True) -> None:
        """Of a run that is not `trusted`, only files that are called source are opened.

        Anyone can write a profile that names any file of this machine, and reports are sent around.
        """
        self._started_ns, self._cwd, self._trusted = started_ns, Path(cwd), trusted
        self._files: dict[str, tuple[str, ...]] = {}
        self.changed: set[str] = set()

    def line(self, file: str, number: int) -> str | None:
        """Line `number` (from 1) without its indentation; None where it cannot be known."""
        if number < 1:
            return None
        lines = self.lines(file)
        text = lines[number - 1].expandtabs(4).strip() if number <= len(lines) else ""
        return text or None

    def lines(self, file: str) -> tuple[str, ...]:
        """All lines as they stand in the file; none where they cannot be known."""
        if file.startswith("<") or not (self._trusted or _SOURCE.search(file)):
            return ()
        if file not in self._files:
            self._files[file] = self._read(file)
        return self._files[file]

    def _read(self, file: str) -> tuple[str, ...]:
        path = self._cwd / file
        try:
            found = path.stat()
            if not stat.S_ISREG(found.st_mode) or found.st_size > _LARGEST_BYTES:
                return ()
            if found.st_mtime_ns > self._started_ns:
                self.changed.add(file)
                return ()
            with tokenize.open(path) as source:
                return tuple(source.read().split("\n"))
        except (OSError, SyntaxError, ValueError):
            # Gone, unreadable, or not Python: SyntaxError and ValueError tell of its encoding.
            return ()
