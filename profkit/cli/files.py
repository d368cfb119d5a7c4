"""Runs from files: which files are opened, exported runs, other tools' profiles, traces of ranks as a job."""

from __future__ import annotations

import base64
import os
import select
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from io import BytesIO
from itertools import chain, takewhile
from pathlib import Path
from typing import BinaryIO, TypeGuard

from profkit.cli.exports import WHOLE
from profkit.clock import SYSTEM_CLOCK
from profkit.errors import DamagedFile, UsageError
from profkit.formats import pprof
from profkit.formats.json_members import read_json
from profkit.formats.limits import MAGIC, Budget, ImportLimits, enough_memory, unpacked
from profkit.formats.registry import Format, Origin, ReadProfile, format_of, importable, read_any
from profkit.formats.unsupported import recognize
from profkit.model.measurement import AnyRun
from profkit.model.profile import Profile
from profkit.model.region import Region, RegionKey, RegionKind
from profkit.model.run import Imported, Run, RunInfo, derived_id
from profkit.model.session import Member, ProcessInfo, SamplerPlan, SessionState
from profkit.units import Unit

PIPE, STDIN = "-", "stdin"
"""Argument for stdin, and its name in messages."""

_PIECE = 1 << 20
_LONGEST_WAIT_S = 60.0
_GIVEN_PIPES = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")
"""Paths of pipes that a shell opens for a command, as for `<(...)`."""
_KINDS = {
    stat.S_IFDIR: "is a directory",
    stat.S_IFIFO: "is a named pipe, which may block forever",
    stat.S_IFSOCK: "is a socket",
    stat.S_IFCHR: "is a device",
    stat.S_IFBLK: "is a device",
}


@dataclass(frozen=True, slots=True)
class FileContent:
    """A file's content without any gzip around it."""

    name: str
    """Name as given, `STDIN` for a pipe."""
    content: bytes
    changed_ns: int
    """Unix time of its last change."""


def read_content(name: str, budget: Budget) -> FileContent:
    """Return the content of a file, or of stdin for `PIPE`.

    Raises UsageError if it is missing or not a file, DamagedFile for damaged gzip, and LimitExceeded as soon
    as a limit is reached.
    """
    shown = STDIN if name == PIPE else name
    try:
        with enough_memory(Path(shown)):
            if name == PIPE:
                return FileContent(STDIN, _content(sys.stdin.buffer, budget), SYSTEM_CLOCK.unix_ns())
            with _opened(name) as file:
                return FileContent(name, _content(file, budget), os.fstat(file.fileno()).st_mtime_ns)
    except OSError as error:
        raise UsageError(f"{shown} cannot be read: {error.strerror}", "name a readable file") from error
    except ValueError as error:
        raise DamagedFile(Path(shown), str(error)) from error


def _opened(name: str) -> BinaryIO:
    """Open a file, or a pipe that a shell made for this command; raise UsageError for anything else."""
    # Do not even open devices and sockets: that alone may have effects, or wait.
    _check_kind(name, os.stat(name).st_mode)
    descriptor = os.open(name, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    try:
        _check_kind(name, os.fstat(descriptor).st_mode)
        return os.fdopen(descriptor, "rb", buffering=0)
    except BaseException:
        os.close(descriptor)
        raise


def _check_kind(name: str, mode: int) -> None:
    given = stat.S_ISFIFO(mode) and name.startswith(_GIVEN_PIPES)
    if not (stat.S_ISREG(mode) or given or name == os.devnull):
        kind = _KINDS.get(stat.S_IFMT(mode), "is not a file")
        raise UsageError(f"{name} {kind}", f"name a file, or pipe its content to `{PIPE}`")


def _content(file: BinaryIO, budget: Budget) -> bytes:
    pieces = _pieces(file, budget)
    first = next(pieces, b"")
    while 0 < len(first) < len(MAGIC) and (more := next(pieces, b"")):
        first += more
    whole: Iterator[bytes] = chain([first], pieces)
    if first.startswith(MAGIC):
        whole = unpacked(whole, budget)
    content = BytesIO()
    for piece in whole:
        content.write(piece)
        budget.check_bytes(content.tell())
    return content.getvalue()


def _pieces(file: BinaryIO, budget: Budget) -> Iterator[bytes]:
    """Yield the content of a file in pieces; wait for a pipe at most until the deadline."""
    try:
        descriptor = file.fileno()
    except OSError:  # in memory
        yield from iter(lambda: file.read(_PIECE), b"")
        return
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    while True:
        if not poll.poll(1000 * min(_LONGEST_WAIT_S, max(0.0, budget.left_s()))):
            budget.check_time()
            continue
        try:
            piece = os.read(descriptor, _PIECE)
        except BlockingIOError:
            continue
        if not piece:
            return
        yield piece


_END_OF_TIME_NS = 253_402_300_800 * 10**9
"""End of Python's dates: the end of the year 9999."""


def import_formats() -> tuple[str, ...]:
    """Return the names of formats that `runs_of_file` accepts."""
    return (WHOLE, *importable())


def runs_of_file(
    path: str | Path,
    format: str | None = None,
    label: str | None = None,
    limits: ImportLimits | None = None,
    value: str | None = None,
) -> tuple[AnyRun, ...]:
    """Return the runs of a file; a profile of another tool is one run.

    The format is detected from the content if not given. Ids of such profiles come from the content, so that
    a file gives the same run everywhere. Their label is the file's stem unless given. `value` names one of
    several values of the file. `-` is stdin. Raises UsageError for a file that is missing or has no known
    format, and for an unknown value, LimitExceeded, and DamagedFile.
    """
    budget = Budget(limits or ImportLimits(), Path(STDIN if str(path) == PIPE else path))
    try:
        return _runs(read_content(str(path), budget), format, label, value, budget)
    except DamagedFile as error:
        fix = "leave out --format, or export it again" if format else "export it again, or in another format"
        raise DamagedFile(error.path, error.detail, fix=fix) from error


def join_ranks(runs: Sequence[AnyRun], label: str | None = None, job: str = "") -> tuple[AnyRun, ...]:
    """Return the runs of files; traces of ranks become a job, whose runs have one label.

    A trace has its rank and their number, but nothing that only the traces of one job have in common. So the
    job is `job`, else the traces of different ranks that are given together; its name is made from their ids.
    """
    traces = [run for run in runs if _is_of_rank(run)]
    if not job and not _are_of_one_job([run.info.process.member for run in traces]):
        return tuple(runs)
    common = _common_beginning([run.info.label for run in traces]).rstrip("0123456789-_. ")
    region = _region(label or job or common or "traces")
    name = job or f"traces-{derived_id(' '.join(sorted(run.info.id for run in traces)).encode())}"
    return tuple(_joined(run, name, region) if _is_of_rank(run) else run for run in runs)


def _are_of_one_job(members: Sequence[Member]) -> bool:
    ranks, sizes = ({one.rank for one in members}, {one.world_size for one in members})
    return len(members) == len(ranks) > 1 and len(sizes) == 1


def _common_beginning(names: Sequence[str]) -> str:
    same = takewhile(lambda letters: len(set(letters)) == 1, zip(*names, strict=False))
    return "".join(letters[0] for letters in same)


def _joined(run: Run, job: str, region: Region) -> Run:
    process = run.info.process
    process = replace(process, member=replace(process.member, job=job))
    return replace(run, info=replace(run.info, region=region, process=process))


def _is_of_rank(run: AnyRun) -> TypeGuard[Run]:
    """Return whether a run is a trace of a rank; one that was exported may have its job already."""
    is_foreign = isinstance(run, Run) and run.info.imported is not None
    return is_foreign and run.info.process.member.rank is not None and not run.info.process.member.job


def _runs(
    file: FileContent, format: str | None, label: str | None, value: str | None, budget: Budget
) -> tuple[AnyRun, ...]:
    if not file.content:
        raise UsageError(f"{file.name} is empty", "name a file that contains a profile")
    name = format or _sniffed(file)
    if name == WHOLE:
        if label is not None:
            raise UsageError(f"the runs in {file.name} have their own labels", "leave out --label")
        if value is not None:
            raise UsageError(f"the runs in {file.name} have one value each", "leave out --value")
        return _whole_runs(file, budget)
    if name not in import_formats():
        raise UsageError(f"{name!r} cannot be imported", f"supported formats: {', '.join(import_formats())}")
    read = read_any(file.content, name, source=Path(file.name), budget=budget, value=value)
    return (_foreign(file, read, label),)


def _sniffed(file: FileContent) -> str:
    from profkit.store.run_files import is_runs_file

    if is_runs_file(file.content):
        return WHOLE
    if known := format_of(file.content):
        return known.name
    if unsupported := recognize(file.content):
        raise UsageError(f"{file.name} {unsupported.what}", unsupported.fix.replace("FILE", file.name))
    formats = ", ".join(import_formats())
    raise UsageError(f"the format of {file.name} is not known", f"give one with --format: {formats}")


def _whole_runs(file: FileContent, budget: Budget) -> tuple[AnyRun, ...]:
    from profkit.store.run_files import decode_runs

    with enough_memory(budget.source):
        # The document's own reader reports its errors; this only checks its profiles against the limits.
        with suppress(ValueError):
            for packed in _packed_profiles(read_json(file.content, budget)):
                pprof.decode(packed, budget.source, budget)
        return decode_runs(file.content, budget.source)


def _packed_profiles(document: object) -> Iterator[bytes]:
    """Yield the packed profiles in a document of whole runs."""
    runs = document.get("runs") if isinstance(document, dict) else None
    for run in runs if isinstance(runs, list) else ():
        text = run.get("profile") if isinstance(run, dict) else None
        if isinstance(text, str):
            yield base64.b64decode(text, validate=True)


def _foreign(file: FileContent, read: ReadProfile, label: str | None) -> Run:
    known, profile, origin, value = read
    run_id = _id(known.name, file.content, value)
    started_ns = origin.started_ns or 0
    pids = {thread.pid for thread in profile.threads}
    info = RunInfo(
        id=run_id,
        session=f"import-{run_id}",
        region=_region(label or _stem(file.name, known)),
        state=SessionState.SUCCESS,
        started_ns=started_ns if 0 < started_ns < _END_OF_TIME_NS else file.changed_ns,
        process=_process(origin, pids.pop() if len(pids) == 1 else 0),
        plan=_plan(origin.tool or known.name, profile),
        samples=profile.total_weight if profile.unit is Unit.SAMPLES else 0,
        notes=origin.notes,
        imported=_imported(file, read),
    )
    return Run(info, profile)


def _imported(file: FileContent, read: ReadProfile) -> Imported:
    name = "" if file.name == STDIN else file.name
    profile = read.profile
    return Imported(read.format.name, read.origin.tool, name, profile.unit, profile.total_weight)


def _id(name: str, content: bytes, value: str) -> str:
    """Return the id of a file's run; `value` is empty for a file's default."""
    # A format's name has no line feed.
    named = f"{name}\n{value}" if value else name
    return derived_id(named.encode("utf-8", "surrogateescape") + b"\0" + content)


def _stem(name: str, known: Format) -> str:
    stem = Path(name).name.removesuffix(".gz")
    for ending in sorted((ending.removesuffix(".gz") for ending in known.endings), key=len, reverse=True):
        if stem.endswith(ending) and stem != ending:
            return stem.removesuffix(ending)
    return Path(stem).stem


def _region(label: str) -> Region:
    return Region(RegionKey("", "", 0, label), RegionKind.BLOCK, "", all_threads=True)


def _process(origin: Origin, pid: int) -> ProcessInfo:
    return ProcessInfo(origin.pid or pid, 0, origin.host, "", (), "", None, "", None, member=origin.member)


def _plan(sampler: str, profile: Profile) -> SamplerPlan:
    """Return the known part of how samples were taken: at most the rate."""
    rate_hz = 1e9 / profile.period_ns if profile.period_ns > 0 else 0.0
    return SamplerPlan.unknown(sampler, scope="process", rate_hz=rate_hz)
