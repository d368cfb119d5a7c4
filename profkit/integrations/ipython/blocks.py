"""Profiled cells and statements of IPython as blocks: their labels; all their lines are the body."""

from __future__ import annotations

import contextlib
import hashlib
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING, cast

from profkit.calls.options import MEMORY, Settings, memory_settings, settings
from profkit.calls.slow_path import enter, leave, results_of
from profkit.config import CONFIG
from profkit.integrations.ipython.shell import Shell
from profkit.model.region import Region, RegionKey, RegionKind
from profkit.model.run import Run
from profkit.model.session import CellName
from profkit.originals import REAL
from profkit.process.redaction import secret_rule
from profkit.program.environment import MODE, ProgramOptions, memory_options
from profkit.session.activity import OPEN_BLOCKS, calls_under_way
from profkit.session.counters import Counters
from profkit.store.spool import append
from profkit.transforms.origin import cell_name, remember_cells

if TYPE_CHECKING:
    from profkit.calls.keywords import ProfilerOptions

_LONGEST_LABEL = 60
_NAMELESS = ("#", "import ", "from ")
"""Beginnings of lines that do not name a cell well."""
_MODULE, _FRAME = "__main__", "<module>"


@dataclass(frozen=True, slots=True)
class Code:
    """The code of a cell or statement, as IPython compiles it."""

    text: str
    """As the user wrote it, without the line of the magic."""
    file: str
    """File name of its code objects."""
    lines: range
    """Its lines in that file."""
    waits: bool = False
    """True if it has `await` at its top level: tasks of the event loop run meanwhile."""

    @property
    def label(self) -> str:
        """Its first line that does more than import: it stays when the cell runs again, edited or not."""
        lines = [line.strip() for line in self.text.splitlines() if line.strip()] or ["cell"]
        line = next((line for line in lines if not line.startswith(_NAMELESS)), lines[0])
        (first,) = secret_rule().argv((line,))
        return first if len(first) <= _LONGEST_LABEL else f"{first[: _LONGEST_LABEL - 1]}…"

    @property
    def digest(self) -> str:
        """Digest of its text, in eight hexadecimal digits."""
        return hashlib.blake2b(self.text.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()


class CodeBlock:
    """One profiled execution of a cell or statement; it has a session of its own if nothing else runs."""

    __slots__ = ("_joined", "_start_ns", "_tid", "counters", "frame_id")

    def __init__(self, code: Code, options: ProgramOptions) -> None:
        """Raise `UsageError` for invalid options."""
        chosen = program_settings(options)
        self.counters = Counters(_region(code, chosen), chosen.sampler, chosen.policy)
        self.frame_id = 0
        self._joined, self._start_ns = False, 0
        self._tid: int | None = None

    @property
    def session(self) -> str | None:
        """Id of its session, None if it has none."""
        return self.counters.sessions[-1] if self.counters.sessions else None

    def start(self, frame: FrameType) -> None:
        """Begin to sample; `frame` is of the thread that runs the code."""
        from profkit.session.manager import MANAGER

        if not (calls_under_way() or self.counters.options.tracks_memory):
            MANAGER.end_session()
        # All that this thread runs until the end is part of the block, also what its event loop runs.
        self.frame_id = id(_outermost(frame))
        region = self.counters.region
        self._tid = REAL.get_native_id() if region.detached and not region.all_threads else None
        OPEN_BLOCKS[self] = None
        try:
            self._joined = enter(self.counters, frame, self._tid)
        except BaseException:
            OPEN_BLOCKS.pop(self, None)
            raise
        self._start_ns = REAL.perf_counter_ns()

    def end(self, *, raised: bool) -> None:
        """Count the execution and end its session, unless other calls use it."""
        from profkit.session.manager import MANAGER

        wall_ns = REAL.perf_counter_ns() - self._start_ns
        OPEN_BLOCKS.pop(self, None)
        if not self._joined:
            return
        self.counters.durations.append(wall_ns)
        if raised:
            self.counters.raised.append(None)
        if not (calls_under_way() or self.counters.options.tracks_memory):
            MANAGER.end_session()
        if self.counters.owns_segments or self.counters.leaves:
            leave(self.counters, self._tid)

    @property
    def run(self) -> Run | None:
        """Its run; None if it was not profiled."""
        return next(results_of(self.counters), None)


def why_off() -> str | None:
    """Return why nothing is profiled in this process; None if it is."""
    if sys.platform != "linux":
        return f"profkit profiles on Linux, and this is {sys.platform}"
    return "PROFKIT_DISABLE is set" if CONFIG.disabled else None


def program_settings(options: ProgramOptions) -> Settings:
    """Return the settings for the options of a cell; raises `UsageError`."""
    if options.get(MODE) == MEMORY:
        return memory_settings(memory_options(options))
    return settings(cast("ProfilerOptions", options))


def _region(code: Code, chosen: Settings) -> Region:
    return Region(
        key=RegionKey(_MODULE, _FRAME, code.lines.start, chosen.label or code.label),
        kind=RegionKind.BLOCK,
        file=code.file,
        body=tuple(code.lines),
        detached=code.waits,
        all_threads=chosen.extras.all_threads,
        code=code.digest,
    )


def _outermost(frame: FrameType) -> FrameType:
    while frame.f_back is not None:
        frame = frame.f_back
    return frame


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
