"""Runs from files: those that profkit exported whole, and profiles that other tools took."""

from __future__ import annotations

import hashlib
from itertools import chain
from pathlib import Path

from profkit.cli.file_content import STDIN, FileContent, read_content
from profkit.errors import DamagedFile, UsageError
from profkit.formats.registry import FORMATS, Decode, Format, Origin
from profkit.model.kept import AnyRun
from profkit.model.profile import Profile
from profkit.model.region import Region, RegionKey, RegionKind
from profkit.model.run import Imported, Run, RunInfo
from profkit.model.session import ProcessInfo, SamplerPlan, SessionState
from profkit.units import Unit

WHOLE = "profkit"
"""The format that whole runs are exported in."""

_INT64_MAX = 2**63 - 1
_END_OF_TIME_NS = 253_402_300_800 * 10**9
"""Of Python's dates: the end of the year 9999."""


def import_formats() -> tuple[str, ...]:
    """The names that `runs_of_file` takes for a format."""
    return (WHOLE, *(known.name for known in FORMATS.values() if known.decode is not None))


def runs_of_file(path: str | Path, format: str | None = None, label: str | None = None) -> tuple[AnyRun, ...]:
    """The runs that a file holds, one for a foreign profile.

    The format is told from the content if not given. Ids of foreign profiles come from the content, so
    that a file gives the same run wherever it lies; their label is the file's stem unless given. `-` is
    stdin. Raises UsageError for a file that is not there or looks like no known format, and DamagedFile.
    """
    try:
        return _runs(read_content(str(path)), format, label)
    except DamagedFile as error:
        remedy = "leave out --format, or write it again" if format else "write it again, or in another format"
        raise DamagedFile(error.path, error.detail, remedy=remedy) from error


def _runs(file: FileContent, format: str | None, label: str | None) -> tuple[AnyRun, ...]:
    name = format or _sniffed(file)
    if name == WHOLE:
        if label is not None:
            raise UsageError(f"the runs in {file.name} have their labels", "leave out --label")
        from profkit.store.run_files import decode_runs

        return decode_runs(file.content, Path(file.name))
    known = FORMATS.get(name)
    if known is None or known.decode is None:
        raise UsageError(f"{name!r} is not imported", f"known are {', '.join(import_formats())}")
    return (_foreign(file, known, known.decode, label),)


def _sniffed(file: FileContent) -> str:
    from profkit.store.run_files import is_runs_file

    if not file.content:
        raise UsageError(f"{file.name} is empty", "name a file with a profile in it")
    if is_runs_file(file.content):
        return WHOLE
    for known in FORMATS.values():
        if known.decode is not None and known.sniff(file.content):
            return known.name
    raise UsageError(
        f"{file.name} looks like none of {', '.join(import_formats())}", "say which it is with --format"
    )


def _foreign(file: FileContent, known: Format, decode: Decode, label: str | None) -> Run:
    profile = _checked(decode(file.content, Path(file.name)), file)
    origin = known.origin(file.content) if known.origin is not None else Origin()
    started_ns = origin.started_ns or 0
    pids = {thread.pid for thread in profile.threads}
    info = RunInfo(
        id=_id(known.name, file.content),
        session=f"import-{_id(known.name, file.content)}",
        region=_region(label or _stem(file.name, known)),
        state=SessionState.SUCCESS,
        started_ns=started_ns if 0 < started_ns < _END_OF_TIME_NS else file.changed_ns,
        process=_process(pids.pop() if len(pids) == 1 else 0),
        plan=_plan(origin.tool or known.name, profile),
        samples=profile.total_weight if profile.unit is Unit.SAMPLES else 0,
        notes=origin.notes,
        imported=_imported(file, known, origin, profile),
    )
    return Run(info, profile)


def _checked(profile: Profile, file: FileContent) -> Profile:
    """The profile, if what is kept of it has room for its numbers and its time; raises DamagedFile."""
    numbers = (
        (sample.weight for sample in profile.samples),
        (frame.line for frame in profile.frames),
        (number for thread in profile.threads for number in (thread.pid, thread.tid)),
    )
    most = max(map(abs, chain.from_iterable(numbers)), default=0)
    if most > _INT64_MAX or not 0 <= profile.period_ns * profile.total_weight <= _INT64_MAX:
        raise DamagedFile(Path(file.name), "it has numbers of more than 64 bits")
    return profile


def _imported(file: FileContent, known: Format, origin: Origin, profile: Profile) -> Imported:
    name = "" if file.name == STDIN else file.name
    return Imported(known.name, origin.tool, name, profile.unit, profile.total_weight)


def _id(name: str, content: bytes) -> str:
    """Ten hexadecimal digits, as all ids of runs have."""
    return hashlib.blake2b(name.encode() + b"\0" + content, digest_size=5).hexdigest()


def _stem(name: str, known: Format) -> str:
    stem = Path(name).name.removesuffix(".gz")
    for ending in sorted((ending.removesuffix(".gz") for ending in known.endings), key=len, reverse=True):
        if stem.endswith(ending) and stem != ending:
            return stem.removesuffix(ending)
    return Path(stem).stem


def _region(label: str) -> Region:
    return Region(RegionKey("", "", 0, label), RegionKind.BLOCK, "", all_threads=True)


def _process(pid: int) -> ProcessInfo:
    return ProcessInfo(pid, 0, "", "", (), "", None, "", None)


def _plan(sampler: str, profile: Profile) -> SamplerPlan:
    """What is known of how samples were taken: the rate at most."""
    return SamplerPlan(
        sampler=sampler,
        rate_hz=1e9 / profile.period_ns if profile.period_ns > 0 else 0.0,
        blocking=False,
        idle=True,
        native=False,
        subprocesses=False,
        scope="process",
        max_duration_s=0.0,
    )
