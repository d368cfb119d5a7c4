"""Errors that profkit raises on purpose, with their exit codes; messages end with how to fix the cause.

    ProfkitError                      70  (base; never raised itself)
    ├── InternalError                 70
    ├── UsageError                     2
    │   ├── InvalidOption
    │   ├── UnknownOption
    │   └── LimitExceeded
    ├── SamplerError                   3
    │   ├── SamplerMissing
    │   ├── AttachDenied
    │   ├── SamplerFailed
    │   └── SamplerTimeout
    ├── ProfilerBusy                   3
    ├── MeasuringError                 3
    │   ├── ToolMissing
    │   ├── ZygoteFailed
    │   ├── EntryRefused
    │   ├── CompileFailed
    │   ├── CannotTravel
    │   ├── GitFailed
    │   ├── TooShort
    │   └── WorkerError
    │       ├── WorkerFailed
    │       ├── WorkerDied
    │       ├── WorkerTimeout
    │       └── BadReply
    ├── NoBaseline                     4
    ├── RunNotFound                    6
    │   ├── NoRunsToMerge
    │   └── StoreEmpty
    ├── StoreUnavailable               7
    ├── SpoolUnavailable               7
    └── DamagedFile                    7
        └── RefusedFile

More are in `measuring.errors`, `samplers.memray.tracker`, `store.places`, `ingest.servers.profile_server`,
`pytorch.errors` and, with code 127, in `process.foreground`. A class builds its message from its fields;
`exit_code` is the exit status of the command line.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import ClassVar


class ProfkitError(Exception):
    """Base of all errors that profkit raises on purpose."""

    exit_code: ClassVar[int] = 70


class InternalError(ProfkitError):
    """Unexpected failure of profkit itself; the cause is its `__cause__` or in the log."""

    def __init__(self, doing: str, error: BaseException) -> None:
        self.doing, self.error = doing, error
        super().__init__(
            f"profkit failed while {doing}: {type(error).__name__}: {error}; please report this with the "
            "traceback, which the logger 'profkit' writes at level DEBUG"
        )


class UsageError(ProfkitError):
    """The caller's request is invalid."""

    exit_code = 2

    def __init__(self, problem: str, fix: str) -> None:
        self.problem, self.fix = problem, fix
        super().__init__(f"{problem}; {fix}")


class InvalidOption(UsageError):
    """An option's value is invalid, alone or in combination with another option."""

    def __init__(self, option: str, value: object, fix: str) -> None:
        self.option, self.value = option, value
        super().__init__(f"{option}={value!r} is not valid", fix)


class UnknownOption(UsageError):
    """No option has this name; the message suggests the nearest one."""

    def __init__(self, option: str, known: Iterable[str], where: str = "") -> None:
        self.option, self.known = option, tuple(known)
        super().__init__(
            f"there is no option {option!r}{where}", _nearest(option, self.known, "the options are")
        )


class LimitExceeded(UsageError):
    """A file exceeds the limits of imports on size, depth or reading time."""

    def __init__(self, path: Path, excess: str, option: str) -> None:
        self.path, self.excess, self.option = path, excess, option
        fix = f"if you trust the file, raise the limit with {option} of `profkit import`"
        super().__init__(f"{path} {excess}", fix)


class SamplerError(ProfkitError):
    """A sampler failed."""

    exit_code = 3


class SamplerMissing(SamplerError):
    """The sampler's program is not on PATH."""

    def __init__(self, sampler: str, program: str, fix: str) -> None:
        self.sampler, self.program, self.fix = sampler, program, fix
        super().__init__(f"{sampler}: the program {program!r} is not on PATH; {fix}")


class AttachDenied(SamplerError):
    """The system does not allow the sampler to read this process."""

    def __init__(self, sampler: str, pid: int, fix: str, refused: frozenset[str] = frozenset()) -> None:
        self.sampler, self.pid, self.fix, self.refused = sampler, pid, fix, refused
        """`refused`: what the system denies to other samplers, too; see `samplers.base.READ`."""
        super().__init__(f"{sampler} may not read process {pid}; {fix}")


class SamplerFailed(SamplerError):
    """The sampler ended, or replied, in a way that leaves no samples."""

    def __init__(self, sampler: str, stage: str, detail: str, fix: str, *, passing: bool = False) -> None:
        self.sampler, self.stage, self.detail, self.fix = sampler, stage, detail, fix
        self.passing = passing
        """True if the cause may be temporary, so that a retry is worthwhile."""
        super().__init__(f"{sampler} failed at {stage}: {detail}; {fix}")


class SamplerTimeout(SamplerError):
    """The sampler did not reach a state before its deadline."""

    def __init__(self, sampler: str, state: str, timeout_s: float, option: str) -> None:
        self.sampler, self.state, self.timeout_s, self.option = sampler, state, timeout_s, option
        super().__init__(
            f"{sampler} was not {state} within {timeout_s:g} s; raise {option} or look at the "
            "sampler's log in the spool"
        )


class ProfilerBusy(ProfkitError):
    """A region with other sampler options is active, and the caller set `on_busy='raise'`."""

    exit_code = 3

    def __init__(self, label: str, holder: str) -> None:
        self.label, self.holder = label, holder
        super().__init__(
            f"{label!r} was not started: this process is already profiling {holder!r} with other sampler "
            "options; give both the same options, or set on_busy='share', 'wait' or 'skip'"
        )


class MeasuringError(ProfkitError):
    """A measurement failed."""

    exit_code = 3


class ToolMissing(MeasuringError):
    """A program that measuring needs is not on PATH."""

    def __init__(self, program: str, needed_for: str, fix: str) -> None:
        self.program, self.needed_for, self.fix = program, needed_for, fix
        super().__init__(f"{needed_for} needs {program!r}, which is not on PATH; {fix}")


class ZygoteFailed(MeasuringError):
    """A zygote did not start, or ended unexpectedly; `output` is what it printed."""

    def __init__(self, zygote: str, detail: str, output: str, fix: str) -> None:
        self.zygote, self.detail, self.output, self.fix = zygote, detail, output, fix
        super().__init__(f"the zygote {zygote} {detail}; {fix}{_quoted(output)}")


class EntryRefused(MeasuringError):
    """One of many definitions is invalid; the others are measured."""

    def __init__(self, label: str, problem: str, fix: str) -> None:
        self.label, self.problem, self.fix = label, problem, fix
        super().__init__(f"{label!r} was not measured: {problem}; {fix}")


class CompileFailed(MeasuringError):
    """A C++ statement does not compile; `output` names the user's own lines."""

    def __init__(self, label: str, output: str) -> None:
        self.label, self.output = label, output
        super().__init__(f"{label!r} does not compile; fix the statement{_quoted(output)}")


class CannotTravel(MeasuringError):
    """A function or its arguments cannot be sent to another process."""

    def __init__(self, what: str, detail: str, fix: str = "") -> None:
        self.what, self.detail = what, detail
        self.fix = fix or "measure a statement whose setup creates it, or set isolated=False"
        super().__init__(f"{what} cannot be sent to another process: {detail}; {self.fix}")


class GitFailed(MeasuringError):
    """A git command failed; `detail` is what it printed."""

    def __init__(self, command: str, detail: str) -> None:
        self.command, self.detail = command, detail
        super().__init__(f"`git {command}` failed: {detail}; fix the repository, then try again")


class WorkerError(MeasuringError):
    """A worker returned no result; `output` is what it printed."""


class WorkerFailed(WorkerError):
    """The measured code raised an exception; `trace` is the worker's traceback."""

    def __init__(self, label: str, trace: str, output: str = "") -> None:
        self.label, self.trace, self.output = label, trace, output
        last = trace.strip().rpartition("\n")[2]
        super().__init__(
            f"{label!r} raised {last}; run it on its own to debug it{_quoted(trace)}{_quoted(output)}"
        )


class WorkerDied(WorkerError):
    """A worker ended without a reply; `how` names the signal or exit status."""

    def __init__(self, label: str, how: str, output: str = "") -> None:
        self.label, self.how, self.output = label, how, output
        super().__init__(
            f"{label!r} returned no result: its process {how}; run it on its own to debug it{_quoted(output)}"
        )


class WorkerTimeout(WorkerError):
    """A worker exceeded its timeout, and was ended with all its children."""

    def __init__(self, label: str, timeout_s: float, tries: int, output: str = "") -> None:
        self.label, self.timeout_s, self.tries, self.output = label, timeout_s, tries, output
        times = f" in {tries} tries" if tries > 1 else ""
        super().__init__(
            f"{label!r} did not finish within {timeout_s:g} s{times}; raise timeout_s{_quoted(output)}"
        )


class TooShort(MeasuringError):
    """A time is too short: the loop time subtracted from it is too uncertain."""

    def __init__(
        self, label: str, changes: tuple[str, ...], time_s: float, loop_s: float, uncertain_s: float
    ) -> None:
        self.label, self.changes = label, changes
        self.time_s, self.loop_s, self.uncertain_s = time_s, loop_s, uncertain_s
        what = f" ({', '.join(changes)})" if changes else ""
        super().__init__(
            f"{label!r} is too short to be timed with fresh arguments: it takes about {1e9 * time_s:.3g} ns, "
            f"and passing the objects that it changes{what} takes {1e9 * loop_s:.3g} ± "
            f"{1e9 * uncertain_s:.2g} ns; do more work in one execution, count its instructions "
            "(mode='callgrind'), or time it with the same arguments each time (fresh=False)"
        )


class BadReply(WorkerError):
    """A worker's reply is malformed."""

    def __init__(self, label: str, detail: str, output: str = "") -> None:
        self.label, self.detail, self.output = label, detail, output
        super().__init__(
            f"{label!r} returned no numbers: its worker's reply is malformed ({detail}); make sure that "
            f"the statement leaves the worker's files and descriptors alone{_quoted(output)}"
        )


class NoBaseline(ProfkitError):
    """There is no baseline to compare a run with."""

    exit_code = 4

    def __init__(self, wanted: str, detail: str, fix: str) -> None:
        self.wanted, self.detail, self.fix = wanted, detail, fix
        super().__init__(f"there is no baseline {wanted!r}: {detail}; {fix}")


class RunNotFound(ProfkitError):
    """No run has the requested id prefix or label."""

    exit_code = 6

    def __init__(self, wanted: str, known: Sequence[str] = ()) -> None:
        self.wanted, self.known = wanted, tuple(known)
        near = _nearest(wanted, self.known, "the latest labels are") if known else ""
        super().__init__(f"no run matches {wanted!r}; {near or '`profkit list` shows all runs'}")


class NoRunsToMerge(RunNotFound):
    """A label has runs, but none in the requested sessions or time."""

    def __init__(self, label: str, condition: str, newest: str) -> None:
        self.label, self.condition, self.newest = label, condition, newest
        ProfkitError.__init__(
            self,
            f"no run of {label!r} {condition}; its newest run is from {newest}: give an earlier time, or a "
            f"session that `profkit list --label {label} --json` shows",
        )


class StoreEmpty(RunNotFound):
    """The store has no runs yet."""

    def __init__(self, store: str, spool: Path) -> None:
        self.store, self.spool = store, spool
        ProfkitError.__init__(
            self,
            f"there are no runs in {store}, and none in {spool}; profile a program first, by "
            "`profkit run app.py` or with @profkit.profile() in it, or set PROFKIT_STORE and PROFKIT_SPOOL "
            "to the places of runs that were made elsewhere",
        )


_MALFORMED = "malformed"
_MALFORMED_FIX = (
    "move the file elsewhere, so that profkit creates a new one; "
    "`sqlite3 FILE .recover` prints the contents of the old one"
)


class StoreUnavailable(ProfkitError):
    """The database at PROFKIT_STORE cannot be opened, read or written."""

    exit_code = 7

    def __init__(self, url: str, detail: str) -> None:
        self.url, self.detail = url, detail
        usual = "check PROFKIT_STORE (default: sqlite:///.profkit/runs.db) and its permissions"
        fix = _MALFORMED_FIX if _MALFORMED in detail else usual
        super().__init__(f"the store {url} cannot be used: {detail}; {fix}")


class SpoolUnavailable(ProfkitError):
    """The spool folder cannot be read or written."""

    exit_code = 7

    def __init__(self, spool: Path, detail: str, fix: str = "") -> None:
        self.spool, self.detail = spool, detail
        known = (fix for words, fix in _SPOOL_FIXES.items() if words in detail)
        usual = "check its permissions, or set PROFKIT_SPOOL to a writable folder"
        self.fix = fix or next(known, usual)
        super().__init__(f"the spool {spool} cannot be used: {detail}; {self.fix}")


_SPACE = "free space on its disk, or set PROFKIT_SPOOL to a folder on another one"
_SPOOL_FIXES = {
    os.strerror(errno.ENOSPC): _SPACE,
    os.strerror(errno.EDQUOT): _SPACE,
    os.strerror(errno.EROFS): "set PROFKIT_SPOOL to a writable folder",
    "the current folder did not exist": "set PROFKIT_SPOOL to an absolute path, or start in another folder",
}


class DamagedFile(ProfkitError):
    """A file cannot be parsed; it is kept, never deleted."""

    exit_code = 7

    def __init__(self, path: Path, detail: str, kept: Path | None = None, fix: str = "") -> None:
        self.path, self.detail, self.kept = path, detail, kept
        where = f"it was moved to {kept}" if kept is not None else "it is left in place"
        super().__init__(f"{path} cannot be read: {detail}; {fix or f'{where}, everything else was read'}")


class RefusedFile(DamagedFile):
    """A spool entry is not a regular file or folder of the expected user; profkit leaves it untouched."""

    def __init__(self, path: Path, detail: str) -> None:
        super().__init__(
            path, detail, fix="it is left in place: inspect and remove it, or see `profkit --owner`"
        )


def _nearest(word: str, known: Sequence[str], listed: str) -> str:
    """Suggest the nearest known word, or list all of them."""
    from difflib import get_close_matches  # seldom needed, and profiled programs import this module

    near = get_close_matches(word, known, 1)
    return f"did you mean {near[0]!r}?" if near else f"{listed} {', '.join(known)}"


def _quoted(text: str) -> str:
    """Return another process's output, indented for use below a message; empty text for empty output."""
    lines = text.strip("\n").splitlines()
    return "".join(f"\n    {line}" for line in lines)
