"""Every error that profkit raises on purpose: what is wrong, then how to mend it.

    ProfkitError                      70  (base; never raised itself)
    ├── UsageError                     2
    │   └── InvalidOption
    ├── SamplerError                   3
    │   ├── SamplerMissing
    │   ├── AttachDenied
    │   ├── SamplerFailed
    │   └── SamplerTimeout
    ├── ProfilerBusy                   3
    ├── RunNotFound                    6
    │   └── StoreEmpty
    ├── StoreUnavailable               7
    ├── SpoolUnavailable               7
    └── DamagedFile                    7

A class builds its message from its fields; `exit_code` is what the command line returns.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar


class ProfkitError(Exception):
    """Base of every error that profkit raises on purpose."""

    exit_code: ClassVar[int] = 70


class UsageError(ProfkitError):
    """The caller asked for something that makes no sense."""

    exit_code = 2

    def __init__(self, problem: str, remedy: str) -> None:
        self.problem, self.remedy = problem, remedy
        super().__init__(f"{problem}; {remedy}")


class InvalidOption(UsageError):
    """An option has a value that it cannot have, alone or beside another option."""

    def __init__(self, option: str, value: object, remedy: str) -> None:
        self.option, self.value = option, value
        super().__init__(f"{option}={value!r} cannot be honoured", remedy)


class SamplerError(ProfkitError):
    """A sampler could not do its work."""

    exit_code = 3


class SamplerMissing(SamplerError):
    """The sampler's program is not on PATH."""

    def __init__(self, sampler: str, program: str, remedy: str) -> None:
        self.sampler, self.program, self.remedy = sampler, program, remedy
        super().__init__(f"{sampler}: the program {program!r} is not on PATH; {remedy}")


class AttachDenied(SamplerError):
    """The system does not let the sampler read this process."""

    def __init__(self, sampler: str, pid: int, remedy: str) -> None:
        self.sampler, self.pid, self.remedy = sampler, pid, remedy
        super().__init__(f"{sampler} may not read process {pid}; {remedy}")


class SamplerFailed(SamplerError):
    """The sampler ended, or answered, in a way that leaves no samples."""

    def __init__(self, sampler: str, stage: str, detail: str, remedy: str) -> None:
        self.sampler, self.stage, self.detail, self.remedy = sampler, stage, detail, remedy
        super().__init__(f"{sampler} failed at {stage}: {detail}; {remedy}")


class SamplerTimeout(SamplerError):
    """The sampler did not reach a state by its deadline."""

    def __init__(self, sampler: str, wanted: str, timeout_s: float, option: str) -> None:
        self.sampler, self.wanted, self.timeout_s, self.option = sampler, wanted, timeout_s, option
        super().__init__(
            f"{sampler} was not {wanted} within {timeout_s:g} s; raise {option} or look at the "
            "sampler's log in the spool"
        )


class ProfilerBusy(ProfkitError):
    """A region with other sampler options is active, and `on_busy='raise'` was asked for."""

    exit_code = 3

    def __init__(self, label: str, holder: str) -> None:
        self.label, self.holder = label, holder
        super().__init__(
            f"{label!r} was not started: the profiler of this process is busy with {holder!r} under "
            "other sampler options; give both the same options, or on_busy='share', 'wait' or 'skip'"
        )


class RunNotFound(ProfkitError):
    """No kept run has the id prefix or the label that was asked for."""

    exit_code = 6

    def __init__(self, wanted: str, known: Sequence[str] = ()) -> None:
        self.wanted, self.known = wanted, tuple(known)
        near = f"known: {', '.join(self.known)}" if self.known else "`profkit list` shows all runs"
        super().__init__(f"no run has the id or label {wanted!r}; {near}")


class StoreEmpty(RunNotFound):
    """Nothing has been kept yet."""

    def __init__(self, store: str, spool: Path) -> None:
        self.store, self.spool = store, spool
        ProfkitError.__init__(
            self,
            f"there are no runs in {store}, and none in {spool}; run a program that uses "
            "@profkit.profile() from this folder first, or set PROFKIT_STORE and PROFKIT_SPOOL to "
            "where it left them",
        )


class StoreUnavailable(ProfkitError):
    """The database behind PROFKIT_STORE cannot be opened, read or written."""

    exit_code = 7

    def __init__(self, url: str, detail: str) -> None:
        self.url, self.detail = url, detail
        super().__init__(
            f"the store {url} cannot be used: {detail}; check PROFKIT_STORE (default: "
            "sqlite:///.profkit/runs.db) and its permissions"
        )


class SpoolUnavailable(ProfkitError):
    """The spool folder cannot be read or written."""

    exit_code = 7

    def __init__(self, spool: Path, detail: str) -> None:
        self.spool, self.detail = spool, detail
        super().__init__(
            f"the spool {spool} cannot be used: {detail}; check its permissions, or set PROFKIT_SPOOL to a "
            "folder that can be written"
        )


class DamagedFile(ProfkitError):
    """A file cannot be read as what it should be; it is kept, never deleted."""

    exit_code = 7

    def __init__(self, path: Path, detail: str, kept: Path | None = None) -> None:
        self.path, self.detail, self.kept = path, detail, kept
        where = f"kept aside at {kept}" if kept is not None else "left where it is"
        super().__init__(f"{path} cannot be read: {detail}; {where}, everything else was read")
