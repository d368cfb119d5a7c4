"""Trials of samplers: which ways are tried, each on a program of its own, whose run is read and kept."""

from __future__ import annotations

import json
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from profkit.clock import SYSTEM_CLOCK
from profkit.errors import ProfkitError, SamplerMissing, UsageError
from profkit.ingest.keep import ingest
from profkit.model.measurement import AnyInfo
from profkit.model.notes import Note, NoteCode
from profkit.model.region import CALLS_ONLY
from profkit.model.run import RunInfo
from profkit.process.child import own_python, run_child
from profkit.samplers import registry
from profkit.samplers.base import Sampler
from profkit.samplers.inprocess.ways import Kind
from profkit.samplers.options import SamplerOptions
from profkit.samplers.ptrace import DenialCause
from profkit.store.runs import open_store
from profkit.store.spool import read_session, session_folders

_PYSPY = "pyspy"
_FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
_NOT_TRIED = (registry.AUTO, CALLS_ONLY)
_RATE_HZ = 100.0
"""Rate of trials: a default one is lowered on busy machines, down to one sample per trial."""
_TIMEOUT_S = 20.0
_WAIT_S = 5.0
"""Limit for a sampler to start, and to stop."""
_TAIL = 300
# The key that seals runs is a temporary one: a trial leaves nothing behind.
_START = """
import json, os, sys
path, options, folder = json.loads(sys.argv[1])
sys.path[:] = path
for name in [name for name in os.environ if name.startswith("PROFKIT_")]:
    del os.environ[name]
os.environ.update(PROFKIT_SPOOL=os.path.join(folder, "spool"), XDG_STATE_HOME=folder)
from pathlib import Path
from profkit.doctor.tried_program import run
run(options, Path(folder))
"""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One way to sample that is tried: a sampler, and whether it stops the program."""

    sampler: str
    blocking: bool | None = None
    """None if the sampler has no choice."""

    @property
    def name(self) -> str:
        """Name in the report."""
        words = {None: "", True: ", blocking", False: ", nonblocking"}
        return f"{self.sampler}{words[self.blocking]}"


@dataclass(frozen=True, slots=True)
class TrialError:
    """Reason why a trial failed."""

    message: str
    fix: str = ""
    cause: DenialCause | None = None
    """Set if the system denied the attach."""


@dataclass(frozen=True, slots=True)
class Trial:
    """Result of sampling a program in one way."""

    candidate: Candidate
    version: str | None = None
    running_s: float | None = None
    """Time from the sampler's start until it was RUNNING; None if it never was."""
    samples: int = 0
    links: int = 0
    """Number of pages on which a remote sampler shows its samples."""
    inside: tuple[Kind, ...] = ()
    """How a sampler inside the program has read stacks."""
    kept: bool = False
    """True if a store kept the run."""
    missing: SamplerMissing | None = None
    unsupported: str = ""
    """Why the sampler can never sample this Python."""
    error: TrialError | None = None
    took_s: float = 0.0
    repeated: bool = False
    """True if the first attempt failed and the second worked."""

    @property
    def worked(self) -> bool:
        """Whether samples came, and were kept."""
        return self.error is None and self.kept and self.samples + self.links > 0

    @property
    def denied(self) -> bool:
        """Whether the system denied the attach, as it would again."""
        return self.error is not None and self.error.cause is not None


def candidates() -> tuple[Candidate, ...]:
    """Return the ways to sample of every registered sampler that takes samples."""
    names = (name for name in registry.names() if name not in _NOT_TRIED)
    return tuple(candidate for name in names for candidate in _candidates_of(registry.resolve(name)))


def auto_order() -> tuple[Candidate, ...]:
    """Return the candidates that `auto` takes with this Python, in its order of preference."""
    return tuple(
        candidate
        for fallback in registry.list_fallbacks(SamplerOptions())
        for candidate in _candidates_of(fallback.sampler)
        if fallback.missing is not None
        or candidate.blocking in (None, fallback.options.blocking is not False)
    )


def _candidates_of(sampler: Sampler) -> Iterator[Candidate]:
    """Yield both ways of a sampler that can stop the program or not, else the only one."""
    choices = [
        blocking
        for blocking in (True, False)
        if _supports(sampler, SamplerOptions(sampler=sampler.name, blocking=blocking))
    ]
    yield from (Candidate(sampler.name, one) for one in (choices if len(choices) == 2 else (None,)))


def _supports(sampler: Sampler, options: SamplerOptions) -> bool:
    try:
        sampler.check(options)
    except UsageError:
        return False
    return True


def try_candidate(candidate: Candidate, folder: Path) -> Trial:
    """Sample a new program in one way, and keep its run in a store of the folder, which must be empty.

    The program is ended in any case. A trial that fails in time without a denial is repeated once: on a busy
    machine, a sampler may miss its own time limits.
    """
    sampler = registry.resolve(candidate.sampler)
    not_possible = _not_possible(candidate, sampler)
    if not_possible is not None:
        return not_possible
    first = _attempt(candidate, sampler, folder / "first")
    if first.worked or first.denied or first.took_s >= _TIMEOUT_S:
        return first
    second = _attempt(candidate, sampler, folder / "second")
    return replace(second, took_s=first.took_s + second.took_s, repeated=second.worked)


def _attempt(candidate: Candidate, sampler: Sampler, folder: Path) -> Trial:
    folder.mkdir()
    started_s = SYSTEM_CLOCK.monotonic_s()
    error = _run_program(_options_of(candidate, sampler), folder)
    try:
        running_s, info = _recorded(folder)
    except ProfkitError as unread:
        running_s, info = None, None
        error = error or TrialError(str(unread))
    run = info if isinstance(info, RunInfo) else None
    if error is None and run is not None and run.error is not None:
        error = TrialError(run.error)
    return Trial(
        candidate,
        sampler.version(),
        running_s,
        samples=0 if run is None else run.samples,
        links=0 if run is None else len(run.links),
        inside=() if run is None else _kinds_inside(run.notes),
        kept=run is not None,
        error=error,
        took_s=SYSTEM_CLOCK.monotonic_s() - started_s,
    )


def not_tried(candidate: Candidate, error: TrialError) -> Trial:
    """Return the trial of a candidate that cannot be tried because of an error."""
    return _not_possible(candidate, registry.resolve(candidate.sampler)) or Trial(candidate, error=error)


def _not_possible(candidate: Candidate, sampler: Sampler) -> Trial | None:
    """Return the trial of a sampler that is missing, or cannot read this Python; None for others."""
    try:
        sampler.find()
    except SamplerMissing as missing:
        return Trial(candidate, missing=missing)
    if _FREE_THREADED and sampler.name == _PYSPY:
        return Trial(candidate, unsupported="py-spy does not read free-threaded Python")
    return None


def _kinds_inside(notes: Sequence[Note]) -> tuple[Kind, ...]:
    inside = (note for note in notes if note.code is NoteCode.SAMPLED_INSIDE)
    return tuple(Kind(dict(note.figures)["kind"]) for note in inside)


def _options_of(candidate: Candidate, sampler: Sampler) -> dict[str, object]:
    options: dict[str, object] = {
        "sampler": candidate.sampler,
        "timeout_wait_for_running_sec": _WAIT_S,
        "timeout_wait_for_finished_sec": _WAIT_S,
    }
    if candidate.blocking is not None:
        options["blocking"] = candidate.blocking
    if _supports(sampler, SamplerOptions(sampler=candidate.sampler, rate_hz=_RATE_HZ)):
        options["rate"] = _RATE_HZ
    return options


def _run_program(options: dict[str, object], folder: Path) -> TrialError | None:
    """Run the program to its end; return why it could not be sampled, None if it was."""
    log = folder / "program.log"
    arguments = json.dumps([sys.path, options, str(folder)])
    try:
        ended = run_child((own_python(), "-P", "-c", _START, arguments), log, _TIMEOUT_S)
        described = folder / "error.json"
        if described.exists():
            return _error_in(described)
    except (OSError, ProfkitError) as error:  # TimeoutError is an OSError
        return TrialError(f"the program could not be run: {error}")
    if ended.code:
        text = log.read_text("utf-8", "replace").strip()
        return TrialError(f"the program ended with status {ended.code}: {text[-_TAIL:]}")
    return None


def _error_in(file: Path) -> TrialError:
    fields = json.loads(file.read_text("utf-8"))
    cause = None if fields["cause"] is None else DenialCause(fields["cause"])
    return TrialError(fields["message"], fields["fix"], cause)


def _recorded(folder: Path) -> tuple[float | None, AnyInfo | None]:
    """Return the time to RUNNING and the kept run of the only session in a spool; raises ProfkitError."""
    spool = folder / "spool"
    running_s = None
    for session in session_folders(spool):
        for segment in read_session(session).manifest.segments:
            if segment.running_ns is not None:
                running_s = (segment.running_ns - segment.started_ns) / 1e9
    with open_store(f"sqlite:///{folder / 'runs.db'}") as store:
        report = ingest(spool, store)
        kept = store.runs()
    for damage in report.damaged:
        raise damage
    return running_s, kept[0] if kept else None
