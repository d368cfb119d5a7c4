"""Trials of samplers: each on a program of its own, whose run is then read and kept."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from profkit.clock import SYSTEM_CLOCK, Clock
from profkit.errors import ProfkitError, SamplerMissing, UsageError
from profkit.ingest.keep import ingest
from profkit.model.measurement import AnyInfo
from profkit.model.run import RunInfo
from profkit.model.session import CALLS_ONLY
from profkit.process.child import own_python, run_child
from profkit.samplers import registry
from profkit.samplers.base import Sampler
from profkit.samplers.options import SamplerOptions
from profkit.samplers.ptrace import DenialCause
from profkit.store.runs import open_store
from profkit.store.spool import read_session, session_folders

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
class Way:
    """One way to sample: a sampler, and whether it stops the program."""

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

    way: Way
    version: str | None = None
    running_s: float | None = None
    """Time from the sampler's start until it was RUNNING; None if it never was."""
    samples: int = 0
    links: int = 0
    """Number of pages on which a remote sampler shows its samples."""
    kept: bool = False
    """True if a store kept the run."""
    missing: SamplerMissing | None = None
    error: TrialError | None = None
    took_s: float = 0.0

    @property
    def worked(self) -> bool:
        """Whether samples came, and were kept."""
        return self.error is None and self.kept and self.samples + self.links > 0


def ways() -> tuple[Way, ...]:
    """Return the ways to sample of every registered sampler that takes samples."""
    return tuple(
        way for name in registry.names() if name not in _NOT_TRIED for way in _ways_of(registry.resolve(name))
    )


def _ways_of(sampler: Sampler) -> Iterator[Way]:
    """Yield both ways of a sampler that can stop the program or not, else the only one."""
    choices = [
        blocking
        for blocking in (True, False)
        if _supports(sampler, SamplerOptions(sampler=sampler.name, blocking=blocking))
    ]
    yield from (Way(sampler.name, one) for one in (choices if len(choices) == 2 else (None,)))


def _supports(sampler: Sampler, options: SamplerOptions) -> bool:
    try:
        sampler.check(options)
    except UsageError:
        return False
    return True


def try_way(way: Way, folder: Path, clock: Clock = SYSTEM_CLOCK) -> Trial:
    """Sample a new program in one way, and keep its run in a store of the folder, which must be empty.

    The program is ended in any case.
    """
    sampler = registry.resolve(way.sampler)
    try:
        sampler.find()
    except SamplerMissing as missing:
        return Trial(way, missing=missing)
    started_s = clock.monotonic_s()
    error = _run_program(_options_of(way, sampler), folder)
    try:
        running_s, info = _recorded(folder)
    except ProfkitError as unread:
        running_s, info = None, None
        error = error or TrialError(str(unread))
    run = info if isinstance(info, RunInfo) else None
    if error is None and run is not None and run.error is not None:
        error = TrialError(run.error)
    return Trial(
        way,
        sampler.version(),
        running_s,
        samples=0 if run is None else run.samples,
        links=0 if run is None else len(run.links),
        kept=run is not None,
        error=error,
        took_s=clock.monotonic_s() - started_s,
    )


def _options_of(way: Way, sampler: Sampler) -> dict[str, object]:
    options: dict[str, object] = {
        "sampler": way.sampler,
        "timeout_wait_for_running_sec": _WAIT_S,
        "timeout_wait_for_finished_sec": _WAIT_S,
    }
    if way.blocking is not None:
        options["blocking"] = way.blocking
    if _supports(sampler, SamplerOptions(sampler=way.sampler, rate_hz=_RATE_HZ)):
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
