"""`profkit dump`: show what a process or a job does at this moment; stacks shared between machines."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from profkit.cli.options import profiler_options, rare_option, sampling_options
from profkit.cli.output import say
from profkit.cli.report_output import Showing, showing_options
from profkit.clock import SYSTEM_CLOCK, Clock
from profkit.errors import DamagedFile, ProfkitError, SamplerFailed, UsageError
from profkit.render.options import DEFAULTS
from profkit.render.registry import JOB_STACKS, STACKS

if TYPE_CHECKING:
    from profkit.model.job_stacks import JobStacks, ProcessStacks, Unread
    from profkit.model.run import Run
    from profkit.program.jobs import JobProcess


_DURATIONS_S = (0.2, 1.0, 5.0)
"""Durations of sampling; a longer one follows if there was no stack, as on a busy machine."""
_SAMPLING = ("rate", "sampler", "nonblocking", "native", "gil", "subprocesses", "async_stacks")
"""Options of a sampler, which reads no files."""
_AT_ONCE = 32
"""Most processes that are read at the same time."""


@click.command("dump")
@click.argument("pid", metavar="[PID|FILE]...", nargs=-1)
@click.option(
    "--job", is_flag=False, flag_value="", metavar="[JOB]",
    help="Show all ranks of a running job: of the newest one, or of this.",
)  # fmt: skip
@rare_option(
    "--share", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
    help="With --job: write this machine's stacks to DIR, and show those of all machines that did.",
)  # fmt: skip
@sampling_options(labelled=False)
@showing_options(STACKS.formats)
def dump_command(pid: tuple[str, ...], job: str | None, share: Path | None, **given: object) -> None:
    """Show the stacks of all threads of a running process.

    The process is sampled for a fifth of a second. The newest whole stack of each thread is shown, innermost
    call first, and whether the thread works or waits. Nothing is kept.

    The stacks of several processes, or of all ranks of a job, are read at the same time and shown as one
    tree with sets of ranks.

    FILE is a dump of torch.distributed's flight recorder, JSON or a pickle, whose name ends in the rank. The
    dumps of all ranks show which ranks wait in a collective, and which have not entered it.
    """
    files = [text for text in pid if not text.isdecimal()]
    pids = tuple(map(_pid, pid)) if not files else ()
    _check(pid, job, share)
    showing = Showing.of(given, STACKS.formats)
    if files:
        if unused := [option for option in _SAMPLING if given.get(option)]:
            option = f"--{unused[0].replace('_', '-')}"
            raise UsageError(f"{option} does not go with files", f"leave out {option}")
        _show(_recorded(pid), showing)
        return
    if job is None and len(pids) == 1:
        render = partial(STACKS.renderer, showing.format)
        run = _newest(pids[0], given, render)
        showing.show(render()(run, DEFAULTS, showing.terminal()), "stacks")
        return
    from profkit.program.jobs import find_job, find_processes

    stacks = _stacks(find_processes(pids) if job is None else find_job(job or None), given)
    if share is not None:
        stacks = share_stacks(stacks, share)
    _show(stacks, showing)


def _show(stacks: JobStacks, showing: Showing) -> None:
    showing.show(JOB_STACKS.renderer(showing.format)(stacks, DEFAULTS, showing.terminal()), "stacks")


def _pid(text: str) -> int:
    """Return a process id; raise BadParameter for 0."""
    return click.IntRange(1).convert(int(text), None, None)


def _recorded(files: Sequence[str]) -> JobStacks:
    """Return what dumps of the flight recorder show; raises UsageError and DamagedFile."""
    from profkit.cli.files import read_content
    from profkit.formats.flight_recorder import read_dump, stacks_of
    from profkit.formats.limits import Budget, ImportLimits

    dumps, changed_ns = {}, 0
    for name in files:
        budget = Budget(ImportLimits(), Path(name))
        content = read_content(name, budget)
        dump = read_dump(content.content, Path(name), budget)
        if dump.rank in dumps:
            raise UsageError(f"{name} is a second file of rank {dump.rank}", "name one file for each rank")
        dumps[dump.rank], changed_ns = dump, max(changed_ns, content.changed_ns)
    return stacks_of(tuple(dumps.values()), changed_ns)


def _check(pids: tuple[str, ...], job: str | None, share: Path | None) -> None:
    if job is None and not pids:
        raise UsageError("PID is missing", "give the pid of a process, or --job for the ranks of a job")
    if job is not None and pids:
        raise UsageError("--job finds the processes itself", "leave out the pids, or --job")
    if share is not None and job is None:
        raise UsageError("--share is for the ranks of a job", "add --job")


def _stacks(processes: tuple[JobProcess, ...], given: Mapping[str, object]) -> JobStacks:
    """Read the stacks of processes at the same time; raises the error of the first if none can be read."""
    from concurrent.futures import ThreadPoolExecutor

    from profkit.model.job_stacks import JobStacks, ProcessStacks, Unread

    job = processes[0].member.job if len({one.member.job for one in processes}) == 1 else ""
    with ThreadPoolExecutor(min(len(processes), _AT_ONCE)) as pool:
        found = list(pool.map(partial(_read, given=given), processes))
    read = tuple(one for one in found if isinstance(one, ProcessStacks))
    unread = tuple(one for one in found if isinstance(one, Unread))
    if not read:
        raise UsageError(f"no process could be read: {unread[0].reason}", "see `profkit doctor`")
    return JobStacks(job, read, unread)


def _read(one: JobProcess, given: Mapping[str, object]) -> ProcessStacks | Unread:
    from profkit.model.job_stacks import Unread
    from profkit.program.jobs import describe
    from profkit.render.views.stacks import process_stacks

    try:
        stacks = process_stacks(_newest(one.pid, given, bool))
    except ProfkitError as error:
        return Unread(describe(one), str(error))
    return replace(stacks, process=replace(stacks.process, member=one.member))


def _newest(pid: int, given: Mapping[str, object], prepare: Callable[[], object]) -> Run:
    """Sample a process for a moment; raises UsageError and SamplerError."""
    from profkit.calls.options import settings_over_defaults
    from profkit.live.source import LiveSource
    from profkit.model.run import Run, RunInfo
    from profkit.model.session import SessionState
    from profkit.program.target import find_target, region_of

    options = settings_over_defaults(profiler_options(given)).sampler
    target = find_target(pid)
    for duration_s in _DURATIONS_S:
        with tempfile.TemporaryDirectory(prefix="profkit-") as folder:
            source = LiveSource(
                target, options, Path(folder), lambda text: say("warning", text), meanwhile=prepare
            )
            try:
                source.begin()
                started_ns = SYSTEM_CLOCK.unix_ns()
                SYSTEM_CLOCK.sleep(duration_s)
            finally:
                source.close()
        batches = [batch for batch in source.take() if batch.profile.samples]
        if batches:
            region = region_of(target, options, None)
            info = RunInfo("", "", region, SessionState.SUCCESS, started_ns, target.process, source.plan)
            return Run(info, batches[-1].profile)
    detail = f"it read no stack of process {pid} within {_DURATIONS_S[-1]:g} s"
    raise SamplerFailed(source.plan.sampler, "sampling", detail, "try again")


_SCHEMA = "profkit.shared-stacks/1"
_SUFFIX = ".stacks.json"
_UNSAFE = re.compile(r"[^A-Za-z0-9_.]+")
_LARGEST_BYTES = 64 * 2**20
_OLDEST_S = 600
"""Age from which stacks of another machine are not shown with new ones."""


def share_stacks(stacks: JobStacks, folder: Path, clock: Clock = SYSTEM_CLOCK) -> JobStacks:
    """Write the stacks to a folder; return them with those of the same job that other machines wrote.

    Raises UsageError if the folder cannot be used.
    """
    from profkit.store.files import make_folder
    from profkit.store.records import write_document

    own = _file_name(stacks.job)
    try:
        make_folder(folder)
        write_document(folder / own, _SCHEMA, _without_seals(stacks))
        others = list(_others(folder, own, stacks.job, clock.unix_ns()))
    except OSError as error:
        raise UsageError(f"{folder}: {error.strerror}", "name a folder of your own with --share") from error
    everything = [stacks, *others]
    processes = [one for found in everything for one in found.processes]
    unread = [one for found in everything for one in found.unread]
    return replace(
        stacks,
        processes=tuple(sorted(processes, key=lambda one: (one.process.member.rank or 0, one.process.host))),
        unread=tuple(sorted(unread, key=lambda one: one.process.member.rank or 0)),
    )


def _file_name(job: str) -> str:
    parts = (_UNSAFE.sub("-", text)[:60] for text in (job, os.uname().nodename))
    return f"{'@'.join(parts)}{_SUFFIX}"


def _without_seals(stacks: JobStacks) -> JobStacks:
    """Leave out seals, which belong in this user's own store only."""
    return replace(
        stacks,
        processes=tuple(replace(one, process=replace(one.process, seal="")) for one in stacks.processes),
    )


def _others(folder: Path, own: str, job: str, now_ns: int) -> Iterator[JobStacks]:
    """Yield the new stacks of other machines; say which files are damaged."""
    from profkit.model.job_stacks import JobStacks
    from profkit.store.files import open_spool
    from profkit.store.records import read_document

    with open_spool(folder, os.geteuid()) as opened:
        for name in opened.names():
            if name == own or not name.endswith(_SUFFIX):
                continue
            try:
                found = read_document(opened, name, _SCHEMA, JobStacks, _LARGEST_BYTES)
            except DamagedFile as damage:
                say("warning", str(damage))
                continue
            newest_ns = max((one.at_ns for one in found.processes), default=0)
            if found.job == job and now_ns - newest_ns < _OLDEST_S * 10**9:
                yield found
