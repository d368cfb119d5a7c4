"""Source lines for reports, only from unchanged files that may be shown.

A profile from elsewhere can name any file of this machine, and reports are shared. So files are opened only
for runs that this user recorded here, and below a folder that the user names.
"""

from __future__ import annotations

import io
import os
import re
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

from profkit.model.run import Run, RunInfo
from profkit.process.manifest import is_sealed_here, key_file
from profkit.regular_files import open_regular
from profkit.transforms.origin import from_import_root, lines_of_cell
from profkit.transforms.waiting import LineOf

_LARGEST_BYTES = 8 * 2**20
_MAX_FOLDERS = 20
"""Maximum number of a path's suffixes that are tried below a source root."""
_SOURCE = re.compile(r"\.(py|pyx|go|rs|c|cc|cpp|cxx|cu|h|hpp|js|ts|java|rb)$")


class SourceLines:
    """Cached source files; those that changed after `started_ns` have no lines.

    `changed` names them. `refused` is set if files were not opened although the run claims to be recorded
    here. With both, a report can say why it shows no source.
    """

    def __init__(
        self,
        started_ns: int,
        cwd: str,
        *,
        trusted: bool = True,
        root: Path | None = None,
        local: bool = False,
        here: bool = False,
    ) -> None:
        """Open files only if the run is `trusted`, this user's own, or if they are below `root`.

        `local` runs claim to be recorded on this machine. Runs recorded `here`, in this process, may show
        its notebook cells.
        """
        self._says_so, self._here = local and root is None, here
        self._started_ns, self._cwd, self._trusted = started_ns, Path(cwd), trusted
        self._root = None if root is None else os.path.realpath(root)
        self._files: dict[str, tuple[str, ...]] = {}
        self.changed: set[str] = set()
        self.refused = False

    def line(self, file: str, number: int) -> str | None:
        """Return line `number` (from 1) without its indentation; None if unknown."""
        if number < 1:
            return None
        lines = self.lines(file)
        text = lines[number - 1].expandtabs(4).strip() if number <= len(lines) else ""
        return text or None

    def lines(self, file: str) -> tuple[str, ...]:
        """Return all lines of a file; none if they are unknown or may not be shown."""
        if not file or file.startswith("<"):
            return ()
        if self._here and (lines := lines_of_cell(file)):
            return lines
        if file not in self._files:
            self._files[file] = self._own(file) or self._below_root(file)
        return self._files[file]

    def _own(self, file: str) -> tuple[str, ...]:
        if not self._trusted:
            self.refused = self.refused or (self._says_so and _SOURCE.search(file) is not None)
            return ()
        return self._read(self._cwd / file, file)

    def _below_root(self, file: str) -> tuple[str, ...]:
        """Return the lines of the best match below the root; refuse links that leave it."""
        if self._root is None or not _SOURCE.search(file):
            return ()
        for path in self._candidates(file):
            if lines := self._read(path, None):
                self.changed.discard(file)
                return lines
        return ()

    def _candidates(self, file: str) -> Iterator[Path]:
        root = Path(self._root or "")
        if os.path.isabs(file):
            yield Path(file)
        cwd = str(self._cwd)
        inside = os.path.relpath(file, cwd) if os.path.isabs(file) and os.path.isabs(cwd) else file
        parts = [part for part in Path(inside).parts if part not in ("/", "..", ".")]
        yield root / from_import_root(file).lstrip("/")
        for start in range(min(len(parts), _MAX_FOLDERS)):
            yield root.joinpath(*parts[start:])

    def _read(self, path: Path, file: str | None) -> tuple[str, ...]:
        """Return the lines of a regular file; with `file`, its name in the profile, only if unchanged."""
        try:
            descriptor = open_regular(path)
        except (OSError, ValueError):  # missing, unreadable, no regular file, or an invalid path
            return ()
        try:
            found = os.fstat(descriptor)
            if found.st_size > _LARGEST_BYTES:
                return ()
            if file is None and not self._is_below(descriptor):
                return ()
            if file is not None and found.st_mtime_ns > self._started_ns:
                self.changed.add(file)
                return ()
            with open(descriptor, "rb", closefd=False) as opened:
                return _decoded(opened.read(_LARGEST_BYTES))
        except OSError:  # reading failed
            return ()
        finally:
            os.close(descriptor)

    def _is_below(self, descriptor: int) -> bool:
        """Return whether an open file is below the root, with links resolved."""
        try:
            real = os.readlink(f"/proc/self/fd/{descriptor}")
        except OSError:
            return False
        return os.path.commonpath([real, self._root or "/"]) == self._root


def source_of(infos: Sequence[RunInfo], root: Path | None = None) -> SourceLines:
    """Return the source of runs that are shown together; files open only if all were recorded here."""
    file, started_ns = key_file(), min(info.started_ns for info in infos)
    local = all(info.imported is None and info.process.host == os.uname().nodename for info in infos)
    own = local and all(is_sealed_here(info.process, file) for info in infos)
    here = own and all(info.process.pid == os.getpid() for info in infos)
    return SourceLines(started_ns, infos[0].process.cwd, trusted=own, root=root, local=local, here=here)


def lines_of(run: Run, root: Path | None = None) -> LineOf:
    """Return what returns lines of a run's source, which is looked for when one is first asked for."""
    infos = infos_of([run])
    source = cache(lambda: source_of(infos, root))
    return lambda file, number: source().line(file, number)


def infos_of(runs: Iterable[Run]) -> list[RunInfo]:
    """Return the infos of runs; for a merged run, those of its parts."""
    return [info for run in runs for info in (run.merged.infos if run.merged is not None else (run.info,))]


def _decoded(data: bytes) -> tuple[str, ...]:
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return tuple(io.TextIOWrapper(io.BytesIO(data), encoding).read().split("\n"))
    except (SyntaxError, ValueError, LookupError):  # not Python, or in another encoding than declared
        return ()
