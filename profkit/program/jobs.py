"""Find the running jobs of this machine, and the processes that are their ranks."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from profkit.errors import UsageError
from profkit.model.session import Member, ProcessInfo
from profkit.process import procfs
from profkit.process.membership import read_member
from profkit.program.environment import program_of
from profkit.program.target import runs_python
from profkit.units import short_repr
from profkit.version import VERSION

_COMMAND = "profkit"
_SAMPLING = ("/profkit/process/watchdog.py", "/profkit/samplers/helper/__main__.py")
"""Ends of the paths of programs that are started for a sampler, also of another installation."""


@dataclass(frozen=True, slots=True)
class JobProcess:
    """A process that is a rank of a job."""

    pid: int
    start_ticks: int
    member: Member


def find_job(name: str | None) -> tuple[JobProcess, ...]:
    """Return the processes of a job on this machine, by rank: of the newest job if it has no name.

    Raises UsageError if there is none, or if the name fits several.
    """
    jobs = _jobs(_ranks())
    if name is None:
        fitting = list(jobs)
    else:
        fitting = [name] if name in jobs else [job for job in jobs if job.startswith(name)]
    if not fitting or (name is not None and len(fitting) > 1):
        running = ", ".join(f"{job} ({len(found)})" for job, found in jobs.items())
        fix = f"name one of these: {running}" if jobs else "give the pids of its processes instead"
        raise UsageError(_problem(name, fitting), fix)
    newest = max(fitting, key=lambda job: max(one.start_ticks for one in jobs[job]))
    return tuple(sorted(jobs[newest], key=_by_rank))


def _problem(name: str | None, fitting: Sequence[str]) -> str:
    if name is None:
        return "no job runs on this machine"
    named = short_repr(name)
    return f"several jobs begin with {named}" if fitting else f"no job {named} runs on this machine"


def find_processes(pids: Iterable[int]) -> tuple[JobProcess, ...]:
    """Return named processes with their ranks, if they have any."""
    return tuple(
        JobProcess(pid, procfs.start_ticks(pid) or 0, read_member(pid)) for pid in dict.fromkeys(pids)
    )


def describe(one: JobProcess) -> ProcessInfo:
    """Return what is known of a process that could not be read."""
    return ProcessInfo(
        one.pid, one.start_ticks, os.uname().nodename, "", (), "", None, VERSION, None, member=one.member
    )


def _ranks() -> dict[int, JobProcess]:
    """Return the processes that run Python with a rank, by pid.

    Others have inherited it: the shell or the `profkit run` that starts a rank, workers, and samplers.
    """
    found: dict[int, JobProcess] = {}
    for pid in filter(str.isdigit, os.listdir(procfs.PROC)):
        member = read_member(int(pid))
        ticks = procfs.start_ticks(int(pid)) if member.job and member.rank is not None else None
        if ticks is not None:
            found[int(pid)] = JobProcess(int(pid), ticks, member)
    pythons = {pid: one for pid, one in found.items() if runs_python(pid) and not _is_own(pid)}
    return {pid: one for pid, one in pythons.items() if not _inherits(one, pythons)}


def _is_own(pid: int) -> bool:
    """Return whether a process is profkit's command, or runs a sampler."""
    script, name = program_of([os.fsdecode(word) for word in procfs.command_line(pid)], "")
    return name == _COMMAND or script.endswith(_SAMPLING)


def _inherits(one: JobProcess, found: Mapping[int, JobProcess]) -> bool:
    """Return whether an ancestor has the same rank of the same job."""
    pid = procfs.parent(one.pid)
    while pid:
        if pid in found and found[pid].member == one.member:
            return True
        pid = procfs.parent(pid)
    return False


def _jobs(ranks: Mapping[int, JobProcess]) -> dict[str, list[JobProcess]]:
    jobs: dict[str, list[JobProcess]] = {}
    for one in ranks.values():
        jobs.setdefault(one.member.job, []).append(one)
    return jobs


def _by_rank(one: JobProcess) -> tuple[int, int]:
    return (-1 if one.member.rank is None else one.member.rank), one.pid
